//! Yelluri, "Gaussian Process Preference Learning for Creating Board Game Heuristics" (2015):
//! paper 2.

pub mod fig1;
pub mod fig2;
pub mod fig3;

use crate::Scale;
use crate::lab::{ExperimentError, Lab};
use crate::many::{learn_all, learn_one, seed_of};
use crate::statistics::{ENOUGH, Mean};
use outflank_games::Game;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_learners::gp::{
    GameOracleConfig, GpEvaluator, GameOracle, GpLearner, GpError, InferenceConfig, Sampling, GpConfig, HeuristicSpace, TestPairs,
};
use outflank_learners::training::{Evaluator, TrainingPlan, Measurement};
use outflank_models::NamedFeatures;
use outflank_models::files::Origin;
use outflank_players::registry::RegisteredGame;

/// Rounds (Figures 1 and 2), test pairs (Figure 1), benchmark heuristics and opponents of a new
/// heuristic (section 4.2), games of a comparison and the depth of the search (section 4).
const ROUNDS: u64 = 100;
const TESTS: usize = 1000;
const BENCHMARK: usize = 50;
const OPPONENTS: usize = 5;
const GAMES: u32 = 3;
const DEPTH: u32 = 4;

/// Heuristics to begin with: 2 in section 4.1, 5 in section 4.2.
const INITIAL_FOR_PAIRS: usize = 2;
const INITIAL_FOR_OPPONENTS: usize = 5;

/// Random moves at the start of a game and seeds of each curve; both are ours.
const OPENING: u32 = 2;
const SEEDS: u64 = 10;

/// A way to choose what is compared.
#[derive(Clone, Copy, Debug)]
struct Way {
    name: &'static str,
    sampling: Sampling,
    /// Whether the opponents of a new heuristic are chosen like the pair, rather than at random.
    opponents: bool,
}

/// The ways side by side; the paper's is the first.
const WAYS: [Way; 4] = [
    Way { name: "BALD", sampling: Sampling::Bald, opponents: false },
    Way { name: "BALD throughout", sampling: Sampling::Bald, opponents: true },
    Way { name: "random", sampling: Sampling::Random, opponents: false },
    Way { name: "uncertainty", sampling: Sampling::Uncertainty, opponents: false },
];

/// Those whose opponents are random.
const PLAIN: [Way; 3] = [WAYS[0], WAYS[2], WAYS[3]];

/// How much of everything a scale has.
struct Size {
    rounds: u64,
    seeds: u64,
    tests: usize,
    benchmark: usize,
    depth: u32,
}

fn size(scale: Scale) -> Size {
    Size {
        rounds: scale.choose(3, ROUNDS, ROUNDS),
        seeds: scale.choose(2, SEEDS, SEEDS),
        tests: scale.choose(20, TESTS, TESTS),
        benchmark: scale.choose(4, BENCHMARK, BENCHMARK),
        depth: scale.choose(1, DEPTH, DEPTH),
    }
}

/// What a round looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Find {
    /// A new pair (section 4.1).
    Pair,
    /// An opponent for the best so far (section 4.2).
    Opponent,
}

/// One run: its measurements by name, and the score of its best against fresh heuristics.
struct Run {
    columns: Vec<String>,
    curve: Vec<Measurement>,
    fresh: Option<f64>,
}

impl Run {
    /// A figure after so many rounds.
    fn at(&self, round: u64, name: &str) -> f64 {
        let column = self.columns.iter().position(|known| known == name);
        let point = self.curve.iter().find(|point| point.games == round);
        let found = column.zip(point).and_then(|(column, point)| point.scores.get(column));
        found.copied().unwrap_or(f64::NAN)
    }
}

/// All runs of one way to choose pairs.
struct Runs {
    /// The way, as [`WAYS`] names it.
    way: &'static str,
    runs: Vec<Run>,
}

impl Runs {
    /// A figure of every run.
    fn at(&self, round: u64, name: &str) -> Vec<f64> {
        self.runs.iter().map(|run| run.at(round, name)).collect()
    }
}

/// The rounds that tables show: every tenth, the first and the last.
fn shown(rounds: u64) -> Vec<u64> {
    (0..=rounds).filter(|round| round % 10 == 0 || *round == rounds).collect()
}

fn contest(lab: &Lab, seed: u64) -> GameOracleConfig {
    GameOracleConfig { depth: size(lab.scale).depth, games: GAMES, opening: OPENING, seed }
}

/// The file of the test pairs of a game.
fn tests_file(game: Game) -> String {
    format!("tests-{game}.tsv")
}

/// The test pairs, the same for every seed and every way to choose.
fn tests<P: RegisteredGame + NamedFeatures>(lab: &Lab) -> Result<TestPairs, ExperimentError> {
    let games = GameOracle::<P>::new(contest(lab, lab.seed));
    let count = size(lab.scale).tests;
    let path = lab.keep(&tests_file(P::GAME));
    Ok(TestPairs::play_journaled(&games, count, &path, |found| {
        (lab.say)(&format!("{}: {found} of {count} test pairs", P::GAME));
    })?)
}

/// The test pairs of both games, where they are needed.
type BothTests = (TestPairs, TestPairs);

/// Learns every run of these ways for both games; what was learned before, in whole or in part, is
/// taken up again. Gives the runs of Othello, then those of checkers.
fn learn(
    lab: &Lab,
    find: Find,
    ways: &[Way],
    tests: Option<&BothTests>,
) -> Result<[Vec<Runs>; 2], ExperimentError> {
    let seeds = size(lab.scale).seeds as usize;
    let sent: Vec<String> = match tests {
        Some(_) => [Game::Othello, Game::Checkers].map(tests_file).into(),
        None => Vec::new(),
    };
    let all = learn_all(lab, 2 * ways.len(), seeds, &sent, |method, run| {
        let way = &ways[method % ways.len()];
        match method < ways.len() {
            true => one_run::<Othello>(lab, find, way, tests.map(|both| &both.0), run),
            false => one_run::<Checkers>(lab, find, way, tests.map(|both| &both.1), run),
        }
    })?;
    let mut all = all.into_iter();
    let mut next = || -> Vec<Runs> {
        let some = ways.iter().zip(all.by_ref());
        some.map(|(way, runs)| Runs { way: way.name, runs }).collect()
    };
    Ok([next(), next()])
}

fn one_run<P: RegisteredGame + NamedFeatures>(
    lab: &Lab,
    find: Find,
    way: &Way,
    tests: Option<&TestPairs>,
    number: usize,
) -> Result<Run, ExperimentError> {
    let size = size(lab.scale);
    let what = if find == Find::Pair { "pair" } else { "opponent" };
    let ways = way.name.to_lowercase().replace(' ', "-");
    let seed = seed_of(lab, number);
    // The test pairs belong to the measurement, and so to the name of what may be shared.
    let measured = tests.map_or_else(String::new, |tests| format!("-{}-tests", tests.len()));
    let Size { rounds, depth, .. } = size;
    let extent = format!("{rounds}-rounds-depth-{depth}{measured}");
    let name = format!("gp-{}-{what}-{ways}-{extent}-seed-{seed}", P::GAME);
    let folder = lab.learned(&name);
    let settings = GpConfig {
        dimensions: P::FEATURES.len(),
        space: HeuristicSpace::Directions,
        initial: if find == Find::Pair { INITIAL_FOR_PAIRS } else { INITIAL_FOR_OPPONENTS },
        opponents: OPPONENTS,
        choose_opponents: way.opponents,
        sampling: way.sampling,
        against_best: find == Find::Opponent,
        restarts: 8,
        inference: InferenceConfig { tolerance: 1e-4, sweeps: 100, steps: 10, relevance: false },
        seed,
    };
    let benchmark = if find == Find::Pair { 0 } else { size.benchmark };
    let mut gp = GpLearner::<P>::new(settings, contest(lab, seed), benchmark)?;
    let gauge = GpEvaluator { tests: tests.cloned() };
    let plan = TrainingPlan {
        games: size.rounds,
        unit: "round",
        measurements: size.rounds,
        measure_start: true,
        origin: Origin {
            method: "gp".to_owned(),
            seed: Some(seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: format!("{} rounds, {}, {what}", size.rounds, way.name),
        },
        keep_models: false,
    };
    let trained = learn_one(&mut gp, &gauge, &plan, &folder, &name)?;
    let columns = Evaluator::<GpLearner<P>>::columns(&gauge).into_iter().map(|column| column.name).collect();
    let fresh = if benchmark > 0 { Some(gp.held_out_score()?) } else { None };
    Ok(Run { columns, curve: trained.curve, fresh })
}

impl From<GpError> for ExperimentError {
    fn from(error: GpError) -> ExperimentError {
        match error {
            GpError::Stopped => ExperimentError::Stopped,
            other => ExperimentError::Learn(other.to_string()),
        }
    }
}

/// The name of a game at the beginning of a row.
fn title(game: Game) -> &'static str {
    match game {
        Game::Othello => "Othello",
        Game::Checkers => "checkers",
    }
}

/// The spread of single runs: their standard deviation.
fn deviation(mean: Mean) -> f64 {
    mean.error * (mean.count as f64).sqrt()
}

/// By how much one way is ahead of another, seed by seed.
fn ahead(game: Game, (a, x): (&str, &[f64]), (b, y): (&str, &[f64]), of: &str) -> String {
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    let mean = Mean::of(&differences);
    let (value, error) = (mean.value, mean.half_width());
    let verdict = match value {
        _ if mean.count < ENOUGH => "too few runs to tell",
        value if value > error => "ahead",
        value if value < -error => "behind",
        _ => "not told apart",
    };
    let title = title(game);
    format!("{title}, {of}: {a} against {b} {value:+.2} ± {error:.2}: {verdict}.")
}

/// Where every exhibit of this paper departs from it.
fn departures(scale: Scale) -> Vec<String> {
    let size = size(scale);
    let mut all = vec![
        "The paper does not list its features: ours are eight for Othello (discs, mobility, \
         potential mobility, corners, X-squares, C-squares, edges, frontier) and six for checkers \
         (men, kings, back row, centre, advancement, mobility), one's own less the opponent's."
            .to_owned(),
        format!(
            "\"Each game is played 3 times\" would repeat one game of players without chance: \
             each of the three has an opening of {OPENING} random moves of its own, no mirror image \
             of another, colours alternate, and the majority decides."
        ),
        "Heuristics are told apart by the ratios of their weights, since a search plays the same \
         with all multiples of a heuristic; the paper's kernel sees the weights themselves."
            .to_owned(),
        "BALD is maximised within bounds and with restarts; its entropy is in bits. It chooses one \
         comparison of a round, the opponents of new heuristics being random, as in the paper; \
         \"BALD throughout\" chooses those too, each the most telling of a fifth of all known."
            .to_owned(),
        format!(
            "Means of {} runs; the paper shows one. Intervals are 95% of the mean.",
            size.seeds
        ),
    ];
    if scale == Scale::Smoke {
        all.push(format!(
            "{} rounds at depth {}: this scale shows only that everything runs.",
            size.rounds, size.depth
        ));
    }
    all
}
