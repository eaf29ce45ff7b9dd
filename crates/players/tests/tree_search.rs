//! Monte Carlo tree search against the solver and its own budget.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_models as models;
use outflank_players::endgame::Solver;
use outflank_players::{Mcts, Player, Searchable};
use outflank_runs::rng::stream;
use outflank_runs::{RngExt, Rng};
use positions::{Pieces, random_position};
use std::sync::Arc;

#[test]
fn tree_search_finds_the_only_winning_move() {
    let mut rng = stream(15, &["mcts"]);
    let mut solver = Solver::new(12);
    let mut found = 0;
    while found < 10 {
        let position: Othello = random_position(53, &mut rng);
        let scores = solver.move_scores(position.board());
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
fn tree_search_spends_its_simulations_and_tries_everything() {
    fn check<P: Searchable>(mut mcts: Mcts<P>, simulations: u32, rng: &mut Rng) {
        let position: P = random_position(10, rng);
        let tried = mcts.search(&position, rng);
        assert_eq!(tried.iter().map(|t| t.1).sum::<u32>(), simulations);
        assert_eq!(tried.len(), position.moves().count());
        assert!(tried.iter().all(|&(_, games, half_points)| games > 0 && half_points <= 2 * games));
    }
    let mut rng = stream(16, &["budget"]);
    check(Mcts::<Othello>::new(400), 400, &mut rng);
    check(Mcts::<Checkers>::new(400), 400, &mut rng);
    let guide = Arc::new(models::Greedy(Pieces));
    check(Mcts::<Othello>::new(60).with_guide(guide), 60, &mut rng);
    // A budget below the number of moves leaves some untried, and still gives a move.
    let tried = Mcts::<Othello>::new(2).search(&Othello::start(), &mut rng);
    assert_eq!(tried.iter().map(|t| t.1).sum::<u32>(), 2);
}

#[test]
fn the_fast_playout_is_the_plain_one() {
    // Both draw the index of a move among the legal ones, so the same seed gives the same game.
    for seed in 0..300 {
        let position: Othello = random_position(seed % 60, &mut stream(seed.into(), &["where"]));
        let mut rng = stream(seed.into(), &["playout"]);
        let mut plain = position;
        let margin = loop {
            if let Some(margin) = plain.margin() {
                break margin;
            }
            let moves: Vec<_> = plain.moves().collect();
            plain = plain.play(*rng.pick(&moves).unwrap());
        };
        assert_eq!(position.playout(&mut stream(seed.into(), &["playout"])), margin, "{position}");
    }
}
