//! The selective search against plain negamax, the endgame solver and itself.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_players::endgame::Solver;
use outflank_players::selective::{SelectiveModel, SelectiveSearch, Techniques};
use outflank_players::{SearchControl, SearchResult, SearchScore};
use outflank_runs::rng::stream;
use positions::brute_force;
use std::sync::Arc;

/// A random position with this many empty squares.
fn random_position(seed: u64, empties: u32) -> Othello {
    positions::random_position(60 - empties, &mut stream(seed, &["selective"]))
}

fn unlimited() -> Arc<SearchControl> {
    Arc::new(SearchControl::unlimited())
}

fn search() -> SelectiveSearch {
    SelectiveSearch::new(SelectiveModel::champion().unwrap()).with_table_bits(12)
}

fn run(search: &mut SelectiveSearch, position: &Othello) -> SearchResult<Square> {
    search.run(position, false, &unlimited(), |_| {}).unwrap()
}

fn score(result: &SearchResult<Square>) -> f32 {
    match result.moves[0].score {
        SearchScore::Estimate(score) => score,
        SearchScore::Proven(score) => score as f32,
    }
}

/// Returns the value in discs for the side to move, by negamax without table, cuts or ordering.
fn negamax(model: &SelectiveModel, position: &Othello, depth: u32) -> f32 {
    let side = position.to_move();
    let scores = position.moves().map(|mv| {
        let after = position.play(mv);
        match (after.tournament_score(), depth) {
            (Some(score), _) => (side.sign() * score) as f32,
            (None, 1) => model.evaluate(&after, side),
            _ if after.to_move() == side => negamax(model, &after, depth - 1),
            _ => -negamax(model, &after, depth - 1),
        }
    });
    scores.fold(f32::NEG_INFINITY, f32::max)
}

#[test]
fn without_probcut_the_value_is_that_of_plain_negamax() {
    let model = SelectiveModel::champion().unwrap();
    let mut without: Vec<Techniques> =
        Techniques::NAMES.iter().map(|name| name.parse().unwrap()).collect();
    without.push(Techniques::ALL);
    for (seed, techniques) in without.into_iter().enumerate() {
        for empties in [45, 30, 20, 13, 6] {
            let position = random_position(seed as u64, empties);
            for depth in 1..=4 {
                let mut search =
                    search().with_max_depth(depth).with_threshold(0.0).with_techniques(techniques);
                let result = run(&mut search, &position);
                let expected = negamax(&model, &position, depth);
                assert_eq!(score(&result), expected, "{position} {depth} {techniques:?}");
            }
        }
    }
}

#[test]
fn solved_scores_equal_those_of_the_endgame_solver() {
    let mut solver = Solver::new(16);
    for seed in 0..24 {
        for empties in [9, 13, 15] {
            let position = random_position(seed, empties);
            let expected = solver.score(position.board());
            let threads = 1 + seed as usize % 3;
            let mut search = search().with_exact(16).with_threads(threads);
            assert_eq!(search.solve(position.board(), &unlimited()), Some(expected), "{position}");
            let result = run(&mut search, &position);
            assert_eq!(result.moves[0].score, SearchScore::Proven(expected), "{position}");
            assert!(result.exact);
            // The chosen move reaches the score.
            let after = position.board().play(result.moves[0].mv);
            assert_eq!(-solver.score(after), expected, "{position}");
        }
    }
}

#[test]
fn solved_scores_equal_brute_force() {
    for seed in 0..60 {
        let position = random_position(100 + seed, 3 + seed as u32 % 6);
        let expected = brute_force(&position);
        assert_eq!(search().solve(position.board(), &unlimited()), Some(expected), "{position}");
    }
}

#[test]
fn all_root_moves_are_scored_exactly() {
    let mut solver = Solver::new(16);
    let position = random_position(7, 13);
    let result = search().with_exact(14).run(&position, true, &unlimited(), |_| {}).unwrap();
    assert_eq!(result.moves.len(), position.moves().count());
    for scored in &result.moves {
        let expected = -solver.score(position.board().play(scored.mv));
        assert_eq!(scored.score, SearchScore::Proven(expected), "{}", scored.mv);
    }
}

#[test]
fn one_thread_is_deterministic_and_clearing_forgets_everything() {
    let position = random_position(3, 40);
    let next = random_position(4, 38);
    let mut first = search().with_max_depth(9);
    let expected = [run(&mut first, &position), run(&mut first, &next)];
    first.clear();
    assert_eq!([run(&mut first, &position), run(&mut first, &next)], expected);
    let mut second = search().with_max_depth(9);
    assert_eq!([run(&mut second, &position), run(&mut second, &next)], expected);
}

#[test]
fn limits_stop_a_search() {
    let position = random_position(5, 40);
    let control = Arc::new(SearchControl::unlimited().with_nodes(20_000));
    let mut limited = search();
    let result = limited.run(&position, false, &control, |_| {}).unwrap();
    assert!(control.stopped() && result.depth > 3 && result.depth < 30, "{}", result.depth);
    assert!(limited.nodes() < 25_000, "{}", limited.nodes());
    assert_eq!(limited.solve(position.board(), &control), None);
}
