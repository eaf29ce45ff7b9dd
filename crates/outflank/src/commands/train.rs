//! `outflank train` with methods that train on games: trains a player, measures it, writes a run
//! folder.
//!
//! The model with its training log (`learned.toml`) and every game of the league (`games.tsv`) are
//! stored as soon as they exist. The report is built from them.

mod checkpoints;
mod model_store;
mod options;
mod split;

use crate::Outcome;
use crate::cli::TrainArgs;
use crate::game_source::{self, GameSource};
use crate::output::{print, print_json, set_threads, table_width};
use anyhow::Result;
use checkpoints::StageCheckpoints;
use model_store::TrainingLog;
use outflank_arena::accuracy::{Hits, accuracy};
use outflank_arena::league::{League, play_league};
use outflank_arena::{ContestConfig, ratings};
use outflank_games::othello::Othello;
use outflank_games::{Game, Line};
use outflank_learners::methods::{self, MethodOptions, TrainingData};
use outflank_models::{self as models, Evaluate, Greedy, Policy, Tuples};
use outflank_players::registry::{self, PlayerModel, RegisteredGame};
use outflank_presentation::{self as present, CurvePoint, TrainingResult};
use outflank_records::Decision;
use outflank_runs::{Journal, Progress, RunFolder, install_stop_handler, stop_requested};
use serde_json::json;
use split::TrainTestSplit;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// Probability of a random move in the league; without it deterministic players repeat their games.
const RANDOM: f64 = 0.1;

/// Maximum decisions of the training and the test set on which the accuracy is measured during
/// training.
const CURVE_SAMPLE: usize = 10_000;

/// Up to this iteration the accuracy is measured at each one, later at every tenth.
const DENSE_ITERATIONS: u32 = 50;

/// Trains a model, measures it, writes the run folder and prints the results.
pub fn run(args: &TrainArgs) -> Result<Outcome> {
    let began = Instant::now();
    set_threads(args.common.threads())?;
    let args = &options::with_defaults(args);
    let options = options::method_options(args)?;
    let (tuples, file) = options::features(args)?;
    let source = game_source::read(&args.records, args.common.seed)?;
    let split = split::split(args, &source)?;
    let folder = options::open_folder(args, &options, &source, file)?;
    install_stop_handler();
    let is_trained = model_store::exists(&folder);
    let trained =
        if is_trained { None } else { Some(train(args, &options, tuples, &split, &folder)) };
    let path = folder.path().display().to_string();
    if stop_requested() {
        eprintln!("stopped during training; resume with: outflank train --resume {path}");
        return Ok(Outcome::Stopped);
    }
    let (model, log) = match trained {
        None => model_store::load(&folder)?,
        Some(Ok((model, log))) => {
            model_store::save(args, &source, &folder, &model, &log)?;
            StageCheckpoints::remove(&folder);
            (model, log)
        }
        Some(Err(error)) => {
            folder.discard();
            return Err(error);
        }
    };
    let (league, total) = play(args, &folder, model.policy())?;
    if !league.complete {
        let played = league.games.len();
        eprintln!(
            "stopped after {played} of {total} games; resume with: outflank train --resume {path}"
        );
        return Ok(Outcome::Stopped);
    }
    let examples = examples_seen(args, &options, &split);
    let result = measure(args, &options, &source, split, model, log, &league)?;
    write(args, &options, &folder, &result, examples)?;
    show(args, &folder, &result, examples, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// Training examples processed, and epochs if the method has them.
type ExamplesSeen = (u64, Option<u32>);

fn examples_seen(
    args: &TrainArgs,
    options: &MethodOptions,
    split: &TrainTestSplit,
) -> ExamplesSeen {
    let examples = split.train.len() as u64;
    match options.is_online(args.method.0) {
        true => (examples * u64::from(options.epochs), Some(options.epochs)),
        false => (examples, None),
    }
}

/// An evenly spaced sample of the decisions with two or more legal moves.
fn curve_sample(items: &[Decision<Othello>]) -> Vec<Decision<Othello>> {
    let choices: Vec<&Decision<Othello>> = items.iter().filter(|d| !d.is_forced()).collect();
    let step = choices.len().div_ceil(CURVE_SAMPLE).max(1);
    choices.into_iter().step_by(step).copied().collect()
}

/// Trains the model and measures its accuracy during training.
fn train(
    args: &TrainArgs,
    options: &MethodOptions,
    tuples: Tuples,
    split: &TrainTestSplit,
    folder: &RunFolder,
) -> Result<(models::Model, TrainingLog)> {
    let (method, games) = (args.method.0, &split.train_games);
    let iterations = methods::max_iterations(method, options, games.len());
    let unit = methods::iteration_unit(method, options);
    let online = options.is_online(method);
    let (total, unit) = match online {
        true => (iterations * split.train.len() as u64, "examples"),
        false => (iterations, unit),
    };
    let progress = Progress::new("training", unit, total, args.common.quiet);
    let checkpoints = StageCheckpoints::new(folder, &progress);
    let samples = [curve_sample(split.train.items()), curve_sample(split.test.items())];
    let mut curve: Vec<CurvePoint> = Vec::new();
    let mut done = 0;
    let choices = split.train.items();
    let counts = options::counts(args);
    let data = TrainingData { games, choices, tuples, counts, store: &checkpoints };
    let outcome = methods::learn(method, data, options, args.common.seed, &mut |step| {
        if !online {
            progress.add(u64::from(step.iteration - done));
        }
        done = step.iteration;
        if step.objective.is_finite() {
            progress.set_message(format!("{:.1}", step.objective));
        }
        let measured = step.iteration <= DENSE_ITERATIONS || step.iteration.is_multiple_of(10);
        let player = step.model.filter(|_| measured).and_then(|player| player());
        let policy = player.map(Greedy);
        let hits = |sample: &[Decision<Othello>]| -> Option<Hits> {
            policy.as_ref().map(|policy| accuracy(policy, sample).choices)
        };
        if step.model.is_some() || step.hits.is_some() {
            let counted = step.hits.map(|(hits, count)| Hits { hits, count });
            let [training, validation] = [hits(&samples[0]), hits(&samples[1])];
            curve.push(CurvePoint {
                iteration: step.iteration,
                objective: step.objective,
                residual: step.residual,
                training: training.or(counted),
                validation,
            });
        }
        !stop_requested()
    })?;
    let log = TrainingLog {
        summary: outcome.summary,
        measure: outcome.objective_name.to_owned(),
        remarks: outcome.remarks,
        curve,
    };
    Ok((outcome.model, log))
}

/// The embedded players to measure against: all but the heuristics of named features, which need a
/// search, and the convolutional networks, which take a thousand times longer per move.
fn references() -> impl Iterator<Item = &'static str> {
    registry::EMBEDDED_PLAYERS
        .iter()
        .filter(|player| player.game == Game::Othello)
        .filter(|player| !["heuristic", "policy network"].contains(&player.kind))
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
    let mut factories = vec![registry::policy_factory("learned", policy, RANDOM)];
    factories.extend(registry::factories::<Othello>(&names, RANDOM)?);
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
    let league = play_league(&factories, &config, Some(journal), |_, new| progress.add(new))?;
    Ok((league, total))
}

/// Collects the results for the report.
fn measure(
    args: &TrainArgs,
    options: &MethodOptions,
    source: &GameSource,
    split: TrainTestSplit,
    model: models::Model,
    log: TrainingLog,
    league: &League<Othello>,
) -> Result<TrainingResult> {
    let references: Vec<_> = value_references().collect();
    let policies = references.iter().map(|(name, value)| -> (String, Arc<dyn Policy<Othello>>) {
        (name.clone(), Arc::new(Greedy(Arc::clone(value))))
    });
    let accuracy = std::iter::once(("learned".to_owned(), model.policy()))
        .chain(policies)
        .map(|(name, policy)| (name, accuracy(&*policy, split.test.items())))
        .collect();
    let choices = split.test.items().iter().filter(|d| !d.is_forced()).copied().collect();
    Ok(TrainingResult {
        method: args.method.0.name().to_owned(),
        source: source.from.clone(),
        train_games: split.train_games.len(),
        test_games: split.test_games,
        train_choices: split.train.len(),
        summary: log.summary,
        remarks: split.remarks.into_iter().chain(log.remarks).collect(),
        objective_name: log.measure,
        iteration_unit: methods::iteration_unit(args.method.0, options).to_owned(),
        curve: log.curve,
        accuracy,
        matches: (1..league.names.len()).map(|other| league.match_report(0, other)).collect(),
        league: league.report(&ratings::RatingConfig::default())?,
        random: RANDOM,
        model,
        references,
        test_choices: choices,
    })
}

/// The JSON document of the results.
fn document(result: &TrainingResult, (examples, epochs): ExamplesSeen) -> serde_json::Value {
    let mut value = present::training_json(result);
    value["examples_seen"] = json!(examples);
    value["epochs"] = json!(epochs);
    value
}

fn write(
    args: &TrainArgs,
    options: &MethodOptions,
    folder: &RunFolder,
    result: &TrainingResult,
    examples: ExamplesSeen,
) -> Result<()> {
    let about = crate::run_folder::provenance(folder, options::repeat_command(args, options))?;
    folder.write("curve.csv", present::curve_table(result).to_csv().as_bytes())?;
    folder.write("accuracy.csv", present::stage_table(&result.accuracy).to_csv().as_bytes())?;
    folder.write("matches.csv", present::match_list(&result.matches).to_csv().as_bytes())?;
    folder.write("cross-table.csv", present::cross_table(&result.league).to_csv().as_bytes())?;
    // Without the training time, so that the same run gives the same bytes.
    let json = serde_json::to_string_pretty(&document(result, examples))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", present::training_page(result, &about).as_bytes())?;
    Ok(())
}

fn show(
    args: &TrainArgs,
    folder: &RunFolder,
    result: &TrainingResult,
    examples: ExamplesSeen,
    seconds: f64,
) -> Result<()> {
    let path = folder.path().display().to_string();
    if args.common.json {
        let mut value = document(result, examples);
        value["run"] = json!(path);
        value["model"] = json!(folder.join(model_store::MODEL).display().to_string());
        value["seconds"] = json!(seconds);
        return print_json(&value);
    }
    let mut text = present::training_text(result, table_width());
    let _ =
        writeln!(text, "{seconds:.1} s. The model, the training curve and a report are in {path}.");
    let _ = writeln!(text, "Next: open {path}/report.html");
    // Without search: models trained on preferences play worse with it.
    let _ = writeln!(text, "      outflank match {path} heuristic --games 100 --random 0.1");
    let _ = writeln!(text, "      outflank train --features 1tuple, or --records your/games.wtb");
    print(&text)
}
