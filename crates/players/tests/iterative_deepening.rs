//! Iterative deepening: comparison with alpha-beta and the solver, limits and ProbCut.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_models::{self as models, Evaluate};
use outflank_players::endgame::Solver;
use outflank_players::{
    AlphaBeta, IterativeDeepening, ProbCut, SearchControl, SearchScore, Searchable,
};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use positions::{PieceCounterEval, move_scores, random_position};
use std::sync::Arc;

/// Without limits and ProbCut the result equals alpha-beta of the last depth, for any number of
/// threads.
#[test]
fn iterative_deepening_equals_alpha_beta() {
    fn check<P: Searchable>(model: Arc<dyn Evaluate<P>>, plies: u32, rng: &mut Rng) {
        let unlimited = Arc::new(SearchControl::unlimited());
        for round in 0..12 {
            let position: P = random_position(6 + round * 3, rng);
            if position.is_over() {
                continue;
            }
            let mut plain = AlphaBeta::new(model.clone(), plies);
            let (score, best) = plain.search(&position, rng).expect("not over");
            let best = best.to_vec();
            for threads in [1, 3] {
                let search = IterativeDeepening::new(model.clone(), 14).with_max_depth(plies);
                let mut search = search.with_threads(threads);
                let mut depths = Vec::new();
                let found =
                    search.run(&position, false, &unlimited, |result| depths.push(result.depth));
                let found = found.expect("a result");
                assert_eq!(found.moves[0].score, score, "{position}");
                assert!(best.contains(&found.moves[0].mv), "{position}");
                assert_eq!(found.pv[0], found.moves[0].mv);
                assert_eq!(depths, (1..=*depths.last().unwrap()).collect::<Vec<_>>());
                let all = search.run(&position, true, &unlimited, |_| {}).expect("a result");
                assert_eq!(all.moves.len(), position.moves().count());
                if all.depth == plies {
                    assert_eq!(all.moves[0].score, score, "{position}");
                }
            }
        }
    }
    let mut rng = stream(20, &["deepening"]);
    check::<Othello>(Arc::new(PieceCounterEval), 5, &mut rng);
    check::<Checkers>(Arc::new(models::Material::default()), 5, &mut rng);
}

#[test]
fn limits_stop_the_search_and_the_endgame_is_solved() {
    let mut rng = stream(21, &["limits"]);
    let position: Othello = random_position(20, &mut rng);
    let limited = Arc::new(SearchControl::unlimited().with_nodes(3_000));
    let mut search = IterativeDeepening::new(Arc::new(PieceCounterEval), 14);
    let result = search.run(&position, false, &limited, |_| {}).expect("a ply was possible");
    assert!(limited.stopped() && result.depth > 1 && result.nodes < 6_000, "{result:?}");
    // The same node limit gives the same result.
    let again = Arc::new(SearchControl::unlimited().with_nodes(3_000));
    assert_eq!(search.run(&position, false, &again, |_| {}), Some(result));

    let late: Othello = random_position(48, &mut rng);
    let mut search =
        search.with_endgame(Othello::parallel_endgame_solver(16, 2).expect("Othello has one"));
    let unlimited = Arc::new(SearchControl::unlimited());
    let result = search.run(&late, true, &unlimited, |_| {}).expect("a result");
    assert!(result.exact);
    let mut scores = move_scores(&mut Solver::new(12), &late);
    scores.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let found: Vec<(Square, i32)> = result
        .moves
        .iter()
        .map(|scored| match scored.score {
            SearchScore::Proven(score) => (scored.mv, score),
            SearchScore::Estimate(_) => panic!("an endgame score is proven"),
        })
        .collect();
    assert_eq!(found, scores);
}

#[test]
fn probcut_saves_nodes_and_rarely_changes_the_move() {
    let champion: Arc<dyn Evaluate<Othello>> = models::embedded::champion().expect("embedded");
    let probcut = Arc::new(ProbCut::measure(&champion, 1.5));
    assert_eq!(*probcut, ProbCut::measure(&champion, 1.5), "deterministic");
    let mut rng = stream(22, &["cuts"]);
    let unlimited = Arc::new(SearchControl::unlimited());
    let (mut with, mut without, mut same) = (0, 0, 0);
    for round in 0..16 {
        let position: Othello = random_position(10 + 2 * round, &mut rng);
        let search = |probcut: Option<Arc<ProbCut>>| {
            let mut search = IterativeDeepening::new(champion.clone(), 16)
                .with_max_depth(7)
                .with_probcut(probcut);
            search.run(&position, false, &unlimited, |_| {}).expect("a result")
        };
        let (pruned, full) = (search(Some(probcut.clone())), search(None));
        with += pruned.nodes;
        without += full.nodes;
        same += u32::from(pruned.moves[0].mv == full.moves[0].mv);
    }
    assert!(with < without, "{with} {without}");
    assert!(same >= 12, "{same} of 16");
}

/// Black's f5 looks best for five plies, but White's d7 leads to a wipeout. ProbCut must not hide
/// the proven loss.
#[test]
fn probcut_does_not_hide_a_wipeout() {
    let text = "-----------O-O-----XOO-----XOOOO---XX-----OXXO------------------ X";
    let position: Othello = text.parse().unwrap();
    let champion: Arc<dyn Evaluate<Othello>> = models::embedded::champion().expect("embedded");
    let unlimited = Arc::new(SearchControl::unlimited());
    let proven_moves = |search: IterativeDeepening<Othello>| {
        let result =
            search.with_max_depth(8).run(&position, true, &unlimited, |_| {}).expect("a result");
        let moves = result.moves.into_iter();
        let proven = moves.filter(|scored| matches!(scored.score, SearchScore::Proven(_)));
        proven.map(|scored| (scored.mv.to_string(), scored.score)).collect::<Vec<_>>()
    };
    let full = proven_moves(IterativeDeepening::new(champion.clone(), 16));
    assert_eq!(full, [("f5".to_owned(), SearchScore::Proven(-64))]);
    for threshold in [1.0, 1.5, 2.0] {
        let probcut = Arc::new(ProbCut::measure(&champion, threshold));
        assert_eq!(
            proven_moves(IterativeDeepening::new(champion.clone(), 16).with_probcut(probcut)),
            full,
            "{threshold}"
        );
    }
}

/// Both the search and the solver give the empty squares to the winner.
#[test]
fn proven_scores_equal_those_of_the_solver() {
    let mut rng = stream(15, &["count"]);
    for _ in 0..40 {
        // Near the end many lines finish early, with empty squares.
        let position = random_position::<Othello>(54, &mut rng);
        let control = Arc::new(SearchControl::unlimited());
        let mut search = IterativeDeepening::new(Arc::new(PieceCounterEval), 12)
            .with_max_depth(position.empties());
        let result = search.run(&position, true, &control, |_| {}).unwrap();
        let scores = move_scores(&mut Solver::new(12), &position);
        assert_eq!(result.moves.len(), scores.len());
        for scored in result.moves {
            let (_, score) = scores.iter().find(|(square, _)| *square == scored.mv).unwrap();
            match scored.score {
                SearchScore::Proven(proven) => {
                    assert_eq!(proven, *score, "{position} {}", scored.mv)
                }
                // A proven draw is reported as an estimate of 0.
                SearchScore::Estimate(value) => assert_eq!((value, *score), (0.0, 0), "{position}"),
            }
        }
    }
}
