//! Fixed-depth alpha-beta: comparison with minimax, ties, noise and cancellation.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_models::{self as models, Evaluate};
use outflank_players::endgame::Solver;
use outflank_players::registry::factory;
use outflank_players::{
    AlphaBeta, Greedy, Player, PlayerError, Random, SearchControl, SearchScore, Searchable,
};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use positions::{HashEval, PieceCounterEval, brute_force, random_position};
use std::cmp::Ordering;
use std::sync::Arc;

/// A material evaluation with many ties.
struct MaterialEval;

impl Evaluate<Checkers> for MaterialEval {
    fn value(&self, position: &Checkers, side: Side) -> f32 {
        let count = |side| {
            position.men(side).count_ones() as f32 + 1.5 * position.kings(side).count_ones() as f32
        };
        count(side) - count(side.other())
    }
}

/// Added to proven results, so that they exceed all evaluations of these tests.
const PROVEN: f64 = 1e9;

/// Returns the minimax score of a move for its mover.
fn minimax<P: Searchable>(model: &dyn Evaluate<P>, position: &P, mv: P::Move, depth: u32) -> f64 {
    let side = position.to_move();
    let after = position.play(mv);
    if let Some(score) = after.final_score() {
        let score = f64::from(side.sign() * score);
        return if score == 0.0 { 0.0 } else { score.signum() * PROVEN + score };
    }
    if depth == 1 {
        return f64::from(model.value(&after, side));
    }
    let best = after.moves().map(|mv| minimax(model, &after, mv, depth - 1)).fold(-1e30, f64::max);
    if after.to_move() == side { best } else { -best }
}

fn check_equals_minimax<P: Searchable>(
    model: Arc<dyn Evaluate<P>>,
    depth: u32,
    positions: u32,
    max_plies: u32,
    seed: u64,
) {
    let mut rng = stream(seed, &["minimax"]);
    let mut player = AlphaBeta::new(Arc::clone(&model), depth);
    for _ in 0..positions {
        let plies = rng.below(max_plies);
        let position: P = random_position(plies, &mut rng);
        let all: Vec<(P::Move, f64)> =
            position.moves().map(|mv| (mv, minimax(&*model, &position, mv, depth))).collect();
        let best = all.iter().map(|&(_, score)| score).fold(-1e30, f64::max);
        let mut ties: Vec<P::Move> =
            all.iter().filter(|(_, score)| *score >= best - 1e-6).map(|&(mv, _)| mv).collect();
        ties.sort_unstable();
        let (found, moves) = player.search(&position, &mut rng).unwrap();
        let found = match found {
            SearchScore::Estimate(value) => f64::from(value),
            SearchScore::Proven(score) => f64::from(score.signum()) * PROVEN + f64::from(score),
        };
        assert_eq!(found, best, "depth {depth}, {position}");
        assert_eq!(moves, ties, "depth {depth}, {position}");
    }
}

#[test]
fn alpha_beta_equals_minimax_in_othello() {
    // Random games contain enough passes and early ends from move 45 on.
    for (depth, positions) in [(1, 200), (2, 100), (3, 40), (4, 12), (5, 2)] {
        check_equals_minimax::<Othello>(Arc::new(PieceCounterEval), depth, positions, 60, 1);
        check_equals_minimax::<Othello>(Arc::new(HashEval(5)), depth, positions, 60, 2);
        check_equals_minimax::<Othello>(Arc::new(HashEval(100_003)), depth, positions, 60, 3);
    }
}

#[test]
fn alpha_beta_equals_minimax_in_checkers() {
    for (depth, positions) in [(1, 200), (2, 100), (3, 60), (4, 30), (5, 10), (6, 3)] {
        check_equals_minimax::<Checkers>(Arc::new(MaterialEval), depth, positions, 80, 4);
        check_equals_minimax::<Checkers>(Arc::new(HashEval(5)), depth, positions, 80, 5);
        check_equals_minimax::<Checkers>(Arc::new(HashEval(100_003)), depth, positions, 80, 6);
    }
}

#[test]
fn full_depth_alpha_beta_agrees_with_the_solver() {
    let mut rng = stream(7, &["sight"]);
    let mut solver = Solver::new(12);
    let mut player = AlphaBeta::<Othello>::new(Arc::new(PieceCounterEval), 60);
    for _ in 0..40 {
        let position: Othello = random_position(52, &mut rng);
        let solved = solver.score(position.board()).cmp(&0);
        let searched = match player.search(&position, &mut rng).unwrap().0 {
            SearchScore::Proven(score) => score.cmp(&0),
            SearchScore::Estimate(value) => {
                assert_eq!(value, 0.0);
                Ordering::Equal
            }
        };
        assert_eq!(searched, solved, "{position}");
    }
}

#[test]
fn noise_changes_the_choice_and_depends_only_on_the_seed() {
    let line = Line::new(random_position::<Othello>(20, &mut stream(8, &["noise"])));
    let mut player = AlphaBeta::<Othello>::new(Arc::new(PieceCounterEval), 3).with_noise(5.0);
    let mut choices = Vec::new();
    for seed in 0..50 {
        let mv = player.choose(&line, &mut stream(seed, &["noise"])).unwrap();
        assert_eq!(mv, player.choose(&line, &mut stream(seed, &["noise"])).unwrap());
        choices.push(mv);
    }
    choices.sort_unstable();
    choices.dedup();
    assert!(choices.len() > 2, "{choices:?}");
}

/// Returns the chi-square statistic of the first move over the four symmetric ones (three degrees
/// of freedom).
fn first_move_chi_square(player: &mut dyn Player<Othello>, seed: u64) -> f64 {
    let (line, mut rng) = (Line::default(), stream(seed, &["ties"]));
    let mut counts = [0u32; 4];
    for _ in 0..8_000 {
        let mv = player.choose(&line, &mut rng).unwrap();
        counts[line.position().moves().position(|legal| legal == mv).unwrap()] += 1;
    }
    counts.iter().map(|&count| (f64::from(count) - 2_000.0).powi(2) / 2_000.0).sum()
}

#[test]
fn ties_are_broken_uniformly() {
    // 16.3 is the 99.9% quantile.
    let mut greedy = Greedy::new(Arc::new(models::OnePlyPolicy(PieceCounterEval)));
    assert!(first_move_chi_square(&mut greedy, 1) < 16.3);
    for depth in [1, 2, 3] {
        assert!(
            first_move_chi_square(&mut AlphaBeta::new(Arc::new(PieceCounterEval), depth), 2) < 16.3
        );
    }
}

#[test]
fn depth_one_is_greedy_except_for_finished_games() {
    let mut rng = stream(9, &["depth one"]);
    let mut greedy = Greedy::<Othello>::new(Arc::new(models::OnePlyPolicy(PieceCounterEval)));
    let mut search = AlphaBeta::<Othello>::new(Arc::new(PieceCounterEval), 1);
    for _ in 0..300 {
        let line = Line::new(random_position::<Othello>(30, &mut rng));
        let seed = u64::from(rng.below(1 << 20));
        let choice = |player: &mut dyn Player<Othello>| {
            player.choose(&line, &mut stream(seed, &["same"])).unwrap()
        };
        if line.position().moves().all(|mv| !line.position().play(mv).is_over()) {
            assert_eq!(choice(&mut greedy), choice(&mut search));
        }
    }
    // b2 flips White's last two discs and wins at once, but the piece counter avoids b2.
    let rows = ["--------", "--OX----", "--O-----", "---X----"];
    let board = format!("{}{} X", rows.concat(), "-".repeat(32));
    let line = Line::new(board.parse::<Othello>().unwrap());
    let (score, best) = search.search(line.position(), &mut rng).unwrap();
    let b2: Square = "b2".parse().unwrap();
    // A wipeout scores all 64 squares.
    assert_eq!((score, best), (SearchScore::Proven(64), &[b2][..]));
    assert_ne!(greedy.choose(&line, &mut rng), Ok(b2));
}

#[test]
fn the_endgame_player_reaches_at_least_the_solved_score() {
    let mut rng = stream(14, &["exact"]);
    for _ in 0..10 {
        let mut line = Line::new(random_position::<Othello>(52, &mut rng));
        let side = line.position().to_move();
        let value = brute_force(line.position());
        let endgame = Othello::endgame_solver(10).unwrap();
        let mut exact = AlphaBeta::new(Arc::new(HashEval(5)), 1).with_endgame(endgame);
        let score = exact.search(line.position(), &mut rng).unwrap().0;
        assert_eq!(score, SearchScore::Proven(value));
        while !line.position().is_over() {
            let mv = if line.position().to_move() == side {
                exact.choose(&line, &mut rng).unwrap()
            } else {
                Random.choose(&line, &mut rng).unwrap()
            };
            line.push(mv).unwrap();
        }
        // Against any opponent the result is at least the score.
        assert!(side.sign() * line.position().tournament_score().unwrap() >= value);
    }
}

#[test]
fn long_searches_can_be_stopped() {
    for text in [
        "heuristic@40",
        "heuristic@4e40",
        "heuristic?seconds=86400",
        "random@mcts100000000",
        "heuristic@40?random=0.000001",
        "random?plies=1-60&with=heuristic@40",
    ] {
        let mut player = factory::<Othello>(text).unwrap().make().unwrap();
        let control = Arc::new(SearchControl::unlimited());
        player.set_control(&control);
        let line = Line::new(random_position::<Othello>(24, &mut stream(16, &["stop"])));
        let chosen = std::thread::scope(|scope| {
            let choice = scope.spawn(|| player.choose(&line, &mut stream(1, &["stop"])));
            std::thread::sleep(std::time::Duration::from_millis(20));
            control.stop();
            choice.join().unwrap()
        });
        assert!(matches!(chosen, Err(PlayerError::Stopped { .. })), "{text}: {chosen:?}");
        // With a new control the player moves again.
        let mut quick = factory::<Othello>("heuristic@2e4").unwrap().make().unwrap();
        quick.set_control(&control);
        assert!(quick.choose(&line, &mut stream(1, &["stop"])).is_err());
        quick.set_control(&Arc::new(SearchControl::unlimited()));
        assert!(quick.choose(&line, &mut stream(1, &["stop"])).is_ok());
    }
}
