//! Linking. The engine's tables are full of pointers, and each costs 24 bytes of relocation in the usual form, read at every
//! start. Packed, they cost next to nothing. Linkers that do not know the option ignore it.
//!
//! In optimised builds, the functions that programs run stand together in the file, by the list in `start.ld`: the kernel maps
//! code in parts of 64 KiB around each page that is touched. `cargo xtask start-order cynic` renews the list; what it names and
//! is no more does no harm.
fn main() {
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
            let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
            println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/start.ld");
        }
    }
    // By its whole path: build output that outlives a clone names the list where that clone was.
    println!("cargo::rerun-if-changed={}/start.ld", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
