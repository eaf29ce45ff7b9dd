//! Experiments of Yelluri (2015), "Gaussian process preference learning for creating board game
//! heuristics".

pub mod fig1;
pub mod fig2;
pub mod fig3;

use crate::Scale;
use crate::context::{ExperimentContext, ExperimentError};
use crate::repeated_runs::{run_seed, train_all, train_run};
use crate::statistics::{MIN_RUNS, Mean};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Position};
use outflank_learners::gp::{
    Acquisition, GameOracle, GameOracleConfig, GpConfig, GpError, GpEvaluator, GpLearner,
    HeuristicSpace, InferenceConfig, TestPairs,
};
use outflank_learners::training::{Evaluator, Measurement, Schedule, TrainingPlan};
use outflank_models::NamedFeatures;
use outflank_models::files::Origin;
use outflank_players::registry::RegisteredGame;

/// Rounds (Figures 1 and 2).
const ROUNDS: u64 = 100;
/// Test pairs (Figure 1).
const TEST_PAIRS: usize = 1000;
/// Benchmark heuristics (section 4.2).
const BENCHMARK: usize = 50;
/// Opponents of a new heuristic (section 4.2).
const OPPONENTS: usize = 5;
/// Games per comparison (section 4).
const GAMES: u32 = 3;
/// Search depth (section 4).
const DEPTH: u32 = 4;

/// Initial heuristics in section 4.1.
const INITIAL_FOR_PAIRS: usize = 2;
/// Initial heuristics in section 4.2.
const INITIAL_FOR_OPPONENTS: usize = 5;

/// Random moves at the start of a game; not in the paper.
const OPENING_MOVES: u32 = 2;
/// Runs per curve; the paper shows one.
const RUNS: u64 = 10;

/// A strategy for choosing comparisons.
#[derive(Clone, Copy, Debug)]
struct Strategy {
    name: &'static str,
    acquisition: Acquisition,
    /// Whether the opponents of a new heuristic are chosen by the same strategy instead of at
    /// random.
    choose_opponents: bool,
}

/// The strategies to compare; the first is the paper's.
const STRATEGIES: [Strategy; 4] = [
    Strategy { name: "BALD", acquisition: Acquisition::Bald, choose_opponents: false },
    Strategy { name: "BALD throughout", acquisition: Acquisition::Bald, choose_opponents: true },
    Strategy { name: "random", acquisition: Acquisition::Random, choose_opponents: false },
    Strategy {
        name: "uncertainty",
        acquisition: Acquisition::Uncertainty,
        choose_opponents: false,
    },
];

/// The strategies with random opponents.
const RANDOM_OPPONENTS: [Strategy; 3] = [STRATEGIES[0], STRATEGIES[2], STRATEGIES[3]];

/// Budget and measurements of a scale.
struct ScaleParams {
    rounds: u64,
    runs: u64,
    test_pairs: usize,
    benchmark: usize,
    depth: u32,
}

fn scale_params(scale: Scale) -> ScaleParams {
    ScaleParams {
        rounds: scale.choose(3, ROUNDS, ROUNDS),
        runs: scale.choose(2, RUNS, RUNS),
        test_pairs: scale.choose(20, TEST_PAIRS, TEST_PAIRS),
        benchmark: scale.choose(4, BENCHMARK, BENCHMARK),
        depth: scale.choose(1, DEPTH, DEPTH),
    }
}

/// The target of the search in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchTarget {
    /// A new pair (section 4.1).
    Pair,
    /// An opponent of the best heuristic so far (section 4.2).
    Opponent,
}

/// The measurements of one run.
struct Run {
    columns: Vec<String>,
    curve: Vec<Measurement>,
    /// Score of the best heuristic against new random heuristics, not used in its selection.
    held_out_score: Option<f64>,
}

impl Run {
    /// Returns the measurement `name` after a round; NaN if there is none.
    fn at(&self, round: u64, name: &str) -> f64 {
        let column = self.columns.iter().position(|column| column == name);
        let point = self.curve.iter().find(|point| point.spent == round);
        let value = column.zip(point).and_then(|(column, point)| point.scores.get(column));
        value.copied().unwrap_or(f64::NAN)
    }
}

/// All runs of one strategy.
struct StrategyRuns {
    /// Name of the strategy.
    strategy: &'static str,
    runs: Vec<Run>,
}

impl StrategyRuns {
    /// Returns the measurement `name` of every run after a round.
    fn at(&self, round: u64, name: &str) -> Vec<f64> {
        self.runs.iter().map(|run| run.at(round, name)).collect()
    }
}

/// Returns the rounds that tables show: every tenth, the first and the last.
fn table_rounds(rounds: u64) -> Vec<u64> {
    (0..=rounds).filter(|round| round % 10 == 0 || *round == rounds).collect()
}

/// Returns the configuration of the games that compare two heuristics.
fn oracle_config(context: &ExperimentContext, seed: u64) -> GameOracleConfig {
    GameOracleConfig {
        depth: scale_params(context.scale).depth,
        games: GAMES,
        opening: OPENING_MOVES,
        seed,
    }
}

/// Returns the file name of the test pairs of a game.
fn test_pairs_file(game: Game) -> String {
    format!("tests-{game}.tsv")
}

/// Returns the test pairs of a game, which are the same for all runs and strategies.
fn test_pairs<P: RegisteredGame + NamedFeatures>(
    context: &ExperimentContext,
) -> Result<TestPairs, ExperimentError> {
    let games = GameOracle::<P>::new(oracle_config(context, context.seed));
    let count = scale_params(context.scale).test_pairs;
    let path = context.file(&test_pairs_file(P::GAME));
    Ok(TestPairs::play_journaled(&games, count, &path, |found| {
        (context.log)(&format!("{}: {found} of {count} test pairs", P::GAME));
    })?)
}

/// The test pairs of Othello and of checkers.
type BothTests = (TestPairs, TestPairs);

/// Trains every run of these strategies for both games and resumes unfinished runs. Returns the
/// runs of Othello and those of checkers; `None` if it trained only
/// [`ExperimentContext::only_run`].
fn train(
    context: &ExperimentContext,
    target: SearchTarget,
    strategies: &[Strategy],
    tests: Option<&BothTests>,
) -> Result<Option<[Vec<StrategyRuns>; 2]>, ExperimentError> {
    let runs = scale_params(context.scale).runs as usize;
    let needed_files: Vec<String> = match tests {
        Some(_) => [Othello::GAME, Checkers::GAME].map(test_pairs_file).into(),
        None => Vec::new(),
    };
    let all = train_all(context, 2 * strategies.len(), runs, &needed_files, |method, run| {
        let strategy = &strategies[method % strategies.len()];
        match method < strategies.len() {
            true => {
                train_one_run::<Othello>(context, target, strategy, tests.map(|both| &both.0), run)
            }
            false => {
                train_one_run::<Checkers>(context, target, strategy, tests.map(|both| &both.1), run)
            }
        }
    })?;
    let Some(all) = all else { return Ok(None) };
    let mut all = all.into_iter();
    let mut next = || -> Vec<StrategyRuns> {
        let runs = strategies.iter().zip(all.by_ref());
        runs.map(|(strategy, runs)| StrategyRuns { strategy: strategy.name, runs }).collect()
    };
    Ok(Some([next(), next()]))
}

fn train_one_run<P: RegisteredGame + NamedFeatures>(
    context: &ExperimentContext,
    target: SearchTarget,
    strategy: &Strategy,
    tests: Option<&TestPairs>,
    number: usize,
) -> Result<Run, ExperimentError> {
    let params = scale_params(context.scale);
    let what = if target == SearchTarget::Pair { "pair" } else { "opponent" };
    let strategy_name = strategy.name.to_lowercase().replace(' ', "-");
    let seed = run_seed(context, number);
    // The measurements depend on the number of test pairs, so the name of the folder includes it.
    let test_suffix = tests.map_or_else(String::new, |tests| format!("-{}-tests", tests.len()));
    let ScaleParams { rounds, depth, .. } = params;
    let budget = format!("{rounds}-rounds-depth-{depth}{test_suffix}");
    let name = format!("gp-{}-{what}-{strategy_name}-{budget}-seed-{seed}", P::GAME);
    let folder = context.player_folder(&name);
    let config = GpConfig {
        dimensions: P::FEATURES.len(),
        space: HeuristicSpace::Directions,
        initial: if target == SearchTarget::Pair {
            INITIAL_FOR_PAIRS
        } else {
            INITIAL_FOR_OPPONENTS
        },
        opponents: OPPONENTS,
        choose_opponents: strategy.choose_opponents,
        acquisition: strategy.acquisition,
        against_best: target == SearchTarget::Opponent,
        restarts: 8,
        inference: InferenceConfig {
            tolerance: 1e-4,
            ep_max_iterations: 100,
            kernel_max_iterations: 10,
            relevance: false,
        },
        seed,
    };
    let benchmark = if target == SearchTarget::Pair { 0 } else { params.benchmark };
    let mut gp = GpLearner::<P>::new(config, oracle_config(context, seed), benchmark)?;
    let evaluator = GpEvaluator { tests: tests.cloned() };
    let origin = Origin {
        method: "gp".to_owned(),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: format!("{} rounds, {}, {what}", params.rounds, strategy.name),
    };
    let plan = TrainingPlan {
        schedule: Schedule::Even(params.rounds),
        measure_start: true,
        ..TrainingPlan::new(params.rounds, "round", origin)
    };
    let trained = train_run(&mut gp, &evaluator, &plan, &folder, &name)?;
    let columns = Evaluator::<GpLearner<P>>::columns(&evaluator)
        .into_iter()
        .map(|column| column.name)
        .collect();
    let held_out_score = if benchmark > 0 { Some(gp.held_out_score()?) } else { None };
    Ok(Run { columns, curve: trained.curve, held_out_score })
}

impl From<GpError> for ExperimentError {
    fn from(error: GpError) -> ExperimentError {
        match error {
            GpError::Stopped => ExperimentError::Stopped,
            other => ExperimentError::training(other),
        }
    }
}

/// Returns the name of a game for the start of a row.
fn game_title(game: Game) -> &'static str {
    if game == Othello::GAME { "Othello" } else { game.name() }
}

/// Returns the published values of a game.
fn published<T: Copy>(values: &[(Game, T); 2], game: Game) -> T {
    let [othello, checkers] = values;
    if game == checkers.0 { checkers.1 } else { othello.1 }
}

/// Compares two strategies by the differences of runs with the same seed (paired t test, 95%).
fn compare_paired(
    game: Game,
    (a, x): (&str, &[f64]),
    (b, y): (&str, &[f64]),
    measure: &str,
) -> String {
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    let mean = Mean::of(&differences);
    let (value, error) = (mean.value, mean.half_width());
    let verdict = match value {
        _ if mean.count < MIN_RUNS => "too few runs to compare",
        value if value > error => "significantly better",
        value if value < -error => "significantly worse",
        _ => "not significant",
    };
    let title = game_title(game);
    format!("{title}, {measure}: {a} minus {b} {value:+.2} ± {error:.2}, {verdict}.")
}

/// Returns the departures common to all experiments of this paper.
fn departures(scale: Scale) -> Vec<String> {
    let params = scale_params(scale);
    let mut all = vec![
        "The paper does not list its features. Ours are eight for Othello (discs, mobility, \
         potential mobility, corners, X-squares, C-squares, edges, frontier) and six for checkers \
         (men, kings, back row, center, advancement, mobility), own minus opponent."
            .to_owned(),
        format!(
            "The paper plays each game three times, but deterministic players repeat the same game. Each \
             of our three games starts with {OPENING_MOVES} random moves, which differ even under symmetry; \
             colors alternate, and the majority decides."
        ),
        "The kernel compares the directions of the weight vectors, because a search plays the same with \
         all positive multiples of a heuristic; the paper's kernel compares the weights."
            .to_owned(),
        "The BALD criterion is maximized within bounds and with restarts; its entropy is in bits. BALD \
         chooses one comparison per round, and the opponents of new heuristics are random, as in the \
         paper. \"BALD throughout\" also chooses these opponents, each as the most informative of a \
         fifth of all heuristics."
            .to_owned(),
        format!(
            "Means of {} runs with 95% confidence intervals; the paper shows one run.",
            params.runs
        ),
    ];
    if scale == Scale::Smoke {
        all.push(format!(
            "{} rounds at depth {}: this scale only tests the code.",
            params.rounds, params.depth
        ));
    }
    all
}
