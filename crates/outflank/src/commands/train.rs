//! `outflank train` with methods that train on games: trains a player, measures it, writes a run
//! folder.
//!
//! The checkpoint, the model and every game of the league (`games.tsv`) are stored as soon as they
//! exist. The report is built from them.

mod old_run;
mod options;
mod split;

use super::train_play::{drive, time_limit_remark, training_remarks};
use crate::cli::TrainArgs;
use crate::game_source::{self, GameSource};
use crate::output::{print, print_json, set_threads, table_width};
use crate::progress::RunProgress;
use crate::run_folder::Budget;
use crate::{Outcome, VERSION};
use anyhow::Result;
use outflank_arena::accuracy::{BinomialCount, accuracy};
use outflank_arena::league::{League, play_league};
use outflank_arena::matches::MatchReport;
use outflank_arena::{ContestConfig, ratings};
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_learners::methods::{self, Method, MethodOptions, TrainingData};
use outflank_learners::training::{
    self, AccuracyEvaluator, Learner, Measurement, Schedule, TRAINING_ACCURACY, TrainingCounts,
    TrainingOutcome, TrainingPlan, VALIDATION_ACCURACY,
};
use outflank_models::files::Origin;
use outflank_models::{self as models, Evaluate, OnePlyPolicy, Policy, Tuples};
use outflank_players::registry::{self, PlayerModel, RegisteredGame};
use outflank_presentation::{self as present, CurvePoint, TrainingResult};
use outflank_records::Decision;
use outflank_runs::{Journal, Progress, RunFolder, install_stop_handler};
use serde_json::json;
use split::TrainTestSplit;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// File name of the model.
const MODEL_FILE: &str = "model.safetensors";

/// Probability of a random move in the league; without it deterministic players repeat their games.
const RANDOM_MOVES: f64 = 0.1;

/// The name of the trained player in results.
pub const TRAINED_PLAYER: &str = "trained";

/// The name of the trained player in journals. It seeds the games, so it is that of version 0.1.
pub const STORED_NAME: &str = "learned";

/// Up to this iteration the accuracy is measured at each one, later at every tenth.
const DENSE_ITERATIONS: u64 = 50;

/// Trains a model, measures it, writes the run folder and prints the results.
pub fn run(args: &TrainArgs) -> Result<Outcome> {
    let began = Instant::now();
    set_threads(args.common.threads())?;
    let args = &options::with_defaults(args);
    let mut options = options::method_options(args)?;
    args.trainer.check()?;
    let budget = options::budget(args, &mut options)?;
    let (tuples, file) = options::features(args)?;
    let source = game_source::read(&args.records, args.common.seed)?;
    let split = split::split(args, &source)?;
    let folder = options::open_folder(args, &options, &source, file, &budget)?;
    install_stop_handler();
    let path = folder.path().display().to_string();
    let trained = match train(args, &options, tuples, &split, &folder, &budget) {
        Ok(trained) => trained,
        Err(error) => {
            folder.discard();
            return Err(error);
        }
    };
    if !trained.measurable {
        eprintln!(
            "stopped after {} of {} {}; resume with: outflank train --resume {path}",
            trained.spent.0,
            trained.spent.1,
            methods::iteration_unit(args.method.0, &options)
        );
        return Ok(Outcome::Stopped);
    }
    let (league, total) = play(args, &folder, trained.model.policy())?;
    if !league.complete {
        let played = league.games.len();
        eprintln!(
            "stopped after {played} of {total} games; resume with: outflank train --resume {path}"
        );
        return Ok(Outcome::Stopped);
    }
    let stats = TrainingSetStats::new(args.method.0, &trained, &split);
    let result = measure(args, &options, &source, split, trained, &league)?;
    write(args, &options, &folder, &result, &stats)?;
    show(args, &folder, &result, &stats, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// The learner's counters, and statistics of the training set.
struct TrainingSetStats {
    counts: TrainingCounts,
    /// Number of distinct positions seen; `None` if training saw a part of the training set.
    distinct_positions: Option<usize>,
    /// Percentage of the test decisions whose position was seen.
    test_overlap: Option<f64>,
}

impl TrainingSetStats {
    fn new(method: Method, trained: &Trained, split: &TrainTestSplit) -> TrainingSetStats {
        let counts = trained.counts;
        // LSTD reads whole games, one after another; all other methods read all choices in each step.
        let positions: HashSet<Othello> = match method {
            Method::Lstd if !trained.complete => {
                return TrainingSetStats { counts, distinct_positions: None, test_overlap: None };
            }
            Method::Lstd => split.train_games.iter().flat_map(|g| g.steps().map(|s| s.0)).collect(),
            _ => split.train.items().iter().map(|decision| decision.position).collect(),
        };
        let test = split.test.items();
        let common = test.iter().filter(|decision| positions.contains(&decision.position)).count();
        TrainingSetStats {
            counts,
            distinct_positions: Some(positions.len()),
            test_overlap: Some(100.0 * common as f64 / test.len().max(1) as f64),
        }
    }
}

/// A trained model and how it was trained.
struct Trained {
    model: models::Model,
    summary: String,
    remarks: Vec<String>,
    objective_name: String,
    curve: Vec<CurvePoint>,
    counts: TrainingCounts,
    complete: bool,
    /// Whether the model is measured: the run is complete, or its time limit ended it.
    measurable: bool,
    spent: (u64, u64),
}

/// Trains the model and measures its accuracy during training.
fn train(
    args: &TrainArgs,
    options: &MethodOptions,
    tuples: Tuples,
    split: &TrainTestSplit,
    folder: &RunFolder,
    budget: &Budget,
) -> Result<Trained> {
    let (method, games) = (args.method.0, &split.train_games);
    let choices = split.train.items();
    if let Some(old) = old_run::load(folder, choices.len() as u64)? {
        return Ok(old);
    }
    let unit = methods::iteration_unit(method, options);
    let data = TrainingData { games, choices, tuples, counts: options::counts(args) };
    let mut learner = methods::learner(method, data, options, args.common.seed)?;
    old_run::import_stages(folder, options, &mut learner)?;
    let iterations = learner
        .planned_budget()
        .unwrap_or_else(|| methods::max_iterations(method, options, games.len()));
    let origin = Origin {
        method: options::stored_name(method).to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!("{}, features {}", split.source, args.features),
    };
    let plan = TrainingPlan {
        schedule: match method {
            Method::Lstd => Schedule::Even(1),
            _ => Schedule::Dense(DENSE_ITERATIONS),
        },
        time_limit: args.trainer.time_limit,
        checkpoint_interval: args.trainer.checkpoint_every,
        monitor: args.trainer.monitor(VALIDATION_ACCURACY),
        ..TrainingPlan::new(iterations, unit, origin)
    };
    let (validation, _) = validation_and_test(args, split.test.items());
    let evaluator = AccuracyEvaluator::new(choices, &validation);
    let bar = Progress::new("training", unit, iterations, args.common.quiet);
    let progress = RunProgress::new(folder, None, bar);
    let mut recorded = false;
    let message = |point: &Measurement| {
        point.scores.first().map_or_else(String::new, |objective| format!("{objective:.4}"))
    };
    let is_new = !training::has_checkpoint(folder.path());
    let outcome = drive(
        &mut learner,
        &evaluator,
        &plan,
        folder,
        progress,
        || {
            if !std::mem::replace(&mut recorded, true) {
                budget.record(folder)?;
            }
            Ok(())
        },
        message,
    )?;
    if outcome.is_measurable()
        && let Err(error) = methods::check_model(&outcome.model, choices)
    {
        if is_new {
            training::remove_outputs::<models::Model>(folder.path());
        }
        return Err(error.into());
    }
    let measurable = outcome.is_measurable();
    let mut remarks = learner.remarks();
    remarks.extend(training_remarks(&outcome, unit, budget));
    let resume = format!("--resume {}", folder.path().display());
    remarks.extend(time_limit_remark(&outcome, unit, &resume));
    Ok(Trained {
        summary: learner.summary(),
        objective_name: outcome.columns[0].name.clone(),
        curve: curve(&outcome, &evaluator),
        model: outcome.model,
        remarks,
        counts: outcome.counts,
        complete: outcome.complete,
        measurable,
        spent: outcome.spent,
    })
}

/// Divides the test decisions if the validation metric selects the model: the accuracy of the
/// selected model is then measured on decisions that did not select it. Otherwise both are all test
/// decisions, and the validation accuracy is the test accuracy.
fn validation_and_test(
    args: &TrainArgs,
    decisions: &[Decision<Othello>],
) -> (Vec<Decision<Othello>>, Vec<Decision<Othello>>) {
    if args.trainer.monitor("").is_none() {
        return (decisions.to_vec(), decisions.to_vec());
    }
    // The decisions are in the order of the games, so the halves are of different games, except one.
    let (validation, test) = decisions.split_at(decisions.len() / 2);
    (validation.to_vec(), test.to_vec())
}

/// The measurements as points of a training curve.
fn curve(
    outcome: &TrainingOutcome<models::Model>,
    evaluator: &AccuracyEvaluator,
) -> Vec<CurvePoint> {
    let at = |name: &str| outcome.columns.iter().position(|column| column.name == name);
    let objective = if at(TRAINING_ACCURACY) == Some(0) { None } else { Some(0) };
    let residual = ["residual", "gain per decision"].into_iter().find_map(at);
    let (training, validation) = (at(TRAINING_ACCURACY), at(VALIDATION_ACCURACY));
    let sizes = evaluator.sizes();
    let point = |point: &Measurement| {
        let value = |at: Option<usize>| at.map_or(f64::NAN, |at| point.scores[at]);
        let hits = |at: Option<usize>, count: usize| {
            at.map(|at| BinomialCount::from_percent(point.scores[at], count as u64))
        };
        CurvePoint {
            iteration: point.spent as u32,
            objective: value(objective),
            residual: value(residual),
            training: hits(training, sizes.0),
            validation: hits(validation, sizes.1),
        }
    };
    outcome.curve.iter().map(point).collect()
}

/// The embedded players to measure against: all but the heuristics of named features, which need a
/// search, and the convolutional networks, which take a thousand times longer per move.
fn references() -> impl Iterator<Item = &'static str> {
    registry::EMBEDDED_PLAYERS
        .iter()
        .filter(|player| player.game == Othello::GAME)
        .filter(|player| !["named features", "policy network"].contains(&player.kind))
        .map(|player| player.name)
}

/// The reference players that evaluate positions.
fn value_references() -> impl Iterator<Item = (String, Arc<dyn Evaluate<Othello>>)> {
    references().filter_map(|name| match Othello::embedded(name) {
        Some(PlayerModel::Value(value)) => Some((name.to_owned(), value)),
        _ => None,
    })
}

/// Plays a league of the trained player and the references; returns it with its number of games.
fn play(
    args: &TrainArgs,
    folder: &RunFolder,
    policy: Arc<dyn Policy<Othello>>,
) -> Result<(League<Othello>, u64)> {
    let names: Vec<String> = references().map(str::to_owned).collect();
    let mut factories = vec![registry::policy_factory(STORED_NAME, policy, RANDOM_MOVES)];
    factories.extend(registry::factories::<Othello>(&names, RANDOM_MOVES)?);
    let pairs = factories.len() * (factories.len() - 1) / 2;
    let total = args.match_games * pairs as u64;
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: (args.match_games / 2) as u32,
        seed: args.common.seed,
        threads: args.common.threads(),
        remote: None,
    };
    let journal = Journal::open(&folder.join("games.tsv"))?;
    let progress = Progress::new("playing", "games", total, args.common.quiet);
    progress.set_position((journal.1.len() as u64).min(total));
    let league = play_league(&factories, &config, Some(journal), |_, new| {
        progress.add(new);
        true
    })?;
    Ok((league, total))
}

/// Collects the results for the report.
fn measure(
    args: &TrainArgs,
    options: &MethodOptions,
    source: &GameSource,
    split: TrainTestSplit,
    trained: Trained,
    league: &League<Othello>,
) -> Result<TrainingResult> {
    let model = trained.model;
    let (_, test) = validation_and_test(args, split.test.items());
    let references: Vec<_> = value_references().collect();
    let policies = references.iter().map(|(name, value)| -> (String, Arc<dyn Policy<Othello>>) {
        (name.clone(), Arc::new(OnePlyPolicy(Arc::clone(value))))
    });
    let accuracy = std::iter::once((TRAINED_PLAYER.to_owned(), model.policy()))
        .chain(policies)
        .map(|(name, policy)| (name, accuracy(&*policy, &test)))
        .collect();
    let choices = test.iter().filter(|d| !d.is_forced()).copied().collect();
    let mut report = league.report(&ratings::RatingConfig::default())?;
    for standing in report.players.iter_mut().filter(|player| player.name == STORED_NAME) {
        standing.name = TRAINED_PLAYER.to_owned();
    }
    let match_report = |other: usize| {
        let a = TRAINED_PLAYER.to_owned();
        MatchReport { a, ..league.match_report(0, other) }
    };
    let ranked: Vec<&str> = report.players.iter().map(|player| player.name.as_str()).collect();
    Ok(TrainingResult {
        interpretation: interpretation(&ranked, split.train_games.len()),
        method: args.method.0.name().to_owned(),
        source: source.from.clone(),
        train_games: split.train_games.len(),
        test_games: split.test_games,
        train_choices: split.train.len(),
        summary: trained.summary,
        notes: split.remarks.into_iter().chain(trained.remarks).collect(),
        objective_name: trained.objective_name,
        iteration_unit: methods::iteration_unit(args.method.0, options).to_owned(),
        curve: trained.curve,
        accuracy,
        matches: (1..league.names.len()).map(match_report).collect(),
        league: report,
        random: RANDOM_MOVES,
        model,
        references,
        test_choices: choices,
    })
}

/// How the embedded players of the league were made.
const REFERENCE_TRAINING: [(&str, &str); 4] = [
    ("champion", "6.1 million games of self-play and against heuristic, on large patterns"),
    ("ipref", "6.3 million expert decisions on large patterns"),
    ("ann", "a million games of a neural network against a second one"),
    ("heuristic", "a published table of one weight per square"),
];

/// Describes the rank of the trained player in the league. `ranked` lists the players, best first.
fn interpretation(ranked: &[&str], games: usize) -> String {
    let Some(rank) = ranked.iter().position(|name| *name == TRAINED_PLAYER) else {
        return String::new();
    };
    let with_training = |names: &[&str]| {
        let of = |name: &&str| {
            let training = REFERENCE_TRAINING.iter().find(|(known, _)| known == name);
            training.map_or((*name).to_owned(), |(_, training)| format!("{name} ({training})"))
        };
        names.iter().map(of).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "The trained player is {} of {} in a league of players without search. It was trained on {} \
         games.",
        rank + 1,
        ranked.len(),
        crate::output::format_count(games as u64)
    );
    if rank > 0 {
        let _ = write!(text, " Above it: {}.", with_training(&ranked[..rank]));
    }
    if rank + 1 < ranked.len() {
        let _ = write!(text, " Below it: {}.", with_training(&ranked[rank + 1..]));
    }
    text + " More games, larger patterns (--features patterns --solver online) or self-play make a \
            stronger player."
}

/// The JSON document of the results.
fn result_json(result: &TrainingResult, stats: &TrainingSetStats) -> serde_json::Value {
    let mut value = present::training_json(result);
    value["examples_seen"] = json!(stats.counts.examples);
    value["epochs"] = json!(stats.counts.epochs);
    value["distinct_positions"] = json!(stats.distinct_positions);
    value["test_overlap"] = json!(stats.test_overlap);
    value
}

fn write(
    args: &TrainArgs,
    options: &MethodOptions,
    folder: &RunFolder,
    result: &TrainingResult,
    stats: &TrainingSetStats,
) -> Result<()> {
    let about = crate::run_folder::provenance(folder, options::repeat_command(args, options))?;
    folder.write("accuracy.csv", present::stage_table(&result.accuracy).to_csv().as_bytes())?;
    folder.write("matches.csv", present::matches_table(&result.matches).to_csv().as_bytes())?;
    folder.write("cross-table.csv", present::cross_table(&result.league).to_csv().as_bytes())?;
    // Without the training time, so that the same run gives the same bytes.
    let json = serde_json::to_string_pretty(&result_json(result, stats))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", present::training_page(result, &about).as_bytes())?;
    Ok(())
}

fn show(
    args: &TrainArgs,
    folder: &RunFolder,
    result: &TrainingResult,
    stats: &TrainingSetStats,
    seconds: f64,
) -> Result<()> {
    let path = folder.path().display().to_string();
    if args.common.json {
        let mut value = result_json(result, stats);
        value["run"] = json!(path);
        value["model"] = json!(folder.join(MODEL_FILE).display().to_string());
        value["seconds"] = json!(seconds);
        return print_json(&value);
    }
    let mut text = present::training_text(result, table_width());
    let _ =
        writeln!(text, "{seconds:.1} s. The model, the training curve and a report are in {path}.");
    let _ = writeln!(text, "Next: open {path}/report.html");
    // The suggested match uses no search, because values that were trained to rank moves play worse with
    // search.
    let _ = writeln!(text, "      outflank match {path} heuristic --games 100 --random 0.1");
    let _ = writeln!(text, "      outflank train --features 1tuple, or --records your/games.wtb");
    print(&text)
}
