//! Compiles the library that is loaded into the programs that are explored; it becomes part of the binary.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=preload");
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    let library = Path::new(&out).join("preload.so");
    let is_supported = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if !is_supported {
        std::fs::write(library, []).expect("the build's own directory");
        return;
    }
    let mut command = cc::Build::new().opt_level(2).pic(true).get_compiler().to_command();
    command.args(["-shared", "-std=gnu11", "-Wall", "-Wextra", "-o"]).arg(&library);
    command.args(["preload/preload.c", "-ldl", "-lpthread"]);
    let status = command.status().expect("a C compiler, which linking needs, too");
    assert!(status.success(), "the preload library does not compile");
}
