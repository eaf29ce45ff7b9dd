//! Checks the contract of `Position` by playing random games of Othello and checkers.

use outflank_games::{
    Line, MoveError, Position, Side, checkers::Checkers, othello::Othello, othello::kernel,
};
use std::collections::HashSet;

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

/// A linear congruential generator.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}

/// Plays random games; returns the numbers of wins of Black, draws, and wins of White.
fn play_random_games<P: TestedGame>(games: usize, seed: u64) -> [usize; 3] {
    let (mut lcg, mut results) = (Lcg(seed), [0; 3]);
    for _ in 0..games {
        let mut line = Line::<P>::default();
        let mut texts = Vec::new();
        loop {
            let position = *line.position();
            check_position(&position);
            let moves: Vec<_> = position.moves().collect();
            let Some(result) = position.result() else {
                let mv = moves[lcg.below(moves.len())];
                texts.push(mv.to_string());
                line.push(mv).unwrap();
                check_step(&position, line.position());
                assert!(line.moves().len() <= P::MAX_MOVES, "too long: {position}");
                continue;
            };
            check_end(&line, &texts);
            results[(1 - result.signum()) as usize] += 1;
            break;
        }
    }
    results
}

fn check_position<P: Position>(position: &P) {
    let moves: Vec<_> = position.moves().collect();
    assert_eq!(moves.is_empty(), position.result().is_some(), "{position}");
    assert_eq!(position.is_over(), moves.is_empty());
    assert_eq!(position.moves().count(), moves.len(), "{position}");
    assert!(moves.is_sorted_by(|a, b| a < b), "unordered or repeated moves: {position}");
    for &mv in &moves {
        assert!(position.is_legal(mv), "{mv} in {position}");
        assert_eq!(position.parse_move(&mv.to_string()), Ok(mv), "{position}");
    }
    assert_eq!(position.to_string().parse::<P>().ok(), Some(*position));

    let swapped = position.swap_sides();
    assert_eq!(swapped.swap_sides(), *position);
    assert_eq!(swapped.to_move(), position.to_move().other());
    assert_eq!(swapped.pieces(), position.pieces());
    assert_eq!(swapped.result(), position.result().map(|result| -result), "{position}");
    assert_eq!(swapped.moves().count(), moves.len(), "{position}");
    let after: HashSet<P> = moves.iter().map(|&mv| position.play(mv).swap_sides()).collect();
    let swapped_after: HashSet<P> = swapped.moves().map(|mv| swapped.play(mv)).collect();
    assert_eq!(after, swapped_after, "swapping sides changes the successors: {position}");
    assert_eq!(position.perft(0), 1);
    assert!(moves.is_empty() || position.perft(1) == moves.len() as u64);
}

fn check_step<P: TestedGame>(before: &P, after: &P) {
    assert!(P::pieces_after(before.pieces()).contains(&after.pieces()), "{before} to {after}");
    if after.to_move() == before.to_move() {
        assert!(after.opponent_passes(), "{before} to {after}: the side to move did not change");
    }
}

fn check_end<P: Position>(line: &Line<P>, texts: &[String]) {
    let end = line.position();
    let mut replayed = P::start();
    for ((position, mv), text) in line.steps().zip(texts) {
        assert_eq!(position, replayed);
        assert_eq!(replayed.parse_move(text), Ok(mv));
        assert_eq!(end.parse_move(text), Err(MoveError::GameOver(text.clone())));
        replayed = replayed.play(mv);
    }
    assert_eq!(replayed, *end);
    let (mut over, mv) = (line.clone(), line.moves()[0]);
    assert_eq!(over.push(mv), Err(MoveError::GameOver(mv.to_string())));
    assert_eq!(over, *line);
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
fn sides_and_games_have_names() {
    assert_eq!(Side::BOTH.map(Side::other), [Side::White, Side::Black]);
    assert_eq!(Side::BOTH.map(Side::sign), [1, -1]);
    assert_eq!(Side::BOTH.map(Side::index), [0, 1]);
    for (game, name) in [(Othello::GAME, "othello"), (Checkers::GAME, "checkers")] {
        assert_eq!(game.to_string(), name);
        assert_eq!(name.to_uppercase().parse(), Ok(game));
    }
    assert!("chess".parse::<outflank_games::Game>().unwrap_err().contains("othello or checkers"));
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
