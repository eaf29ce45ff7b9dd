//! Fits the constant that turns the champion's log odds into discs: the slope, through the origin,
//! of the final margins of the embedded games over what the champion said on the way.
//!
//! cargo run --release -p outflank-web --example calibrate

use outflank_games::Position;
use outflank_models::{Evaluate, embedded};

fn main() {
    let Some(champion) = embedded::champion() else { return eprintln!("there is no champion") };
    let games = outflank_records::embedded::games();
    let mut stages = [(0.0f64, 0.0f64, 0u64); 7];
    for game in &games {
        let Some(score) = game.end().score() else { continue };
        for (position, ply) in game.steps().filter(|(_, ply)| !ply.random) {
            let side = position.to_move();
            let after = position.play(ply.mv);
            let said = f64::from(champion.value(&after, side));
            let margin = f64::from(side.sign() * score);
            // Beyond this the game is decided and the margin cannot grow with the odds.
            if said.abs() < 6.0 {
                let stage = &mut stages[(64 - after.empties() as usize) / 10];
                *stage = (stage.0 + said * margin, stage.1 + said * said, stage.2 + 1);
            }
        }
    }
    println!("discs  positions  discs per log odds");
    for (stage, (product, square, count)) in stages.iter().enumerate() {
        println!("{:>2}-{:<2} {count:>11} {:>19.2}", 10 * stage, 10 * stage + 9, product / square);
    }
    let (product, square) =
        stages.iter().fold((0.0, 0.0), |sum, stage| (sum.0 + stage.0, sum.1 + stage.1));
    println!("all {:>31.2}", product / square);
}
