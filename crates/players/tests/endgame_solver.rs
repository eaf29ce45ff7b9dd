//! The endgame solver: comparison with exhaustive search and with published endgames.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_players::SearchControl;
use outflank_players::endgame::Solver;
use outflank_runs::rng::stream;
use positions::{brute_force, move_scores, random_position};
use std::sync::Arc;

#[test]
fn the_solver_equals_brute_force() {
    let mut rng = stream(10, &["solver"]);
    let mut solver = Solver::new(10);
    for round in 0..150 {
        let position: Othello = random_position(52 + round % 8, &mut rng);
        let board = position.board();
        let score = brute_force(&position);
        assert_eq!(solver.score(board), score, "{position}");
        assert_eq!(solver.score(board.pass()), pass_score(&position), "{position} passed");
        let expected: Vec<(Square, i32)> = position
            .moves()
            .map(|mv| {
                let after = position.play(mv);
                let same = after.to_move() == position.to_move();
                (mv, if same { 1 } else { -1 } * brute_force(&after))
            })
            .collect();
        assert_eq!(move_scores(&mut solver, &position), expected, "{position}");
        let mut best = Vec::new();
        let control = Arc::new(SearchControl::unlimited());
        assert_eq!(solver.try_best_moves(board, &mut best, &control), Some(score));
        let expected: Vec<Square> =
            expected.into_iter().filter(|m| m.1 == score).map(|m| m.0).collect();
        assert_eq!(best, expected, "{position}");
    }
}

#[test]
fn model_ordering_and_threads_do_not_change_scores() {
    let mut rng = stream(11, &["guided"]);
    let (mut plain, mut parallel) =
        (Solver::new(14), Solver::new(14).with_model_ordering().with_threads(3));
    for _ in 0..6 {
        let board = random_position::<Othello>(44, &mut rng).board();
        let score = plain.score(board);
        assert_eq!(parallel.score(board), score);
        let unlimited = Arc::new(SearchControl::unlimited());
        let best = parallel.try_best_move(board, score, &unlimited).expect("a move");
        assert_eq!(plain.score(board.play(best)), -score);
    }
    let board = random_position::<Othello>(36, &mut rng).board();
    for mut solver in [Solver::new(14), Solver::new(14).with_model_ordering().with_threads(2)] {
        let limited = Arc::new(SearchControl::unlimited().with_nodes(20_000));
        assert_eq!(solver.try_score(board, &limited), None);
        // Each thread checks the limit every 4,096 nodes.
        assert!(solver.nodes() < 60_000, "{}", solver.nodes());
    }
}

/// Returns the score for the opponent after a pass, whether or not the opponent can move.
fn pass_score(position: &Othello) -> i32 {
    let opponent = position.to_move().other();
    let black = position.discs(Side::Black);
    let white = position.discs(Side::White);
    let passed = Othello::from_discs(black, white, opponent).unwrap();
    if passed.to_move() == opponent { brute_force(&passed) } else { -brute_force(&passed) }
}

#[test]
fn finished_and_full_boards_have_a_score() {
    let mut solver = Solver::new(4);
    let mut best = vec![Square::new(0).unwrap()];
    // A full board with 33 black discs, and a board without white discs.
    let full = Othello::from_discs((1 << 33) - 1, !((1 << 33) - 1), Side::Black).unwrap();
    let control = Arc::new(SearchControl::unlimited());
    assert_eq!(solver.try_best_moves(full.board(), &mut best, &control), Some(2));
    assert!(best.is_empty());
    let no_white_discs = Othello::from_discs(0xff, 0, Side::White).unwrap();
    assert_eq!(solver.score(no_white_discs.board()), -64);
}

#[test]
fn node_counts_are_reproducible_after_clearing() {
    let position: Othello = random_position(48, &mut stream(13, &["nodes"]));
    let mut solver = Solver::new(12);
    let mut count = || {
        solver.clear();
        solver.score(position.board());
        solver.nodes()
    };
    let first = count();
    assert!(first > 0);
    assert_eq!(first, count());
}

#[test]
fn published_endgames_are_solved() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    let path = std::path::Path::new(&data).join("endgames").join("fforum-1-19.obf");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    // All of them would take a minute without optimization.
    let count = if cfg!(debug_assertions) { 7 } else { 19 };
    let mut solver = Solver::new(18);
    let mut solved = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(count) {
        let (board, moves) = line.split_once(';').unwrap();
        let position: Othello = board.parse().unwrap();
        let scores = move_scores(&mut solver, &position);
        let published = moves.split(';').filter_map(|field| field.split_once(':'));
        let mut listed = 0;
        for (square, score) in published {
            let square: Square = square.trim().parse().unwrap();
            let score: i32 = score.trim().parse().unwrap();
            assert!(scores.contains(&(square, score)), "{line}: {square}");
            listed += 1;
        }
        assert_eq!(listed, scores.len(), "{line}");
        let best = scores.iter().map(|&(_, score)| score).max().unwrap();
        assert_eq!(solver.score(position.board()), best, "{line}");
        solved += 1;
    }
    assert_eq!(solved, count);
}
