//! Links libtorch's CUDA library from the folder TORCH_LIB_DIR. It registers itself when loaded and
//! no symbol refers to it, so the linker would drop it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TORCH_LIB_DIR");
    let (Some(_), Ok(folder)) =
        (std::env::var_os("CARGO_FEATURE_CUDA"), std::env::var("TORCH_LIB_DIR"))
    else {
        return;
    };
    println!("cargo:rustc-link-search=native={folder}");
    for argument in
        ["-Wl,--no-as-needed", "-ltorch_cuda", "-Wl,--as-needed", "-Wl,--allow-shlib-undefined"]
    {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
