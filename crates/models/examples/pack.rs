//! Packs a model file for embedding.
//!
//! ```console
//! cargo run --release -p outflank-models --example pack -- runs/train-001/model.safetensors \
//!     crates/models/data/ipref.pack "description of the training data"
//! ```

use outflank_models::files::{Origin, load, pack, unpack};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, note] = args.as_slice() else {
        eprintln!("usage: pack MODEL OUTPUT NOTE");
        return ExitCode::FAILURE;
    };
    let (from, to) = (Path::new(from), Path::new(to));
    let packed = load(from).map_err(|e| e.to_string()).and_then(|(model, origin)| {
        // Replace the note of the run, which may contain local paths.
        let origin = Origin { note: note.clone(), ..origin };
        let packed = pack(&model, &origin)?;
        let (read, same) = unpack(&packed)?;
        if same != origin || read.weight_count() != model.weight_count() {
            return Err("the packed model differs from the original".to_owned());
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
