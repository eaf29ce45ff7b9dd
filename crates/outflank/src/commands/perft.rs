//! `outflank perft`: counts the leaves of the game tree.

use crate::Outcome;
use crate::cli::PerftArgs;
use crate::errors::UsageError;
use crate::output::{print, print_json};
use anyhow::{Error, Result};
use outflank_games::{Game, Position, with_game};
use serde_json::json;

/// Prints the number of leaves, alone or as a JSON document.
pub fn run(args: &PerftArgs) -> Result<Outcome> {
    let game = Game::from(args.game);
    let leaves = with_game!(game, P => count::<P>(args)?);
    if args.json {
        print_json(&json!({ "game": game.name(), "depth": args.depth, "leaves": leaves }))?;
    } else {
        print(&format!("{leaves}\n"))?;
    }
    Ok(Outcome::Done)
}

fn count<P: Position>(args: &PerftArgs) -> Result<u64> {
    let position = match &args.board {
        Some(text) => text
            .parse::<P>()
            .map_err(|error| -> Error { UsageError(format!("--board: {error}")).into() })?,
        None => P::start(),
    };
    Ok(position.perft(args.depth))
}
