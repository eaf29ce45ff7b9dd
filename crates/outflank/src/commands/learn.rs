//! `outflank learn`: learns a player, measures it, writes a run folder, says what to do next.
//!
//! Three things may take long, and each is kept once it is there: the model (with how it was
//! learned, in `learned.toml`), every game of the league (in `games.tsv`), and the report, which is
//! made from the two.

mod kept;
mod parts;
mod sittings;
mod task;

use crate::Outcome;
use crate::cli::LearnArgs;
use crate::games::{Source, source};
use crate::output::{print, print_json, room};
use anyhow::Result;
use kept::Notes;
use outflank_arena::accuracy::{Hits, accuracy};
use outflank_arena::league::{League, play_league};
use outflank_arena::{ContestConfig, ratings};
use outflank_games::othello::Othello;
use outflank_games::{Game, Line};
use outflank_learners::methods::{self, Method, MethodOptions, TrainingData};
use outflank_models::{self as models, Evaluate, Greedy, Policy, Tuples};
use outflank_players::registry::{self, Model, RegisteredGame};
use outflank_presentation::{self as present, CurvePoint, TrainingResult};
use outflank_records::Decision;
use outflank_runs::{Journal, Progress, RunFolder, stop_requested, install_stop_handler};
use parts::Parts;
use serde_json::json;
use sittings::Sittings;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// The share of random moves in the league, without which players would repeat themselves.
const RANDOM: f64 = 0.1;

/// On so many choices of each kind a player is measured while it learns.
const WATCHED: usize = 10_000;

/// After so many steps it is measured after every tenth only.
const WATCHED_STEPS: u32 = 50;

/// Learns, measures, writes, prints.
pub fn run(args: &LearnArgs) -> Result<Outcome> {
    let began = Instant::now();
    super::data::pool(args.common.threads())?;
    let args = &task::resolved(args);
    let options = task::options(args)?;
    let (tuples, file) = task::features(args)?;
    let source = source(&args.records, args.common.seed)?;
    let parts = parts::parts(args, &source)?;
    let folder = task::open_folder(args, &options, &source, file)?;
    install_stop_handler();
    let kept = kept::is_kept(&folder);
    let learned = if kept { None } else { Some(learn(args, &options, tuples, &parts, &folder)) };
    let path = folder.path().display().to_string();
    if stop_requested() {
        eprintln!("stopped while learning; go on with: outflank learn --resume {path}");
        return Ok(Outcome::Stopped);
    }
    let (model, notes) = match learned {
        None => kept::recall(&folder)?,
        Some(Ok((model, notes))) => {
            kept::keep(args, &source, &folder, &model, &notes)?;
            Sittings::forget(&folder);
            (model, notes)
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
            "stopped after {played} of {total} games; go on with: outflank learn --resume {path}"
        );
        return Ok(Outcome::Stopped);
    }
    let learning = measure(args, &options, &source, parts, model, notes, &league)?;
    write(args, &options, &folder, &learning)?;
    show(args, &folder, &learning, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// A few choices of many, in order.
fn watched(items: &[Decision<Othello>]) -> Vec<Decision<Othello>> {
    let choices: Vec<&Decision<Othello>> = items.iter().filter(|d| !d.is_forced()).collect();
    let step = choices.len().div_ceil(WATCHED).max(1);
    choices.into_iter().step_by(step).copied().collect()
}

/// Learns, measuring the player on the way.
fn learn(
    args: &LearnArgs,
    options: &MethodOptions,
    tuples: Tuples,
    parts: &Parts,
    folder: &RunFolder,
) -> Result<(models::Model, Notes)> {
    let (method, games) = (args.method.0, &parts.learned);
    let most = methods::max_iterations(method, options, games.len());
    let unit = methods::iteration_unit(method, options);
    let one_by_one = options.is_online(method);
    let (most, unit) = match one_by_one {
        true => (most * parts.train.len() as u64, "choices"),
        false => (most, unit),
    };
    let progress = Progress::new("learning", unit, most, args.common.quiet);
    let sittings = Sittings::new(folder, &progress)?;
    let samples = [watched(parts.train.items()), watched(parts.test.items())];
    let mut curve: Vec<CurvePoint> = Vec::new();
    let mut done = 0;
    let choices = parts.train.items();
    let task = TrainingData { games, choices, tuples, counts: task::counts(args), store: &sittings };
    let outcome = methods::learn(method, task, options, args.common.seed, &mut |step| {
        if !one_by_one {
            progress.add(u64::from(step.iteration - done));
        }
        done = step.iteration;
        if step.objective.is_finite() {
            progress.set_message(format!("{:.1}", step.objective));
        }
        let often = step.iteration <= WATCHED_STEPS || step.iteration.is_multiple_of(10);
        let player = step.model.filter(|_| often).and_then(|player| player());
        let policy = player.map(Greedy);
        let hits = |sample: &[Decision<Othello>]| -> Option<Hits> {
            policy.as_ref().map(|policy| accuracy(policy, sample).choices)
        };
        if step.model.is_some() || step.hits.is_some() {
            let counted = step.hits.map(|(hits, count)| Hits { hits, count });
            let (step, value, left) = (step.iteration, step.objective, step.residual);
            let [learned, held_out] = [hits(&samples[0]), hits(&samples[1])];
            let learned = learned.or(counted);
            curve.push(CurvePoint { iteration: step, objective: value, residual: left, training: learned, validation: held_out });
        }
        !stop_requested()
    })?;
    let notes = Notes {
        summary: outcome.summary,
        measure: outcome.objective_name.to_owned(),
        remarks: outcome.remarks,
        curve,
    };
    Ok((outcome.model, notes))
}

/// The names of the embedded players, but for heuristics of named features, which are made for a
/// search and say little at one ply, and for the deep network, which takes a thousand times longer for
/// a move than all the others.
fn references() -> impl Iterator<Item = &'static str> {
    registry::EMBEDDED_PLAYERS
        .iter()
        .filter(|known| known.game == Game::Othello)
        .filter(|known| !["heuristic", "policy network"].contains(&known.kind))
        .map(|known| known.name)
}

/// The embedded players that say what a position is worth.
fn valuers() -> impl Iterator<Item = (String, Arc<dyn Evaluate<Othello>>)> {
    references().filter_map(|name| match Othello::embedded(name) {
        Some(Model::Value(value)) => Some((name.to_owned(), value)),
        _ => None,
    })
}

/// A league of the new player and the embedded ones, from the start; and how many games it has.
fn play(
    args: &LearnArgs,
    folder: &RunFolder,
    policy: Arc<dyn Policy<Othello>>,
) -> Result<(League<Othello>, u64)> {
    let names: Vec<String> = references().map(str::to_owned).collect();
    let mut entries = vec![registry::policy_factory("learned", policy, RANDOM)];
    entries.extend(registry::factories::<Othello>(&names, RANDOM)?);
    let pairs = entries.len() * (entries.len() - 1) / 2;
    let total = args.games * pairs as u64;
    let terms = ContestConfig {
        openings: vec![Line::default()],
        rounds: (args.games / 2) as u32,
        seed: args.common.seed,
        threads: args.common.threads(),
        remote: None,
    };
    let journal = Journal::open(&folder.join("games.tsv"))?;
    let progress = Progress::new("playing", "games", total, args.common.quiet);
    progress.set_position((journal.1.len() as u64).min(total));
    let league = play_league(&entries, &terms, Some(journal), |_, new| progress.add(new))?;
    Ok((league, total))
}

/// Everything there is to say.
fn measure(
    args: &LearnArgs,
    options: &MethodOptions,
    source: &Source,
    parts: Parts,
    model: models::Model,
    notes: Notes,
    league: &League<Othello>,
) -> Result<TrainingResult> {
    let others: Vec<_> = valuers().collect();
    let policies = others.iter().map(|(name, value)| -> (String, Arc<dyn Policy<Othello>>) {
        (name.clone(), Arc::new(Greedy(Arc::clone(value))))
    });
    let accuracy = std::iter::once(("learned".to_owned(), model.policy()))
        .chain(policies)
        .map(|(name, policy)| (name, accuracy(&*policy, parts.test.items())))
        .collect();
    let choices = parts.test.items().iter().filter(|d| !d.is_forced()).copied().collect();
    Ok(TrainingResult {
        method: args.method.0.name().to_owned(),
        source: source.from.clone(),
        train_games: parts.learned.len(), test_games: parts.measured,
        train_choices: parts.train.len(),
        summary: notes.summary,
        remarks: parts.remarks.into_iter().chain(notes.remarks).collect(),
        objective_name: notes.measure,
        iteration_unit: methods::iteration_unit(args.method.0, options).to_owned(),
        curve: notes.curve,
        accuracy,
        matches: (1..league.names.len()).map(|other| league.match_report(0, other)).collect(),
        league: league.report(&ratings::RatingConfig::default())?,
        random: RANDOM,
        model,
        others,
        test_choices: choices,
    })
}

fn write(
    args: &LearnArgs,
    options: &MethodOptions,
    folder: &RunFolder,
    learning: &TrainingResult,
) -> Result<()> {
    let about = crate::folders::about(folder, task::typed(args, options))?;
    folder.write("curve.csv", present::curve_table(learning).to_csv().as_bytes())?;
    folder.write("accuracy.csv", present::stage_table(&learning.accuracy).to_csv().as_bytes())?;
    folder.write("matches.csv", present::match_list(&learning.matches).to_csv().as_bytes())?;
    folder.write("cross-table.csv", present::cross_table(&learning.league).to_csv().as_bytes())?;
    // Without the time it took: the same run gives the same bytes.
    let json = serde_json::to_string_pretty(&present::training_json(learning))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", present::training_page(learning, &about).as_bytes())?;
    Ok(())
}

fn show(args: &LearnArgs, folder: &RunFolder, learning: &TrainingResult, seconds: f64) -> Result<()> {
    let path = folder.path().display().to_string();
    if args.common.json {
        let mut value = present::training_json(learning);
        value["run"] = json!(path);
        value["model"] = json!(folder.join(kept::MODEL).display().to_string());
        value["seconds"] = json!(seconds);
        return print_json(&value);
    }
    let mut text = present::training_text(learning, room());
    let _ = writeln!(
        text,
        "{seconds:.1} s. The model, the curve and a page with pictures are in {path}."
    );
    let _ = writeln!(text, "Next: open {path}/report.html");
    // A rater of moves cannot say what a position is worth, so it does not search.
    let plies = if args.method.0 == Method::MovePredictor { "" } else { "@4" };
    let _ = writeln!(
        text,
        "      outflank match {path}{plies} heuristic{plies} --games 100 --random 0.1"
    );
    let _ = writeln!(text, "      outflank learn --features 1tuple, or --records your/games.wtb");
    print(&text)
}
