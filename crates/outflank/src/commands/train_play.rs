//! `outflank train` with methods that play: trains a player, measures it during training, writes a
//! run folder.

mod ann;
mod coevolution;
mod gp;
mod gp_report;
mod labels;
mod person;
mod self_play;

use crate::cli::CommonArgs;
use crate::cli::train_play::{TrainMethod, TrainingArgs};
use crate::commands::train::{STORED_NAME, TRAINED_PLAYER};
use crate::contest_setup::model_file;
use crate::errors::ensure_usage;
use crate::output::{format_count, print, print_json, table_width};
use crate::progress::RunProgress;
use crate::remote::Workers;
use crate::run_folder::Budget;
use crate::{Outcome, VERSION, run_folder};
use anyhow::{Context, Result};
use outflank_arena::ContestConfig;
use outflank_arena::matches::{MatchReport, play_match};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::{
    EndReason, Evaluator, Learner, METRICS, Measurement, OpponentEvaluator, Schedule, Trainer,
    TrainingCounts, TrainingOutcome, TrainingPlan, model_name,
};
use outflank_models::files::Origin;
use outflank_models::{Model, Tuple};
use outflank_players::registry::{self, RegisteredGame};
use outflank_presentation as present;
use outflank_report::{Align, Board, Page, Plot, Section, Series, Table};
use outflank_runs::{
    DataFile, Progress, RunConfig, RunFolder, install_stop_handler, stop_requested,
};
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

/// The first opponent of the measurements during training.
const HEURISTIC: &str = "heuristic";

/// The opponents of the final matches.
const REFERENCES: [&str; 3] = ["heuristic", "yoshioka", "random"];

/// Probability of a random move in these games; without it deterministic players repeat their
/// games.
const RANDOM_MOVES: f64 = 0.1;

/// Upper limits, to catch typos.
const MAX_GAMES: u64 = 1_000_000_000_000;
const MAX_MATCH_GAMES: u32 = 10_000_000;
const MAX_MEASUREMENTS: u64 = 10_000;

/// Trains a player, measures it, writes the run folder and prints the results.
pub fn run(method: &TrainMethod) -> Result<Outcome> {
    match method {
        TrainMethod::Tdl(args) => coevolution::run("tdl", args),
        TrainMethod::Cel(args) => coevolution::run("cel", args),
        TrainMethod::Hof(args) => coevolution::run("hof", args),
        TrainMethod::Ptdl(args) => coevolution::run("ptdl", args),
        TrainMethod::Ctdl(args) => coevolution::run("ctdl", args),
        TrainMethod::Etdl(args) => coevolution::run("etdl", args),
        TrainMethod::SelfPlay(args) => self_play::run(args),
        TrainMethod::Labels(args) => labels::run(args),
        TrainMethod::Ann(args) => ann::run(args),
        TrainMethod::Gp(args) => gp::run(args),
        TrainMethod::Cnn(args) => super::train_cnn::run(args),
    }
}

/// A training run of a method.
struct TrainingJob<'a> {
    name: &'static str,
    /// The method in model files and event files.
    stored_name: &'static str,
    args: &'a TrainingArgs,
    /// Settings of the method, by option name.
    settings: toml::Table,
    /// Short description of the model, such as `shape 12x6`.
    model: String,
    /// Files that the run depends on.
    data: Vec<DataFile>,
    /// Remote workers that play the games.
    workers: Option<Workers>,
    /// The budget in games.
    budget: Budget,
    /// The metric of `--best` and `--patience`.
    monitor: &'static str,
}

impl TrainingJob<'_> {
    /// The budget in games.
    fn games(&self) -> u64 {
        self.budget.value as u64
    }
}

/// The budget in games, of a new run or of the one to resume.
fn budget(args: &TrainingArgs) -> Result<Budget> {
    Budget::new(&args.run, "games", args.games as f64)
}

/// Checks the budget and the measurements.
fn check(args: &TrainingArgs) -> Result<()> {
    ensure_usage!(
        (1..=MAX_GAMES).contains(&args.games),
        "--games is a budget of 1 to {MAX_GAMES} games, not {}",
        args.games
    );
    ensure_usage!(
        (1..=MAX_MEASUREMENTS).contains(&args.measurements),
        "--measurements is a number from 1 to {MAX_MEASUREMENTS}, not {}",
        args.measurements
    );
    ensure_usage!(
        args.match_games >= 2
            && args.match_games.is_multiple_of(2)
            && args.match_games <= MAX_MATCH_GAMES,
        "--match-games must be an even number from 2 to {MAX_MATCH_GAMES}, not {}",
        args.match_games
    );
    Ok(())
}

/// Trains until the budget is used up, then measures, writes and prints.
fn run_job<L: Learner>(job: &TrainingJob<'_>, mut learner: L) -> Result<Outcome>
where
    L::Model: Into<Model>,
{
    let began = Instant::now();
    let TrainingJob { name, args, .. } = job;
    let against = against(args);
    let factories = registry::factories::<Othello>(&against, RANDOM_MOVES)?;
    args.trainer.check()?;
    let folder = open_folder(job, &against)?;
    install_stop_handler();

    let origin = Origin {
        method: job.stored_name.to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!("{}, {} games", job.model, job.games()),
    };
    let plan = TrainingPlan {
        schedule: Schedule::Even(args.measurements),
        time_limit: args.trainer.time_limit,
        checkpoint_interval: args.trainer.checkpoint_every,
        monitor: args.trainer.monitor(job.monitor),
        ..TrainingPlan::new(job.games(), "games", origin)
    };
    let evaluator = OpponentEvaluator {
        opponents: factories,
        games: args.match_games,
        random: RANDOM_MOVES,
        seed: args.common.seed,
        threads: args.common.threads(),
    };
    let message = |point: &Measurement| {
        let scores = point.scores.iter().zip(&against);
        let scores = scores.map(|(score, other)| format!("{score:.1}% against {other}"));
        scores.collect::<Vec<_>>().join(", ")
    };
    let path = folder.path().display().to_string();
    let stopped = || {
        eprintln!("stopped; resume with: outflank train {name} --resume {path}");
        Ok(Outcome::Stopped)
    };
    let bar = Progress::new("training", plan.unit, plan.budget, args.common.quiet);
    let progress = RunProgress::new(&folder, job.workers.as_ref(), bar);
    let start = || job.budget.record(&folder);
    let trained = drive(&mut learner, &evaluator, &plan, &folder, progress, start, message)?;
    if !trained.is_measurable() {
        return stopped();
    }
    let mut remarks = training_remarks(&trained, plan.unit, &job.budget);
    remarks.extend(time_limit_remark(&trained, plan.unit, &format!("{name} --resume {path}")));
    let file = folder.join(&model_name::<L::Model>()).display().to_string();
    let trained_player = format!("{file}?name={STORED_NAME}");
    let references = REFERENCES.map(str::to_owned);
    let matches = play_references::<Othello>(
        &trained_player,
        &references,
        args.match_games,
        &args.common,
        RANDOM_MOVES,
    )?;
    if stop_requested() {
        return stopped();
    }
    let TrainingOutcome { model, curve, counts, spent: (games, _), .. } = trained;
    let model = model.into();
    let results = Results { job, against, model, file, games, curve, matches, counts, remarks };
    write(&folder, &results)?;
    show(&folder, &results, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// Runs a learner under the trainer and reports its progress. `on_start` is called once, when the
/// checkpoint of a resumed run has been accepted.
pub fn drive<L: Learner + ?Sized>(
    learner: &mut L,
    evaluator: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &RunFolder,
    progress: RunProgress,
    on_start: impl FnOnce() -> Result<()>,
    message: impl Fn(&Measurement) -> String,
) -> Result<TrainingOutcome<L::Model>> {
    let (mut seen, mut on_start, mut started) = (0, Some(on_start), Ok(()));
    let mut is_new = false;
    let trainer = Trainer::new(plan.clone());
    let trained = trainer.run(learner, evaluator, folder.path(), |status| {
        if let Some(on_start) = on_start.take() {
            progress.set_position(status.spent);
            started = on_start();
        } else {
            progress.add(status.spent - seen);
            // The results of an earlier call are those of another model.
            if status.spent > seen && !std::mem::replace(&mut is_new, true) {
                started = run_folder::remove_results(folder);
            }
        }
        seen = status.spent;
        if let Some(point) = status.last {
            progress.set_message(message(point));
        }
        started.is_ok()
    })?;
    started?;
    Ok(trained)
}

/// Says how training ended and what was resumed, where it is not as usual.
pub fn training_remarks<M>(
    trained: &TrainingOutcome<M>,
    unit: &str,
    budget: &Budget,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let at = |index: usize| trained.curve.get(index).map_or(0, |point| point.spent);
    if trained.end == EndReason::EarlyStop {
        remarks.push(format!(
            "Training stopped early after {} of {} {unit}: the validation metric no longer improved.",
            format_count(trained.spent.0),
            format_count(trained.spent.1)
        ));
    }
    if let Some(best) = trained.best.filter(|best| best + 1 < trained.curve.len()) {
        remarks.push(format!(
            "The model is that after {} {unit}, which has the best validation metric.",
            format_count(at(best))
        ));
    }
    remarks.extend(budget.remark());
    remarks
}

/// Says that the time limit ended training, and how to resume it.
pub fn time_limit_remark<M>(
    trained: &TrainingOutcome<M>,
    unit: &str,
    resume: &str,
) -> Option<String> {
    (trained.end == EndReason::TimeLimit).then(|| {
        format!(
            "The time limit ended training after {} of {} {unit}; to continue: outflank train {resume}",
            format_count(trained.spent.0),
            format_count(trained.spent.1)
        )
    })
}

/// The results of a run.
struct Results<'a> {
    job: &'a TrainingJob<'a>,
    against: Vec<String>,
    model: Model,
    /// Path of the model.
    file: String,
    /// The games of training, which may be more than those of the last measurement.
    games: u64,
    curve: Vec<Measurement>,
    matches: Vec<MatchReport>,
    counts: TrainingCounts,
    remarks: Vec<String>,
}

fn against(args: &TrainingArgs) -> Vec<String> {
    let mut against = vec![HEURISTIC.to_owned()];
    against.extend(args.against.iter().filter(|other| *other != HEURISTIC).cloned());
    against
}

fn open_folder(job: &TrainingJob<'_>, against: &[String]) -> Result<RunFolder> {
    let TrainingJob { name, args, settings, data, .. } = job;
    let mut table = settings.clone();
    table.insert("games".to_owned(), (args.games as i64).into());
    table.insert("measurements".to_owned(), (args.measurements as i64).into());
    table.insert("match-games".to_owned(), i64::from(args.match_games).into());
    for (name, value) in
        args.trainer.settings().into_iter().chain(args.trainer.time_limit_setting())
    {
        table.insert(name.to_owned(), value);
    }
    if against.len() > 1 {
        table.insert("against".to_owned(), against[1..].to_vec().into());
    }
    let config = RunConfig {
        command: (*name).to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings: table,
        data: against.iter().filter_map(|text| model_file(text)).chain(data.clone()).collect(),
    };
    run_folder::open_training(&args.run, &config, &["games", "time-limit"])
}

/// Plays a match of the trained player against each reference from the starting position, with random
/// moves.
fn play_references<P: RegisteredGame>(
    player: &str,
    others: &[String],
    games: u32,
    common: &CommonArgs,
    random: f64,
) -> Result<Vec<MatchReport>> {
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: games / 2,
        seed: common.seed,
        threads: common.threads(),
        remote: None,
    };
    let mut reports = Vec::new();
    for other in others {
        let factories = registry::factories::<P>(&[player.to_owned(), other.clone()], random)?;
        let pair = <[_; 2]>::try_from(factories).ok().context("a match has two players")?;
        let report = play_match(&pair, &config, None, None, |_, _| true)?.0;
        reports.push(MatchReport { a: TRAINED_PLAYER.to_owned(), ..report });
    }
    Ok(reports)
}

/// The JSON document of the results, without paths and times: the same run gives the same bytes.
fn as_json(results: &Results<'_>) -> serde_json::Value {
    json!({
        "method": results.job.name,
        "settings": results.job.settings,
        "games": results.games,
        "accuracy": null,
        "examples_seen": results.counts.examples,
        "epochs": results.counts.epochs,
        "remarks": results.remarks,
        "matches": results.matches,
        "against": results.against,
        "curve": results.curve,
    })
}

fn write(folder: &RunFolder, results: &Results<'_>) -> Result<()> {
    folder.write("matches.csv", present::matches_table(&results.matches).to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&as_json(results))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", page(folder, results)?.as_bytes())?;
    Ok(())
}

fn page(folder: &RunFolder, results: &Results<'_>) -> Result<String> {
    let Results { job, against, model, curve, .. } = results;
    let TrainingJob { name, settings, model: description, .. } = job;
    let mut page = Page::new(format!("A player trained by {name}"));
    page.lead(format!(
        "Trained with {} games, {} weights, {description}.",
        format_count(results.games),
        format_count(model.weight_count() as u64),
    ));
    let section = page.section("Training");
    for remark in &results.remarks {
        section.note(remark);
    }
    let mut plot = Plot::new("Score during training", "games", "% of points").y_range(0.0, 100.0);
    for (index, opponent) in against.iter().enumerate() {
        let points = curve.iter().filter_map(|point| {
            let Measurement { scores, errors, .. } = point;
            let (score, error) = (scores.get(index)?, errors.get(index)?);
            Some(outflank_report::Point::with_error(point.spent as f64, *score, *error))
        });
        plot = plot.series(Series::line(format!("against {opponent}"), points).band());
    }
    section.figure(
        &plot,
        "From the starting position, colors alternating, one move in ten random; 95% confidence \
         intervals.",
    );
    page.section("Matches").table(&present::matches_table(&results.matches));
    model_section(page.section("Model"), model);
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for (key, value) in settings {
        table.row([key.clone(), value.to_string()]);
    }
    page.section("Settings").table(&table);
    provenance(folder, name)?.add_footer(&mut page);
    Ok(page.to_html())
}

/// The provenance of a run, whose command repeats it from its configuration.
fn provenance(folder: &RunFolder, name: &str) -> Result<present::Provenance> {
    let words = ["outflank", "train", name, "--config", "config.toml"];
    run_folder::provenance(folder, words.map(str::to_owned).to_vec())
}

/// The tuples of a model, or the first layer of a network.
fn model_section(section: &mut Section, model: &Model) {
    let boards: Vec<Board> = match model {
        Model::Mlp(net) => present::first_layer(net),
        other => {
            let tuples = other.tuples().map_or(&[][..], |tuples| tuples.tuples());
            let numbered = tuples.iter().enumerate();
            let board = |(i, tuple): (usize, &Tuple)| {
                present::tuple_board((i + 1).to_string(), &tuple.placements()[..1])
            };
            numbered.map(board).collect()
        }
    };
    let caption = match model {
        Model::Mlp(_) => {
            "Difference of the first-layer weights between an own and an opponent's disc, per node, or \
             per set of nodes where weights are shared by the eight symmetries."
        }
        _ => "The tuples; each is applied in all eight symmetries.",
    };
    section.gallery(boards.iter().map(|board| board as &dyn outflank_report::Figure), caption);
}

fn show(folder: &RunFolder, results: &Results<'_>, seconds: f64) -> Result<()> {
    let path = folder.path().display().to_string();
    if results.job.args.common.json {
        let mut value = as_json(results);
        value["run"] = json!(path);
        value["model"] = json!(results.file);
        value["seconds"] = json!(seconds);
        return print_json(&value);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} weights, {}, trained by {} games\n",
        results.job.name,
        format_count(results.model.weight_count() as u64),
        results.job.model,
        format_count(results.games),
    );
    for remark in &results.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    let _ = writeln!(
        text,
        "Reference matches of {} games, one move in ten random:",
        format_count(u64::from(results.job.args.match_games))
    );
    let _ = writeln!(
        text,
        "{}",
        present::matches_table(&results.matches).to_text_within(table_width())
    );
    let _ = writeln!(
        text,
        "{seconds:.1} s. The model, {METRICS}, a TensorBoard event file and a report are in {path}."
    );
    let _ = writeln!(text, "Next: open {path}/report.html, or tensorboard --logdir {path}");
    let _ = writeln!(text, "      outflank match {path}@4 heuristic@4 --games 100 --random 0.1");
    print(&text)
}
