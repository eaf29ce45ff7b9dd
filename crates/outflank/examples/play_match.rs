//! Play a match: two players, given as on the command line, from random openings.
//!
//! Run it with `cargo run --release -p outflank --example play_match -- heuristic@2 random@mcts100`.

use outflank::prelude::*;
use std::error::Error;

/// Returns openings of four random plies.
fn random_openings(count: usize, seed: u64) -> Vec<Line<Othello>> {
    let mut rng = stream(seed, &["openings"]);
    let mut openings = Vec::with_capacity(count);
    for _ in 0..count {
        let mut line = Line::<Othello>::default();
        for _ in 0..4 {
            let moves: Vec<Square> = line.position().moves().collect();
            if let Some(&mv) = rng.pick(&moves) {
                let pushed = line.push(mv);
                debug_assert!(pushed.is_ok(), "the move is legal");
            }
        }
        openings.push(line);
    }
    openings
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&std::env::args().skip(1).collect::<Vec<_>>())
}

/// Plays the match of the arguments, by default of two quick players.
pub fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (first, second) = match arguments {
        [first, second] => (first.as_str(), second.as_str()),
        _ => ("heuristic@2", "random"),
    };
    let players = [factory::<Othello>(first)?, factory(second)?];
    let config =
        ContestConfig { openings: random_openings(20, 1), rounds: 20, ..ContestConfig::default() };
    let (report, games) = play_match(&players, &config, None, None, |_, _| true)?;
    println!(
        "{} - {}: {} wins, {} draws, {} losses; score {:.3} ± {:.3}",
        report.a,
        report.b,
        report.wins,
        report.draws,
        report.losses,
        report.score,
        report.half_width
    );
    let last = games.last().ok_or("no game was played")?;
    println!("last game: {} moves, result {}", last.played.line.moves().len(), last.played.result);
    assert_eq!(report.games, 40);
    Ok(())
}
