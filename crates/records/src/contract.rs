//! Test helpers that check a reader and a writer of a game format.
//!
//! ```
//! use outflank_records::{contract::check_format, ggf};
//!
//! check_format(
//!     |games| games.iter().map(|game| ggf::write(game) + "\n").collect::<String>().into_bytes(),
//!     |bytes| ggf::games(bytes).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string()),
//! );
//! ```

use crate::{GameInfo, Ply, Record};
use outflank_games::Position;
use outflank_runs::RngExt;
use outflank_runs::rng::stream;

/// Number of games that are written and read.
const GAMES: usize = 20;

/// Number of damaged files that are read.
const DAMAGED: usize = 300;

/// Returns random finished games from the start.
fn random_games<P: Position>() -> Vec<Record<P>> {
    let mut rng = stream(1, &["contract", "games"]);
    let game = |_| {
        let info = GameInfo { black: "Ada".into(), white: "Ben".into(), ..GameInfo::default() };
        let mut record = Record::new(P::start(), info);
        loop {
            let moves: Vec<P::Move> = record.end().moves().collect();
            let Some(&mv) = rng.pick(&moves) else { return record };
            let pushed = record.push(Ply::new(mv));
            assert_eq!(pushed, Ok(()), "a legal move is rejected");
        }
    };
    (0..GAMES).map(game).collect()
}

/// Checks that games survive writing and reading, and that damaged files cause neither a panic nor
/// an illegal game. Only the starting position and the moves are compared.
///
/// # Panics
///
/// Panics if a game changes or the reader panics.
pub fn check_format<P: Position>(
    write: impl Fn(&[Record<P>]) -> Vec<u8>,
    read: impl Fn(&[u8]) -> Result<Vec<Record<P>>, String>,
) {
    let games = random_games::<P>();
    let bytes = write(&games);
    let back = read(&bytes).unwrap_or_else(|error| panic!("a written file is rejected: {error}"));
    assert_eq!(back.len(), games.len(), "the number of games changes");
    for (number, (game, back)) in games.iter().zip(&back).enumerate() {
        assert_eq!(back.to_line(), game.to_line(), "game {} changes", number + 1);
    }
    let mut rng = stream(2, &["contract", "damage"]);
    for _ in 0..DAMAGED {
        let mut damaged = bytes.clone();
        match rng.below(3) {
            0 => damaged.truncate(rng.below(bytes.len() as u32) as usize),
            1 => {
                let at = rng.below(bytes.len() as u32) as usize;
                damaged[at] = rng.below(256) as u8;
            }
            _ => {
                let at = rng.below(bytes.len() as u32) as usize;
                damaged.remove(at);
            }
        }
        // Records contain legal moves only, so an accepted file needs no further check.
        let _ = read(&damaged);
    }
}
