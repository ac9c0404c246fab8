//! Linking the static build: the functions that every start runs stand together in the file, by the list in `start.ld`.
//! Otherwise each lies in a part of the file of its own, and what a start costs is mostly the mapping of those parts.
//! `cargo xtask start-order` renews the list; what it names and is no more does no harm.
fn main() {
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|environment| environment == "musl") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bin=rush=-Wl,-T,{folder}/start.ld");
    }
    // By its whole path: build output that outlives a clone names the list where that clone was.
    println!("cargo::rerun-if-changed={}/start.ld", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
