//! Monte-Carlo tree search: comparison with the solver, and the simulation budget.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_models as models;
use outflank_players::endgame::Solver;
use outflank_players::{Mcts, Player, Searchable};
use outflank_runs::rng::stream;
use outflank_runs::{Rng, RngExt};
use positions::{PieceCounterEval, move_scores, random_position};
use std::sync::Arc;

#[test]
fn tree_search_finds_the_only_winning_move() {
    let mut rng = stream(15, &["mcts"]);
    let mut solver = Solver::new(12);
    let mut found = 0;
    while found < 10 {
        let position: Othello = random_position(53, &mut rng);
        let scores = move_scores(&mut solver, &position);
        let wins: Vec<_> = scores.iter().filter(|(_, score)| *score > 0).collect();
        if scores.len() < 3 || wins.len() != 1 {
            continue;
        }
        found += 1;
        let mut mcts = Mcts::<Othello>::new(3_000);
        assert_eq!(mcts.choose(&Line::new(position), &mut rng), Ok(wins[0].0), "{position}");
    }
}

#[test]
fn all_simulations_are_used_and_all_moves_are_tried() {
    fn check<P: Searchable>(mut mcts: Mcts<P>, simulations: u32, rng: &mut Rng) {
        let position: P = random_position(10, rng);
        let tried = mcts.search(&position, rng);
        assert_eq!(tried.iter().map(|stats| stats.visits).sum::<u32>(), simulations);
        assert_eq!(tried.len(), position.moves().count());
        assert!(
            tried.iter().all(|stats| stats.visits > 0 && stats.half_points <= 2 * stats.visits)
        );
    }
    let mut rng = stream(16, &["budget"]);
    check(Mcts::<Othello>::new(400), 400, &mut rng);
    check(Mcts::<Checkers>::new(400), 400, &mut rng);
    let policy = Arc::new(models::OnePlyPolicy(PieceCounterEval));
    check(Mcts::<Othello>::new(60).with_rollout_policy(policy), 60, &mut rng);
    // With fewer simulations than moves, some moves stay untried.
    let tried = Mcts::<Othello>::new(2).search(&Othello::start(), &mut rng);
    assert_eq!(tried.iter().map(|stats| stats.visits).sum::<u32>(), 2);
}

#[test]
fn bitboard_playouts_match_generic_playouts() {
    // Both draw the index of a legal move, so the same seed gives the same game.
    for seed in 0..300 {
        let position: Othello = random_position(seed % 60, &mut stream(seed.into(), &["where"]));
        let mut rng = stream(seed.into(), &["playout"]);
        let mut current = position;
        let result = loop {
            if let Some(result) = current.result() {
                break result;
            }
            let moves: Vec<_> = current.moves().collect();
            current = current.play(*rng.pick(&moves).unwrap());
        };
        assert_eq!(position.playout(&mut stream(seed.into(), &["playout"])), result, "{position}");
    }
}
