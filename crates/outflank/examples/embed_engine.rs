//! Embed an engine: a program that asks a player for moves and values, and one that answers GTP.
//!
//! Run it with `cargo run --release -p outflank --example embed_engine`.

use outflank::players::SearchScore;
use outflank::prelude::*;
use outflank::protocols::{AnalysisEngine, Gtp, serve};
use std::error::Error;

/// Evaluates the moves of a position by search, best first.
fn evaluate(position: &Othello) -> Result<Vec<(Square, f32)>, Box<dyn Error>> {
    let mut engine = AnalysisEngine::new("ipref@4", 1, 1)?;
    let limits = outflank::analysis::SearchLimits { depth: Some(4), time: None };
    let found = engine.evaluate(position, true, limits, |_| {}).ok_or("there is no evaluation")?;
    let value = |score| match score {
        SearchScore::Proven(result) => result as f32,
        SearchScore::Estimate(value) => value,
    };
    Ok(found.moves.iter().map(|scored| (scored.mv, value(scored.score))).collect())
}

/// Plays a game of a player against itself and returns it.
fn play_against_itself() -> Result<Line<Othello>, Box<dyn Error>> {
    let mut player = factory::<Othello>("ipref@2")?.make()?;
    let mut game = Line::<Othello>::default();
    let mut rng = stream(1, &["example"]);
    while !game.position().is_over() {
        let mv = player.choose(&game, &mut rng)?;
        game.push(mv)?;
    }
    Ok(game)
}

/// Evaluates a position, plays a game and answers GTP commands.
pub fn main() -> Result<(), Box<dyn Error>> {
    let position = Othello::start().play("f5".parse()?);
    let evaluated = evaluate(&position)?;
    for (mv, value) in &evaluated {
        println!("{mv} {value:+.2}");
    }
    assert_eq!(evaluated.len(), 3);

    let game = play_against_itself()?;
    println!("{}result {:?}", game.position().diagram(), game.position().result());
    assert!(game.moves().len() > 40);

    let engine = AnalysisEngine::new("heuristic@2", 1, 1)?;
    let mut answers = Vec::new();
    let commands = "protocol_version\ngenmove b\nquit\n";
    serve(&mut Gtp::new(engine, outflank::VERSION), commands.as_bytes(), &mut answers)?;
    let answers = String::from_utf8(answers)?;
    print!("{answers}");
    assert!(answers.starts_with("= 2"));
    Ok(())
}
