//! Compiles what the binding of libtorch lacks, with the headers that lie beside the library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for file in ["shim.h", "shim.cpp", "norm_relu.cpp"] {
        println!("cargo:rerun-if-changed=src/{file}");
    }
    // Where the code is only type-checked there is no library, and nothing is linked.
    #[cfg(all(feature = "libtorch", not(feature = "check-only")))]
    shim::compile();
}

#[cfg(all(feature = "libtorch", not(feature = "check-only")))]
mod shim {
    use std::env::{var, var_os};
    use std::path::{Path, PathBuf};

    pub fn compile() {
        println!("cargo:rerun-if-env-changed=TORCH_LIB_DIR");
        println!("cargo:rerun-if-env-changed=CUDA_HOME");
        let Ok(libraries) = var("DEP_TCH_LIBTORCH_LIB").or_else(|_| var("TORCH_LIB_DIR")) else {
            panic!("set TORCH_LIB_DIR to libtorch's folder of libraries");
        };
        let libraries = Path::new(&libraries);
        let torch = libraries.parent().unwrap_or(libraries);
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").pic(true).warnings(false);
        build.include(torch.join("include"));
        let cuda = headers(torch);
        let found = |name: &str| cuda.iter().any(|folder| folder.join(name).is_file());
        // Without them the program works, a little slower.
        if libraries.join("libtorch_cuda.so").is_file()
            && found("cuda_runtime.h")
            && found("crt/host_config.h")
            && found("nvrtc.h")
        {
            build.includes(cuda).define("WITH_CUDA", None);
            println!("cargo:rustc-link-search=native={}", libraries.display());
            println!("cargo:rustc-link-lib=torch_cuda");
            println!("cargo:rustc-link-lib=c10_cuda");
            // A test that calls nothing of it by name needs the device all the same.
            for argument in ["-Wl,--no-as-needed", "-ltorch_cuda", "-Wl,--as-needed"] {
                println!("cargo:rustc-link-arg={argument}");
            }
        }
        build.files(["src/shim.cpp", "src/norm_relu.cpp"]).compile("outflank_shim");
        // The tests of this crate; the program's own script says the same for the program.
        println!("cargo:rustc-link-arg=-Wl,--allow-shlib-undefined");
    }

    /// Where CUDA's headers may be: beside the Python package, whose own are not complete but for those
    /// of its compiler, or where CUDA is installed.
    fn headers(torch: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if let Some(packages) = torch.parent() {
            let nvidia = std::fs::read_dir(packages.join("nvidia"));
            let parts = nvidia.into_iter().flatten().flatten();
            let mut parts: Vec<_> = parts.map(|part| part.path().join("include")).collect();
            parts.sort();
            folders.extend(parts);
            folders.push(packages.join("triton/backends/nvidia/include"));
        }
        folders.extend(var_os("CUDA_HOME").map(|home| Path::new(&home).join("include")));
        folders.push(PathBuf::from("/usr/local/cuda/include"));
        folders.retain(|folder| folder.is_dir());
        folders
    }
}
