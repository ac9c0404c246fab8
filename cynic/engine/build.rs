//! Says where there is a code generator (`cynic_jit`), and chooses the dispatcher: tail-called handlers where the compiler turns sibling calls into jumps, a match elsewhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let is_miri = std::env::var_os("CARGO_CFG_MIRI").is_some();
    if arch == "x86_64" && os == "linux" && !is_miri {
        println!("cargo::rustc-cfg=cynic_jit");
    }
    let jumps = matches!(level.as_str(), "2" | "3") && matches!(arch.as_str(), "x86_64" | "aarch64");
    if jumps && std::env::var_os("CARGO_CFG_MIRI").is_none() {
        println!("cargo::rustc-cfg=cynic_tail_calls");
    }
}
