//! One game between two players.

use outflank_games::{Game, Line, Position, Side};
use outflank_players::{Fault, Player};
use outflank_runs::Rng;

/// A game that was played to its end, or to the move at which a player failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Played<P: Position> {
    /// The opening and the moves.
    pub line: Line<P>,
    /// For each move of the line, whether it was forced at random; opening moves are not.
    pub random: Vec<bool>,
    /// By how much Black won; a player who failed loses by the most there is.
    pub margin: i32,
    /// Who failed, and how.
    pub fault: Option<(Side, String)>,
}

impl<P: Position> Played<P> {
    /// Black's score in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points(&self) -> u32 {
        (1 + self.margin.signum()) as u32
    }
}

/// The margin of a game that a player lost by failing.
pub(crate) fn whole_margin(game: Game) -> i32 {
    match game {
        Game::Othello => 64,
        Game::Checkers => 1,
    }
}

/// Plays a game from an opening. A player who fails loses it.
pub fn play<'a, P: Position>(
    black: &'a mut dyn Player<P>,
    white: &'a mut dyn Player<P>,
    opening: &Line<P>,
    rng: &mut Rng,
) -> Played<P> {
    let mut line = opening.clone();
    let mut random = vec![false; line.moves().len()];
    let lost = |line, random, side: Side, fault: Fault| Played {
        line,
        random,
        margin: -side.sign() * whole_margin(P::GAME),
        fault: Some((side, fault.to_string())),
    };
    for (side, player) in [(Side::Black, &mut *black), (Side::White, &mut *white)] {
        if let Err(fault) = player.begin() {
            return lost(line, random, side, fault);
        }
    }
    loop {
        if let Some(margin) = line.position().margin() {
            return Played { line, random, margin, fault: None };
        }
        let side = line.position().to_move();
        let player: &mut dyn Player<P> = match side {
            Side::Black => &mut *black,
            Side::White => &mut *white,
        };
        match player.choose(&line, rng) {
            Ok(mv) => match line.push(mv) {
                Ok(()) => random.push(player.last_was_random()),
                Err(error) => {
                    let fault =
                        Fault::Illegal { player: side.to_string(), answer: error.to_string() };
                    return lost(line, random, side, fault);
                }
            },
            Err(fault) => return lost(line, random, side, fault),
        }
    }
}
