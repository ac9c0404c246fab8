//! Linking: the engine's tables are full of pointers, and each costs 24 bytes of relocation in the usual form, read at every
//! start. Packed, they cost next to nothing. Linkers that do not know the option ignore it.
fn main() {
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
