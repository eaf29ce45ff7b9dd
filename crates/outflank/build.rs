//! Linking with libtorch. The linker drops libraries that nothing calls by name, and libtorch's part
//! for graphics processors is found only by being there, so it is kept by force where the variable
//! TORCH_LIB_DIR says which folder has it.

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
