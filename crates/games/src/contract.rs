//! Test helpers that check the contract of [`Position`] for any game.
//!
//! ```
//! use outflank_games::{contract::check_game, othello::Othello};
//!
//! let results = check_game::<Othello>(20, 1);
//! assert_eq!(results.black_wins + results.draws + results.white_wins, 20);
//! ```

use crate::{Line, MoveError, Position};
use std::collections::HashSet;

/// The results of the random games of a contract test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContractResults {
    /// Games won by Black.
    pub black_wins: usize,
    /// Drawn games.
    pub draws: usize,
    /// Games won by White.
    pub white_wins: usize,
    /// Number of moves of the longest game.
    pub longest: usize,
}

/// Plays random games from the start and checks the contract of [`Position`] in every position.
///
/// # Panics
///
/// Panics with the property and the position if the game violates its contract.
pub fn check_game<P: Position>(games: usize, seed: u64) -> ContractResults {
    let (mut lcg, mut results) = (Lcg(seed), ContractResults::default());
    for _ in 0..games {
        let line = play_random_game::<P>(&mut lcg);
        match line.position().result() {
            Some(1..) => results.black_wins += 1,
            Some(0) => results.draws += 1,
            _ => results.white_wins += 1,
        }
        results.longest = results.longest.max(line.moves().len());
    }
    results
}

/// Plays a random game, checks every position, and returns the game.
fn play_random_game<P: Position>(lcg: &mut Lcg) -> Line<P> {
    let mut line = Line::<P>::default();
    loop {
        let position = *line.position();
        check_position(&position);
        let moves: Vec<_> = position.moves().collect();
        if moves.is_empty() {
            check_end(&line);
            return line;
        }
        let mv = moves[lcg.below(moves.len())];
        let pushed = line.push(mv);
        assert_eq!(pushed, Ok(()), "push({mv}) fails in {position}");
        assert_eq!(*line.position(), position.play(mv), "play is not a function in {position}");
    }
}

/// Checks the contract of [`Position`] in one position.
///
/// # Panics
///
/// Panics with the property and the position if the contract is violated.
pub fn check_position<P: Position>(position: &P) {
    let moves: Vec<_> = position.moves().collect();
    assert_eq!(
        moves.is_empty(),
        position.result().is_some(),
        "a position has moves unless it has a result: {position}"
    );
    assert_eq!(position.is_over(), moves.is_empty(), "is_over differs from moves: {position}");
    assert!(moves.is_sorted_by(|a, b| a < b), "unordered or repeated moves: {position}");
    for &mv in &moves {
        assert!(position.is_legal(mv), "{mv} in {position} is listed but not legal");
        assert_eq!(
            position.parse_move(&mv.to_string()),
            Ok(mv),
            "{mv} in {position} does not round-trip as text"
        );
    }
    assert_eq!(
        position.to_string().parse::<P>().ok(),
        Some(*position),
        "the position does not round-trip as text: {position}"
    );
    let result = position.result().unwrap_or(0);
    assert!(
        result.abs() <= P::MAX_RESULT,
        "result {result} is above MAX_RESULT {}: {position}",
        P::MAX_RESULT
    );
    assert_eq!(position.perft(0), 1, "perft(0) of {position}");
    if !moves.is_empty() {
        assert_eq!(position.perft(1), moves.len() as u64, "perft(1) of {position}");
    }
    check_swapped(position, &moves);
}

/// Checks that exchanging the sides exchanges everything that depends on them.
fn check_swapped<P: Position>(position: &P, moves: &[P::Move]) {
    let swapped = position.swap_sides();
    assert_eq!(swapped.swap_sides(), *position, "swap_sides is not its own inverse");
    assert_eq!(swapped.pieces(), position.pieces(), "swap_sides changes the pieces: {position}");
    assert_eq!(
        swapped.result(),
        position.result().map(|result| -result),
        "swap_sides does not negate the result: {position}"
    );
    if !moves.is_empty() {
        assert_eq!(
            swapped.to_move(),
            position.to_move().other(),
            "swap_sides keeps the side to move: {position}"
        );
    }
    let after: HashSet<P> = moves.iter().map(|&mv| position.play(mv).swap_sides()).collect();
    let swapped_after: HashSet<P> = swapped.moves().map(|mv| swapped.play(mv)).collect();
    assert_eq!(after, swapped_after, "swap_sides changes the successors: {position}");
    assert_eq!(swapped.moves().count(), moves.len(), "swap_sides changes the moves: {position}");
}

/// Checks the end of a game: its moves replay it as text, and no move can follow.
fn check_end<P: Position>(line: &Line<P>) {
    let end = line.position();
    let mut replayed = P::start();
    for &mv in line.moves() {
        let text = mv.to_string();
        assert_eq!(replayed.parse_move(&text), Ok(mv), "{text} in {replayed}");
        assert_eq!(
            end.parse_move(&text),
            Err(MoveError::GameOver(text.clone())),
            "a move after the end of the game: {end}"
        );
        replayed = replayed.play(mv);
    }
    assert_eq!(replayed, *end, "replaying the moves does not lead to the end of the game");
    if let Some(&mv) = line.moves().first() {
        let mut over = line.clone();
        assert_eq!(over.push(mv), Err(MoveError::GameOver(mv.to_string())), "{end}");
        assert_eq!(over, *line, "a rejected move changes the line");
    }
}

/// A linear congruential generator.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}
