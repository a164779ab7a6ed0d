//! Compiles the preload library and leaves it for `include_bytes!`.
//!
//! The library is `no_std` and must abort instead of unwinding, and Cargo sets `panic` for a whole profile only. It has no
//! dependencies, so one call of rustc builds it: no second workspace, no second lock file, nothing to download, and it
//! works in `cargo build`, `cargo install` and maturin alike.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=preload");
    println!("cargo:rustc-check-cfg=cfg(has_preload_library)");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let library = Path::new(&variable("OUT_DIR")).join("libleveloff_blame.so");
    let is_supported = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && ["x86_64", "aarch64"].contains(&variable("CARGO_CFG_TARGET_ARCH").as_str());
    if !is_supported {
        println!(
            "cargo:warning=no preload library for this target: `leveloff run --blame` will say so"
        );
        return;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args([
            "--edition",
            "2024",
            "--crate-name",
            "leveloff_blame_preload",
        ])
        .args(["--crate-type", "cdylib", "--target", &variable("TARGET")])
        .args(["-C", "panic=abort", "-C", "opt-level=3", "-C", "lto=fat"])
        .args(["-C", "codegen-units=1", "-C", "strip=symbols"])
        .args(["-C", "overflow-checks=off", "-C", "relocation-model=pic"])
        // In a program that runs already, the library's own names must mean its own functions.
        .args(["-C", "link-arg=-Wl,-Bsymbolic-functions"])
        .arg("-o")
        .arg(&library)
        .arg("preload/lib.rs");
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    match rustc.status() {
        Ok(status) if status.success() => println!("cargo:rustc-cfg=has_preload_library"),
        failed => panic!("cannot build the preload library: {failed:?}"),
    }
}
