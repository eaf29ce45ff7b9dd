//! Checks the contract of `Position` by playing random games of the built-in games.

use outflank_games::contract::check_game;
use outflank_games::{
    Line, MoveError, Position, Side, built_in_games, checkers::Checkers, othello::Othello,
    othello::kernel, othello6::Othello6,
};

/// Game-specific properties that the test needs.
trait TestedGame: Position {
    /// The maximum number of moves of a game.
    const MAX_MOVES: usize;

    /// Returns whether the mover moves again because the opponent must pass.
    fn opponent_passes(&self) -> bool;

    /// Returns the possible numbers of pieces after a move.
    fn pieces_after(before: u32) -> std::ops::RangeInclusive<u32>;
}

impl TestedGame for Othello {
    const MAX_MOVES: usize = 60;

    fn opponent_passes(&self) -> bool {
        let own = self.discs(self.to_move());
        let other = self.discs(self.to_move().other());
        kernel::moves(other, own) == 0 && kernel::moves(own, other) != 0
    }

    fn pieces_after(before: u32) -> std::ops::RangeInclusive<u32> {
        before + 1..=before + 1
    }
}

impl TestedGame for Othello6 {
    const MAX_MOVES: usize = 32;

    fn opponent_passes(&self) -> bool {
        self.mobility(self.to_move().other()) == 0 && self.mobility(self.to_move()) != 0
    }

    fn pieces_after(before: u32) -> std::ops::RangeInclusive<u32> {
        before + 1..=before + 1
    }
}

impl TestedGame for Checkers {
    /// Men can advance at most 7, 6 or 5 rows and 23 pieces can be captured; between two such moves
    /// there are fewer than 80 others.
    const MAX_MOVES: usize = 80 * (2 * 4 * (7 + 6 + 5) + 23 + 1);

    fn opponent_passes(&self) -> bool {
        false
    }

    fn pieces_after(before: u32) -> std::ops::RangeInclusive<u32> {
        before.saturating_sub(9)..=before
    }
}

/// Plays random games with the contract test; returns the numbers of wins of Black, draws, and wins
/// of White.
fn play_random_games<P: TestedGame>(games: usize, seed: u64) -> [usize; 3] {
    let results = check_game::<P>(games, seed);
    assert!(results.longest <= P::MAX_MOVES, "{results:?}");
    // Follows one more game for the properties of this game.
    let mut position = P::start();
    for choice in 0usize.. {
        let moves: Vec<_> = position.moves().collect();
        if moves.is_empty() {
            break;
        }
        let after = position.play(moves[choice * 7 % moves.len()]);
        check_step(&position, &after);
        position = after;
    }
    [results.black_wins, results.draws, results.white_wins]
}

fn check_step<P: TestedGame>(before: &P, after: &P) {
    assert!(P::pieces_after(before.pieces()).contains(&after.pieces()), "{before} to {after}");
    if after.to_move() == before.to_move() {
        assert!(after.opponent_passes(), "{before} to {after}: the side to move did not change");
    }
}

#[test]
fn othello_meets_the_contract() {
    let results = play_random_games::<Othello>(1000, 1);
    assert!(results.iter().all(|&games| games > 0), "an outcome never occurred: {results:?}");
}

#[test]
fn checkers_meets_the_contract() {
    let results = play_random_games::<Checkers>(1000, 2);
    assert!(results.iter().all(|&games| games > 0), "an outcome never occurred: {results:?}");
}

#[test]
fn othello6_meets_the_contract() {
    let results = play_random_games::<Othello6>(1000, 3);
    assert!(results.iter().all(|&games| games > 0), "an outcome never occurred: {results:?}");
}

#[test]
fn sides_and_games_have_names() {
    assert_eq!(Side::BOTH.map(Side::other), [Side::White, Side::Black]);
    assert_eq!(Side::BOTH.map(Side::sign), [1, -1]);
    assert_eq!(Side::BOTH.map(Side::index), [0, 1]);
    let names: Vec<String> = built_in_games().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["othello", "checkers", "othello6"]);
    for (game, name) in [(Othello::GAME, "othello"), (Checkers::GAME, "checkers")] {
        assert_eq!(game.to_string(), name);
        assert_eq!(name.to_uppercase().parse(), Ok(game));
    }
    assert_eq!("Reversi".parse(), Ok(Othello::GAME));
    assert_eq!("draughts".parse(), Ok(Checkers::GAME));
    let error = "chess".parse::<outflank_games::Game>().unwrap_err();
    assert_eq!(error, "unknown game 'chess'; use othello, checkers or othello6");
}

#[test]
fn lines_reject_illegal_moves() {
    let mut line = Line::<Othello>::default();
    let mv = "f5".parse().unwrap();
    line.push(mv).unwrap();
    let error = line.push(mv).unwrap_err();
    assert_eq!(error, MoveError::Illegal { mv: "f5".into(), side: Side::White });
    assert_eq!(error.to_string(), "f5 is not legal for white");
    assert_eq!(line.moves(), [mv]);
}
