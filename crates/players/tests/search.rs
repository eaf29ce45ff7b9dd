//! The searches against plain definitions of what they should find.

#[path = "support/positions.rs"]
mod positions;

use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_models::{self as models, Evaluate};
use outflank_players::endgame::Solver;
use outflank_players::registry::factory;
use outflank_players::{
    AlphaBeta, SearchControl, ProbCut, IterativeDeepening, PlayerError, Greedy, Player, Random, Searchable, SearchScore,
};
use outflank_runs::rng::stream;
use outflank_runs::{RngExt, Rng};
use positions::{Pieces, random_position};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Men and kings, with many ties.
struct Men;

impl Evaluate<Checkers> for Men {
    fn value(&self, position: &Checkers, side: Side) -> f32 {
        let count = |side| {
            position.men(side).count_ones() as f32 + 1.5 * position.kings(side).count_ones() as f32
        };
        count(side) - count(side.other())
    }
}

/// An opinion that follows from nothing but the hash, in so many shades; what is good for one side
/// need not be bad for the other.
struct Whim(u64);

impl<P: Position> Evaluate<P> for Whim {
    fn value(&self, position: &P, side: Side) -> f32 {
        let mut hasher = DefaultHasher::new();
        (position, side).hash(&mut hasher);
        (hasher.finish() % self.0) as f32 - (self.0 / 2) as f32
    }
}

/// Any decided game outweighs every evaluation of these tests.
const DECIDED: f64 = 1e9;

/// The worth of a move to its mover, as minimax defines it.
fn minimax<P: Searchable>(model: &dyn Evaluate<P>, position: &P, mv: P::Move, depth: u32) -> f64 {
    let side = position.to_move();
    let after = position.play(mv);
    if let Some(result) = after.result() {
        let result = f64::from(side.sign() * result);
        return if result == 0.0 { 0.0 } else { result.signum() * DECIDED + result };
    }
    if depth == 1 {
        return f64::from(model.value(&after, side));
    }
    let best = after.moves().map(|mv| minimax(model, &after, mv, depth - 1)).fold(-1e30, f64::max);
    if after.to_move() == side { best } else { -best }
}

fn equals_minimax<P: Searchable>(
    model: Arc<dyn Evaluate<P>>,
    depth: u32,
    positions: u32,
    latest: u32,
    seed: u64,
) {
    let mut rng = stream(seed, &["minimax"]);
    let mut player = AlphaBeta::new(Arc::clone(&model), depth);
    for _ in 0..positions {
        let plies = rng.below(latest);
        let position: P = random_position(plies, &mut rng);
        let all: Vec<(P::Move, f64)> =
            position.moves().map(|mv| (mv, minimax(&*model, &position, mv, depth))).collect();
        let best = all.iter().map(|&(_, worth)| worth).fold(-1e30, f64::max);
        let mut ties: Vec<P::Move> =
            all.iter().filter(|(_, worth)| *worth >= best - 1e-6).map(|&(mv, _)| mv).collect();
        ties.sort_unstable();
        let (verdict, moves) = player.search(&position, &mut rng).unwrap();
        let worth = match verdict {
            SearchScore::Estimate(value) => f64::from(value),
            SearchScore::Proven(margin) => f64::from(margin.signum()) * DECIDED + f64::from(margin),
        };
        assert_eq!(worth, best, "depth {depth}, {position}");
        assert_eq!(moves, ties, "depth {depth}, {position}");
    }
}

#[test]
fn alpha_beta_equals_minimax_in_othello() {
    // Random games have passes and early ends enough from move 45 on.
    for (depth, positions) in [(1, 200), (2, 100), (3, 40), (4, 12), (5, 2)] {
        equals_minimax::<Othello>(Arc::new(Pieces), depth, positions, 60, 1);
        equals_minimax::<Othello>(Arc::new(Whim(5)), depth, positions, 60, 2);
        equals_minimax::<Othello>(Arc::new(Whim(100_003)), depth, positions, 60, 3);
    }
}

#[test]
fn alpha_beta_equals_minimax_in_checkers() {
    for (depth, positions) in [(1, 200), (2, 100), (3, 60), (4, 30), (5, 10), (6, 3)] {
        equals_minimax::<Checkers>(Arc::new(Men), depth, positions, 80, 4);
        equals_minimax::<Checkers>(Arc::new(Whim(5)), depth, positions, 80, 5);
        equals_minimax::<Checkers>(Arc::new(Whim(100_003)), depth, positions, 80, 6);
    }
}

#[test]
fn with_all_moves_in_sight_alpha_beta_agrees_with_the_solver() {
    let mut rng = stream(7, &["sight"]);
    let mut solver = Solver::new(12);
    let mut player = AlphaBeta::<Othello>::new(Arc::new(Pieces), 60);
    for _ in 0..40 {
        let position: Othello = random_position(52, &mut rng);
        let solved = solver.outcome(position.board());
        let seen = match player.search(&position, &mut rng).unwrap().0 {
            SearchScore::Proven(margin) => margin.cmp(&0),
            SearchScore::Estimate(value) => {
                assert_eq!(value, 0.0);
                Ordering::Equal
            }
        };
        assert_eq!(seen, solved, "{position}");
    }
}

#[test]
fn noise_moves_the_choice_and_follows_the_seed() {
    let line = Line::new(random_position::<Othello>(20, &mut stream(8, &["noise"])));
    let mut player = AlphaBeta::<Othello>::new(Arc::new(Pieces), 3).with_noise(5.0);
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

/// Chi-square of the first move over the four symmetric ones, three degrees of freedom.
fn first_moves(player: &mut dyn Player<Othello>, seed: u64) -> f64 {
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
    // A right rule exceeds 16.3 once in a thousand seeds.
    let mut greedy = Greedy::new(Arc::new(models::Greedy(Pieces)));
    assert!(first_moves(&mut greedy, 1) < 16.3);
    for depth in [1, 2, 3] {
        assert!(first_moves(&mut AlphaBeta::new(Arc::new(Pieces), depth), 2) < 16.3);
    }
}

#[test]
fn depth_one_is_greedy_except_for_finished_games() {
    let mut rng = stream(9, &["depth one"]);
    let mut greedy = Greedy::<Othello>::new(Arc::new(models::Greedy(Pieces)));
    let mut search = AlphaBeta::<Othello>::new(Arc::new(Pieces), 1);
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
    // Turning over White's last two discs from b2 wins at once, but a piece counter dislikes b2.
    let rows = ["--------", "--OX----", "--O-----", "---X----"];
    let board = format!("{}{} X", rows.concat(), "-".repeat(32));
    let line = Line::new(board.parse::<Othello>().unwrap());
    let (verdict, best) = search.search(line.position(), &mut rng).unwrap();
    let b2: Square = "b2".parse().unwrap();
    // All 64 squares go to the winner of a game that White has no disc left in.
    assert_eq!((verdict, best), (SearchScore::Proven(64), &[b2][..]));
    assert_ne!(greedy.choose(&line, &mut rng), Ok(b2));
}

/// The exact score for the side to move, by trying everything.
fn brute_force(position: &Othello) -> i32 {
    let side = position.to_move();
    let after = position.moves().map(|mv| {
        let after = position.play(mv);
        match brute_force(&after) {
            score if after.to_move() == side => score,
            score => -score,
        }
    });
    after.max().unwrap_or_else(|| position.score().map_or(0, |score| side.sign() * score))
}

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
        assert_eq!(solver.outcome(board), score.cmp(&0), "{position}");
        for _ in 0..10 {
            let alpha = rng.below(128) as i32 - 64;
            let beta = alpha + 1 + rng.below(12) as i32;
            let found = solver.window(board, alpha, beta);
            if found <= alpha {
                assert!(score <= found, "{position} ({alpha}, {beta})");
            } else if found >= beta {
                assert!(score >= found, "{position} ({alpha}, {beta})");
            } else {
                assert_eq!(found, score, "{position} ({alpha}, {beta})");
            }
        }
        let by_hand: Vec<(Square, i32)> = position
            .moves()
            .map(|mv| {
                let after = position.play(mv);
                let same = after.to_move() == position.to_move();
                (mv, if same { 1 } else { -1 } * brute_force(&after))
            })
            .collect();
        assert_eq!(solver.move_scores(board), by_hand, "{position}");
        let mut best = Vec::new();
        assert_eq!(solver.best_moves(board, &mut best), score);
        let by_hand: Vec<Square> =
            by_hand.into_iter().filter(|m| m.1 == score).map(|m| m.0).collect();
        assert_eq!(best, by_hand, "{position}");
    }
}

/// Neither the guide nor threads that race change an answer; a stop gives none.
#[test]
fn guides_threads_and_stops() {
    let mut rng = stream(11, &["guided"]);
    let (mut plain, mut guided) = (Solver::new(14), Solver::new(14).with_model_ordering().with_threads(3));
    for _ in 0..6 {
        let board = random_position::<Othello>(44, &mut rng).board();
        let score = plain.score(board);
        assert_eq!(guided.score(board), score);
        let free = Arc::new(SearchControl::unlimited());
        let best = guided.try_best_move(board, score, &free).expect("a move");
        assert_eq!(plain.score(board.play(best)), -score);
    }
    let board = random_position::<Othello>(36, &mut rng).board();
    for mut solver in [Solver::new(14), Solver::new(14).with_model_ordering().with_threads(2)] {
        let few = Arc::new(SearchControl::unlimited().with_nodes(20_000));
        assert_eq!(solver.try_score(board, &few), None);
        // Threads look up every 4,096 positions each.
        assert!(solver.nodes() < 60_000, "{}", solver.nodes());
    }
}

/// Without limits and pruning, deepening finds what alpha-beta of its last depth finds, on any number
/// of threads; when every move is judged, each has its own minimax value.
#[test]
fn deepening_finds_what_alpha_beta_finds() {
    fn check<P: Searchable>(model: Arc<dyn Evaluate<P>>, plies: u32, rng: &mut Rng) {
        let free = Arc::new(SearchControl::unlimited());
        for round in 0..12 {
            let position: P = random_position(6 + round * 3, rng);
            if position.is_over() {
                continue;
            }
            let mut plain = AlphaBeta::new(model.clone(), plies);
            let (worth, best) = plain.search(&position, rng).expect("not over");
            let best = best.to_vec();
            for threads in [1, 3] {
                let search = IterativeDeepening::new(model.clone(), 14).with_max_depth(plies);
                let mut search = search.with_threads(threads);
                let mut depths = Vec::new();
                let found = search.run(&position, false, &free, |t| depths.push(t.depth));
                let found = found.expect("a thought");
                assert_eq!(found.moves[0].verdict, worth, "{position}");
                assert!(best.contains(&found.moves[0].mv), "{position}");
                assert_eq!(found.pv[0], found.moves[0].mv);
                assert_eq!(depths, (1..=*depths.last().unwrap()).collect::<Vec<_>>());
                let all = search.run(&position, true, &free, |_| {}).expect("a thought");
                assert_eq!(all.moves.len(), position.moves().count());
                if all.depth == plies {
                    assert_eq!(all.moves[0].verdict, worth, "{position}");
                }
            }
        }
    }
    let mut rng = stream(20, &["deepening"]);
    check::<Othello>(Arc::new(Pieces), 5, &mut rng);
    check::<Checkers>(Arc::new(models::Material::default()), 5, &mut rng);
}

#[test]
fn deepening_stops_at_its_limits_and_solves_the_end() {
    let mut rng = stream(21, &["limits"]);
    let position: Othello = random_position(20, &mut rng);
    let few = Arc::new(SearchControl::unlimited().with_nodes(3_000));
    let mut search = IterativeDeepening::new(Arc::new(Pieces), 14);
    let thought = search.run(&position, false, &few, |_| {}).expect("a ply was possible");
    assert!(few.stopped() && thought.depth > 1 && thought.nodes < 6_000, "{thought:?}");
    // The same limit finds the same.
    let again = Arc::new(SearchControl::unlimited().with_nodes(3_000));
    assert_eq!(search.run(&position, false, &again, |_| {}), Some(thought));

    let late: Othello = random_position(48, &mut rng);
    let mut search = search.with_endgame(Othello::parallel_endgame_solver(16, 2).expect("Othello has one"));
    let free = Arc::new(SearchControl::unlimited());
    let thought = search.run(&late, true, &free, |_| {}).expect("a thought");
    assert!(thought.exact);
    let mut scores = Solver::new(12).move_scores(late.board());
    scores.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let found: Vec<(Square, i32)> = thought
        .moves
        .iter()
        .map(|judged| match judged.score {
            SearchScore::Proven(margin) => (judged.mv, margin),
            SearchScore::Estimate(_) => panic!("an endgame is decided"),
        })
        .collect();
    assert_eq!(found, scores);
}

/// Pruning saves positions, and seldom changes the move or its worth.
#[test]
fn pruning_saves_and_seldom_errs() {
    let champion: Arc<dyn Evaluate<Othello>> = models::embedded::champion().expect("embedded");
    let cuts = Arc::new(ProbCut::measure(&champion, 1.5));
    assert_eq!(*cuts, ProbCut::measure(&champion, 1.5), "the same every time");
    // Later searches err by more in the units of this model, deeper shallow ones by less.
    assert!(cuts.margin(2, 8) > 0.0 && cuts.margin(2, 8).is_finite());
    let mut rng = stream(22, &["cuts"]);
    let free = Arc::new(SearchControl::unlimited());
    let (mut with, mut without, mut same) = (0, 0, 0);
    for round in 0..16 {
        let position: Othello = random_position(10 + 2 * round, &mut rng);
        let think = |cuts: Option<Arc<ProbCut>>| {
            let mut search = IterativeDeepening::new(champion.clone(), 16).with_max_depth(7);
            if let Some(cuts) = cuts {
                search = search.with_probcut(cuts);
            }
            search.run(&position, false, &free, |_| {}).expect("a thought")
        };
        let (pruned, full) = (think(Some(cuts.clone())), think(None));
        with += pruned.nodes;
        without += full.nodes;
        same += u32::from(pruned.moves[0].mv == full.moves[0].mv);
    }
    assert!(with < without, "{with} {without}");
    assert!(same >= 12, "{same} of 16");
}

/// The same opinion in other units.
struct InUnits(f32);

impl Evaluate<Othello> for InUnits {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        self.0 * Pieces.value(position, side)
    }
}

/// A number of deviations asks the same of every model, whatever units it speaks in.
#[test]
fn pruning_does_not_depend_on_units() {
    let cuts = |units| {
        let model: Arc<dyn Evaluate<Othello>> = Arc::new(InUnits(units));
        ProbCut::measure(&model, 1.5)
    };
    let plain = cuts(1.0);
    // Powers of two round nothing.
    for units in [1024.0, 0.125] {
        let other = cuts(units);
        for (stage, depth) in (0..6).flat_map(|stage| (4..12).map(move |depth| (stage, depth))) {
            let ratio = other.margin(stage, depth) / plain.margin(stage, depth);
            assert!((ratio / units - 1.0).abs() < 1e-5, "{units}: {stage}, {depth}: {ratio}");
        }
    }
}

/// Black's f5 looks best for five plies, but White's d7 leaves two black discs and takes all of them. What
/// the whole search knows to be decided, pruning must not hide.
#[test]
fn pruning_does_not_hide_a_wipe_out() {
    let text = "-----------O-O-----XOO-----XOOOO---XX-----OXXO------------------ X";
    let position: Othello = text.parse().unwrap();
    let champion: Arc<dyn Evaluate<Othello>> = models::embedded::champion().expect("embedded");
    let free = Arc::new(SearchControl::unlimited());
    let decided = |search: IterativeDeepening<Othello>| {
        let thought = search.with_max_depth(8).think(&position, true, &free, |_| {}).expect("a thought");
        let moves = thought.moves.into_iter();
        let known = moves.filter(|judged| matches!(judged.score, SearchScore::Proven(_)));
        known.map(|judged| (judged.mv.to_string(), judged.score)).collect::<Vec<_>>()
    };
    let whole = decided(IterativeDeepening::new(champion.clone(), 16));
    assert_eq!(whole, [("f5".to_owned(), SearchScore::Proven(-64))]);
    for times in [1.0, 1.5, 2.0] {
        let cuts = Arc::new(ProbCut::measure(&champion, times));
        assert_eq!(decided(IterativeDeepening::new(champion.clone(), 16).with_probcut(cuts)), whole, "{times}");
    }
}

/// The score for the opponent if it were their turn, whether or not they can move.
fn pass_score(position: &Othello) -> i32 {
    let opponent = position.to_move().other();
    let black = position.discs(Side::Black);
    let white = position.discs(Side::White);
    let turned = Othello::from_discs(black, white, opponent).unwrap();
    if turned.to_move() == opponent { brute_force(&turned) } else { -brute_force(&turned) }
}

#[test]
fn finished_and_full_boards_have_a_score() {
    let mut solver = Solver::new(4);
    let mut best = vec![Square::new(0).unwrap()];
    // Black has 33 discs of a full board; White has nothing left on the second.
    let full = Othello::from_discs((1 << 33) - 1, !((1 << 33) - 1), Side::Black).unwrap();
    assert_eq!(solver.best_moves(full.board(), &mut best), 2);
    assert!(best.is_empty());
    let wiped = Othello::from_discs(0xff, 0, Side::White).unwrap();
    assert_eq!(solver.score(wiped.board()), -64);
    assert_eq!(solver.outcome(wiped.board()), Ordering::Less);
}

#[test]
fn the_solver_needs_the_same_nodes_after_clearing() {
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
fn the_published_endgames_are_solved() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    let path = std::path::Path::new(&data).join("endgames").join("fforum-1-19.obf");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    // Without optimisation all of them would take a minute.
    let count = if cfg!(debug_assertions) { 7 } else { 19 };
    let mut solver = Solver::new(18);
    let mut solved = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(count) {
        let (board, moves) = line.split_once(';').unwrap();
        let position: Othello = board.parse().unwrap();
        let scores = solver.move_scores(position.board());
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

#[test]
fn an_exact_endgame_keeps_the_score() {
    let mut rng = stream(14, &["exact"]);
    for _ in 0..10 {
        let mut line = Line::new(random_position::<Othello>(52, &mut rng));
        let side = line.position().to_move();
        let value = brute_force(line.position());
        let endgame = Othello::endgame_solver(10).unwrap();
        let mut exact = AlphaBeta::new(Arc::new(Whim(5)), 1).with_endgame(endgame);
        let verdict = exact.search(line.position(), &mut rng).unwrap().0;
        assert_eq!(verdict, SearchScore::Proven(value));
        while !line.position().is_over() {
            let mv = if line.position().to_move() == side {
                exact.choose(&line, &mut rng).unwrap()
            } else {
                Random.choose(&line, &mut rng).unwrap()
            };
            line.push(mv).unwrap();
        }
        // Against any defence the outcome is at least the value.
        assert!(side.sign() * line.position().score().unwrap() >= value);
    }
}

/// What the search finds decided is what the solver says: both count the empty squares for the winner.
#[test]
fn the_search_and_the_solver_count_alike() {
    let mut rng = stream(15, &["count"]);
    for _ in 0..40 {
        // Twelve plies before the end many lines end early, with empty squares.
        let position = random_position::<Othello>(54, &mut rng);
        let control = Arc::new(SearchControl::unlimited());
        let mut search = IterativeDeepening::new(Arc::new(Pieces), 12).with_max_depth(position.empties());
        let thought = search.run(&position, true, &control, |_| {}).unwrap();
        let scores = Solver::new(12).move_scores(position.board());
        assert_eq!(thought.moves.len(), scores.len());
        for judged in thought.moves {
            let (_, score) = scores.iter().find(|(square, _)| *square == judged.mv).unwrap();
            match judged.score {
                SearchScore::Proven(result) => assert_eq!(result, *score, "{position} {}", judged.mv),
                // Only a draw is told as an estimate.
                SearchScore::Estimate(value) => assert_eq!((value, *score), (0.0, 0), "{position}"),
            }
        }
    }
}

/// Choices that would take years end when they are told to.
#[test]
fn players_who_think_can_be_stopped() {
    for text in [
        "heuristic@40",
        "heuristic@4e40",
        "heuristic?seconds=86400",
        "random@mcts100000000",
        "heuristic@40?random=0.000001",
        "random?stage=1-60&with=heuristic@40",
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
        // With a control that goes on, it plays again.
        let mut quick = factory::<Othello>("heuristic@2e4").unwrap().make().unwrap();
        quick.obey(&control);
        assert!(quick.choose(&line, &mut stream(1, &["stop"])).is_err());
        quick.obey(&Arc::new(SearchControl::unlimited()));
        assert!(quick.choose(&line, &mut stream(1, &["stop"])).is_ok());
    }
}
