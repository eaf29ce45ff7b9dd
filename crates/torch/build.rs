//! Compiles the C++ shim against the headers next to libtorch.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for file in ["shim.h", "shim.cpp", "norm_relu.cpp"] {
        println!("cargo:rerun-if-changed=src/{file}");
    }
    // With `check-only` there is no library to link.
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
            panic!("libtorch was not found. Set TORCH_LIB_DIR to its lib folder.");
        };
        let libraries = Path::new(&libraries);
        let torch = libraries.parent().unwrap_or(libraries);
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").pic(true).warnings(false);
        build.include(torch.join("include"));
        let cuda = cuda_header_folders(torch);
        let found = |name: &str| cuda.iter().any(|folder| folder.join(name).is_file());
        // Without the CUDA headers the program is built without CUDA graphs and fused kernels.
        if libraries.join("libtorch_cuda.so").is_file()
            && found("cuda_runtime.h")
            && found("crt/host_config.h")
            && found("nvrtc.h")
        {
            build.includes(cuda).define("WITH_CUDA", None);
            println!("cargo:rustc-link-search=native={}", libraries.display());
            println!("cargo:rustc-link-lib=torch_cuda");
            println!("cargo:rustc-link-lib=c10_cuda");
            // Keep libtorch_cuda even in binaries that do not reference it by symbol.
            for argument in ["-Wl,--no-as-needed", "-ltorch_cuda", "-Wl,--as-needed"] {
                println!("cargo:rustc-link-arg={argument}");
            }
        }
        build.files(["src/shim.cpp", "src/norm_relu.cpp"]).compile("outflank_shim");
        // For the tests of this crate. The build script of the program adds the same argument.
        println!("cargo:rustc-link-arg=-Wl,--allow-shlib-undefined");
    }

    /// Returns the existing folders that may contain CUDA headers: the `nvidia` packages next to
    /// the Python package `torch`, with the headers of Triton that they lack, or a CUDA
    /// installation.
    fn cuda_header_folders(torch: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if let Some(packages) = torch.parent() {
            let nvidia = std::fs::read_dir(packages.join("nvidia"));
            let nvidia = nvidia.into_iter().flatten().flatten();
            let mut includes: Vec<_> =
                nvidia.map(|package| package.path().join("include")).collect();
            includes.sort();
            folders.extend(includes);
            folders.push(packages.join("triton/backends/nvidia/include"));
        }
        folders.extend(var_os("CUDA_HOME").map(|home| Path::new(&home).join("include")));
        folders.push(PathBuf::from("/usr/local/cuda/include"));
        folders.retain(|folder| folder.is_dir());
        folders
    }
}
