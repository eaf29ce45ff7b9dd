//! Fits the parameters of the selective search of the embedded model `champion`:
//!
//! ```console
//! cargo run --release -p outflank-players --example fit_probcut > crates/players/data/probcut-champion.toml
//! ```

use outflank_players::selective::{FitSize, SelectiveModel};

fn main() {
    let model = outflank_models::embedded::champion();
    let size = match std::env::args().nth(1).as_deref() {
        Some("quick") => FitSize::QUICK,
        _ => FitSize::FULL,
    };
    match model.and_then(|model| SelectiveModel::fit(&model, size)) {
        Some(fitted) => {
            println!("# Fitted by examples/fit_probcut.rs; units are discs.");
            print!("{}", fitted.to_toml());
        }
        None => {
            eprintln!("the embedded model champion cannot be quantized");
            std::process::exit(1);
        }
    }
}
