//! Fits the constant that turns the champion's log odds into discs: the slope, through the origin,
//! of the final margins of the embedded games over what a short search said on the way.
//!
//! cargo run --release -p outflank-web --example calibrate

use outflank_games::Position;
use outflank_web::{DISCS_PER_LOG_ODDS, Stop, Worth, judge_at};

/// How far the search looks, and which games it looks at.
const DEPTH: u32 = 4;
const EVERY: usize = 10;

fn main() {
    let games = outflank_records::embedded::games();
    let mut stages = [(0.0f64, 0.0f64, 0u64); 5];
    for game in games.iter().step_by(EVERY) {
        let Some(score) = game.end().score() else { continue };
        for (position, ply) in game.steps() {
            // What is solved needs no constant, and random moves say nothing about the end.
            if ply.random || position.empties() <= outflank_web::EXACT_FROM {
                continue;
            }
            let Some(thought) = judge_at(&position, DEPTH, &Stop::default(), None) else {
                continue;
            };
            let Some(Worth::Estimated(points)) = thought.moves.first().map(|best| best.worth)
            else {
                continue;
            };
            let said = points / DISCS_PER_LOG_ODDS;
            let margin = f64::from(position.to_move().sign() * score);
            // Beyond this the game is decided and the margin cannot grow with the odds.
            if said.abs() < 6.0 {
                let stage = &mut stages[(64 - position.empties() as usize) / 10];
                *stage = (stage.0 + said * margin, stage.1 + said * said, stage.2 + 1);
            }
        }
    }
    println!("discs  positions  discs per log odds");
    for (stage, (product, square, count)) in stages.iter().enumerate().skip(1) {
        println!("{:>2}-{:<2} {count:>11} {:>19.2}", 10 * stage, 10 * stage + 9, product / square);
    }
    let (product, square) =
        stages.iter().fold((0.0, 0.0), |sum, stage| (sum.0 + stage.0, sum.1 + stage.1));
    println!("all {:>31.2}", product / square);
}
