//! Packs a model file for embedding: `cargo run --release -p outflank-models --example pack -- \
//! runs/learn-001/model.safetensors crates/models/data/ipref.pack`.

use outflank_models::files::{load, pack, unpack};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [from, to] = paths.as_slice() else {
        eprintln!("give the model file and the file to write");
        return ExitCode::FAILURE;
    };
    let packed = load(from).map_err(|e| e.to_string()).and_then(|(model, origin)| {
        let packed = pack(&model, &origin)?;
        let (read, same) = unpack(&packed)?;
        if same != origin || read.weights() != model.weights() {
            return Err("the packed model is another one".to_owned());
        }
        Ok(packed)
    });
    let written = packed.and_then(|packed| {
        outflank_runs::files::write(to, &packed).map_err(|e| e.to_string())?;
        Ok(packed.len())
    });
    match written {
        Ok(bytes) => {
            println!("{}: {bytes} bytes", to.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
