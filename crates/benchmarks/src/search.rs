//! Search: MCTS, the exact endgame, alpha-beta in the midgame, and the savings and cost of ProbCut.

use super::basics::random_positions;
use super::{BenchmarkRow, min_wall_seconds};
use anyhow::{Context, Result, ensure};
use outflank_analysis::DiscScale;
use outflank_analysis::GameText;
use outflank_analysis::game_analysis::{EXACT_FROM, GameAnalyzer};
use outflank_games::othello::{Board, Othello, Square};
use outflank_games::{Line, Position};
use outflank_models::{Evaluate, embedded as models};
use outflank_players::endgame::Solver;
use outflank_players::{
    AlphaBeta, IterativeDeepening, Mcts, Player, ProbCut, SearchControl, SearchResult, SearchScore,
};
use outflank_records::{embedded, obf};
use outflank_runs::{files, parallel_in_order, rng, thread_cpu_seconds};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Midgame positions with 40, 36, 32 and 28 empty squares.
const MIDGAMES: [&str; 4] = [
    "---------------------O----XXO-----XOXX----OO-------------------- X: \
     e6f4f6e7d7b5e3b3g5e8c8c7f8g8",
    "------------------XO-O-----OO------OX------XX-----X------------- X: \
     e3d2c2f2c4c5d1c6f5b4b3f4e2a3a5a4a2f1",
    "------------------X--O-----XO------OX------OX-----XO------------ X: \
     e3f4c4f5f6c5b6e2g5c6d3c8e7h6h4g6f7f8g4h3e8d8",
    "-------------O---XXXOX-----OX------XO--------------------------- X: \
     c4c5d6c7e2f4c6d1f6b5b4d7c2b6e1c1a6a5a4d2b1f5g6g5e8a2",
];

/// Binary logarithm of the number of entries of the transposition table.
const TABLE_BITS: u32 = 19;

/// Measurement of ProbCut: positions of the embedded games, the depth, the thresholds in standard
/// deviations, and the extra depth of the search that evaluates a changed move.
const POSITIONS: usize = 300;
const DEPTH: u32 = 8;
const THRESHOLDS: [f32; 3] = [1.0, 1.5, 2.0];
const DEEPER: u32 = 2;

/// Runs the search benchmarks.
pub fn measure(rows: &mut Vec<BenchmarkRow>, data: Option<&Path>) -> Result<()> {
    tree_search(rows);
    endgame(rows)?;
    ffo_endgames(rows, data)?;
    super::selective::measure(rows, data)?;
    analysis(rows)?;
    let model: Arc<dyn Evaluate<Othello>> = models::champion().context("there is no champion")?;
    let prob_cuts = THRESHOLDS.map(|threshold| Arc::new(ProbCut::measure(&model, threshold)));
    midgame(rows, &model, &prob_cuts[1])?;
    pruning(rows, &model, &prob_cuts)
}

fn tree_search(rows: &mut Vec<BenchmarkRow>) {
    let mut rng = rng::stream(1, &["bench"]);
    let simulations = 5000;
    let mut mcts = Mcts::<Othello>::new(simulations);
    let seconds = min_wall_seconds(5, || {
        black_box(mcts.choose(&Line::default(), &mut rng).ok());
    });
    rows.push(BenchmarkRow {
        area: "search",
        name: "MCTS from the starting position, random playouts, one thread".to_owned(),
        value: f64::from(simulations) / seconds,
        unit: "simulations/s",
        reference: String::new(),
        ratio: None,
    });
}

fn endgame(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let mut rng = rng::stream(3, &["bench"]);
    let boards: Vec<Board> = random_positions(6000, &mut rng)
        .into_iter()
        .filter(|position| position.empties() == 14)
        .take(40)
        .map(|position| position.board())
        .collect();
    ensure!(!boards.is_empty(), "no position has 14 empty squares");
    let mut nodes = 0;
    let seconds = min_wall_seconds(2, || {
        let mut solver = Solver::new(16);
        nodes = 0;
        for &board in &boards {
            solver.clear();
            black_box(solver.score(board));
            nodes += solver.nodes();
        }
    });
    rows.push(BenchmarkRow {
        area: "search",
        name: format!("exact endgame, {} random positions with 14 empties", boards.len()),
        value: nodes as f64 / seconds,
        unit: "nodes/s",
        reference: format!("{:.1} ms per position", 1000.0 * seconds / boards.len() as f64),
        ratio: None,
    });
    Ok(())
}

/// FFO endgames 40 to 44, a common benchmark.
fn ffo_endgames(rows: &mut Vec<BenchmarkRow>, data: Option<&Path>) -> Result<()> {
    let Some(data) = data else { return Ok(()) };
    let path = data.join("endgames").join("fforum-40-59.obf");
    if !path.is_file() {
        return Ok(());
    }
    let bytes = files::read(&path, 1 << 20)?;
    let (mut seconds, mut nodes) = (0.0, 0);
    for entry in obf::entries(&bytes).take(5) {
        let entry = entry.with_context(|| path.display().to_string())?;
        let mut solver = Solver::new(entry.position.empties().min(20) + 3).with_model_ordering();
        let began = thread_cpu_seconds();
        let score = solver.score(entry.position.board());
        seconds += thread_cpu_seconds() - began;
        nodes += solver.nodes();
        let published = entry.scores.iter().map(|scored| scored.1).max();
        ensure!(
            published == Some(score),
            "{}: {score}, but the file has {published:?}",
            entry.position
        );
    }
    rows.push(BenchmarkRow {
        area: "search",
        name: format!("FFO 40 to 44 solved, {:.0} million nodes, one thread", nodes as f64 / 1e6),
        value: seconds,
        unit: "s",
        reference: "stored: Edax 4.6, 5.2 s as published".to_owned(),
        ratio: Some(5.2 / seconds.max(1e-9)),
    });
    Ok(())
}

/// Analysis of a whole game, as `outflank analyze` does.
fn analysis(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let games = embedded::games();
    let game =
        games.iter().find(|game| game.plies().len() == 60).context("no game has 60 moves")?;
    let line = game.to_line();
    let model: Arc<dyn Evaluate<Othello>> = models::champion().context("there is no champion")?;
    let mut last = None;
    let seconds = min_wall_seconds(3, || {
        let analyzer = GameAnalyzer::new(Arc::clone(&model), EXACT_FROM, 2).with_probcut(1.5);
        let moves = analyzer.analyze(&line, DEPTH, |_| true);
        last = moves.and_then(|moves| moves.last().and_then(|last| last.value_after()));
    });
    let score = game.end().tournament_score().map(f64::from);
    ensure!(
        last.is_some() && last == score,
        "a game with final score {score:?} was evaluated as {last:?}"
    );
    rows.push(BenchmarkRow {
        area: "search",
        name: format!(
            "analysis of a game of 60 moves, {DEPTH} plies, exact from {EXACT_FROM} empties, two threads"
        ),
        value: seconds,
        unit: "s",
        reference: "target: 10 s".to_owned(),
        ratio: Some(10.0 / seconds.max(1e-9)),
    });
    Ok(())
}

fn search(
    model: &Arc<dyn Evaluate<Othello>>,
    prob_cut: Option<&Arc<ProbCut>>,
) -> IterativeDeepening<Othello> {
    let search = IterativeDeepening::new(Arc::clone(model), TABLE_BITS);
    match prob_cut {
        Some(prob_cut) => search.with_probcut(Arc::clone(prob_cut)),
        None => search,
    }
}

/// Nodes as Edax counts them: positions searched, evaluated, or generated for move ordering.
fn edax_nodes(result: &SearchResult<Square>) -> u64 {
    result.nodes + result.evaluated
}

/// Speed and depth of one thread in one second.
fn midgame(
    rows: &mut Vec<BenchmarkRow>,
    model: &Arc<dyn Evaluate<Othello>>,
    prob_cut: &Arc<ProbCut>,
) -> Result<()> {
    for (name, prob_cut) in [("no ProbCut", None), ("ProbCut at 1.5 sigma", Some(prob_cut))] {
        let mut search = search(model, prob_cut);
        let (mut depths, mut positions, mut nodes, mut seconds) = (Vec::new(), 0, 0, 0.0);
        for moves in MIDGAMES {
            let position = *Othello::parse_game(moves)?.position();
            if prob_cut.is_none() {
                check_value(model, &position)?;
            }
            let control = Arc::new(SearchControl::unlimited().with_time(Duration::from_secs(1)));
            let began = thread_cpu_seconds();
            // The last iteration is interrupted without a node count, so only complete ones are
            // counted.
            let mut spent = 0.0;
            let result = search.run(&position, false, &control, |_| {
                spent = thread_cpu_seconds() - began;
            });
            let result = result.context("no depth was completed within a second")?;
            seconds += spent;
            positions += edax_nodes(&result);
            nodes += result.nodes;
            depths.push(f64::from(result.depth));
        }
        let each: Vec<String> = depths.iter().map(|depth| format!("{depth:.0}")).collect();
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("alpha-beta with champion, {name}, one thread"),
            value: positions as f64 / seconds.max(1e-9),
            unit: "nodes/s",
            reference: format!(
                "nodes as Edax counts them; {:.0} searched nodes/s",
                nodes as f64 / seconds.max(1e-9)
            ),
            ratio: None,
        });
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("depth in one second, {} midgames, {name}", MIDGAMES.len()),
            value: depths.iter().sum::<f64>() / depths.len() as f64,
            unit: "plies",
            reference: format!("by position: {}", each.join(" ")),
            ratio: None,
        });
    }
    Ok(())
}

/// Checks that iterative deepening returns the value of plain alpha-beta of the same depth.
fn check_value(model: &Arc<dyn Evaluate<Othello>>, position: &Othello) -> Result<()> {
    let mut rng = rng::stream(1, &["bench"]);
    let mut plain = AlphaBeta::new(Arc::clone(model), 5);
    let expected = plain.search(position, &mut rng).map(|(score, _)| score);
    let control = Arc::new(SearchControl::unlimited());
    let mut deepening = search(model, None).with_max_depth(5);
    let result = deepening.run(position, false, &control, |_| {});
    let found = result.and_then(|result| result.moves.first().map(|scored| scored.score));
    ensure!(found == expected, "two searches of {position} disagree: {found:?} and {expected:?}");
    Ok(())
}

/// One position per game, from the opening to where endgames are usually solved.
fn sample() -> Vec<Othello> {
    let games = embedded::games();
    let stride = (games.len() / POSITIONS).max(1);
    let ply = |index: usize| 12 + (index * 7) % 32;
    let records = games.iter().step_by(stride).take(POSITIONS).enumerate();
    records.filter_map(|(index, record)| Some(record.steps().nth(ply(index))?.0)).collect()
}

/// The effect of one threshold in one position.
#[derive(Clone, Copy, Default)]
struct PruningEffect {
    nodes: u64,
    /// Loss of a changed move in discs (negative if it was better), and whether the game is decided
    /// after one of the two moves.
    changed: Option<(f64, bool)>,
}

/// Nodes without ProbCut, and the effect of each threshold.
type Measured = (u64, [PruningEffect; THRESHOLDS.len()]);

fn pruning(
    rows: &mut Vec<BenchmarkRow>,
    model: &Arc<dyn Evaluate<Othello>>,
    prob_cuts: &[Arc<ProbCut>; THRESHOLDS.len()],
) -> Result<()> {
    let positions = sample();
    ensure!(positions.len() > POSITIONS / 2, "there are too few embedded games");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<Measured> = Vec::new();
    parallel_in_order(
        positions.len(),
        threads,
        || (),
        |(), index| measure_position(&positions[index], model, prob_cuts),
        |_, measured| {
            all.extend(measured);
            true
        },
    );
    ensure!(all.len() == positions.len(), "a position could not be searched");
    let sum = |of: &dyn Fn(&Measured) -> u64| all.iter().map(of).sum::<u64>() as f64;
    let full_nodes = sum(&|measured| measured.0);
    for (index, threshold) in THRESHOLDS.iter().enumerate() {
        let left = 100.0 * sum(&|measured| measured.1[index].nodes) / full_nodes;
        let changed: Vec<(f64, bool)> =
            all.iter().filter_map(|measured| measured.1[index].changed).collect();
        // Results of decided games and estimates are not averaged together.
        let losses: Vec<f64> =
            changed.iter().filter(|(_, decided)| !decided).map(|(loss, _)| *loss).collect();
        let decided = changed.len() - losses.len();
        let mean = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let largest = losses.iter().copied().fold(0.0, f64::max);
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("ProbCut at {threshold:.1} sigma, depth {DEPTH}: nodes searched"),
            value: left,
            unit: "%",
            reference: format!("without ProbCut, {} positions of embedded games", all.len()),
            ratio: Some(100.0 / left.max(1e-9)),
        });
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("ProbCut at {threshold:.1} sigma, depth {DEPTH}: move changed"),
            value: 100.0 * changed.len() as f64 / all.len() as f64,
            unit: "%",
            reference: format!(
                "loss {mean:.2} discs on average, {largest:.1} at most, by a full search {DEEPER} plies \
                 deeper; {decided} more moves decide the game"
            ),
            ratio: None,
        });
    }
    Ok(())
}

fn measure_position(
    position: &Othello,
    model: &Arc<dyn Evaluate<Othello>>,
    prob_cuts: &[Arc<ProbCut>; THRESHOLDS.len()],
) -> Option<Measured> {
    let control = Arc::new(SearchControl::unlimited());
    let best_move = |prob_cut: Option<&Arc<ProbCut>>| {
        let mut search = search(model, prob_cut).with_max_depth(DEPTH);
        let result = search.run(position, false, &control, |_| {})?;
        Some((result.moves.first()?.mv, edax_nodes(&result)))
    };
    let (chosen, full_nodes) = best_move(None)?;
    let mut effects = [PruningEffect::default(); THRESHOLDS.len()];
    let mut evaluated: Vec<(Square, (f64, bool))> = Vec::new();
    for (effect, prob_cut) in effects.iter_mut().zip(prob_cuts) {
        let (other, nodes) = best_move(Some(prob_cut))?;
        effect.nodes = nodes;
        if other != chosen {
            let mut value_of = |mv: Square| match evaluated.iter().find(|(done, _)| *done == mv) {
                Some(&(_, value)) => Some(value),
                None => {
                    let value = evaluate_move(position, mv, model)?;
                    evaluated.push((mv, value));
                    Some(value)
                }
            };
            let (first, second) = (value_of(chosen)?, value_of(other)?);
            effect.changed = Some((first.0 - second.0, first.1 || second.1));
        }
    }
    Some((full_nodes, effects))
}

/// The value of a move in discs by a deeper full search, and whether the game is decided after it.
fn evaluate_move(
    position: &Othello,
    mv: Square,
    model: &Arc<dyn Evaluate<Othello>>,
) -> Option<(f64, bool)> {
    let (side, after) = (position.to_move(), position.play(mv));
    let sign = if after.to_move() == side { 1.0 } else { -1.0 };
    if let Some(score) = after.tournament_score() {
        return Some((f64::from(side.sign() * score), true));
    }
    let mut search = search(model, None).with_max_depth(DEPTH + DEEPER - 1);
    let result = search.run(&after, false, &Arc::new(SearchControl::unlimited()), |_| {})?;
    let score: SearchScore = result.moves.first()?.score;
    let decided = matches!(score, SearchScore::Proven(_));
    let discs = DiscScale::for_model(model).to_discs(score, position, result.depth)?;
    Some((sign * f64::from(discs), decided))
}
