//! `outflank learn tdl` and the like: learns a player by games, measures it on the way, writes a
//! run folder.

mod ann;
mod ask;
mod coevolution;
mod gp;
mod gp_report;
mod self_play;

use crate::cli::Common;
use crate::cli::learn_play::{LearnPlayArgs, PlayMethod, TrainingArgs};
use crate::contestants::model_file;
use crate::grid::Others;
use crate::output::{grouped, print, print_json, room};
use crate::watching::Watching;
use crate::{Outcome, VERSION};
use anyhow::{Context, Result, ensure};
use outflank_arena::ContestConfig;
use outflank_arena::matches::{MatchReport, play_match};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::{
    OpponentEvaluator, CURVE, Evaluator, Learner, TrainingPlan, Measurement, TrainingOutcome, model_name, train,
};
use outflank_models::files::Origin;
use outflank_models::{Model, Tuple};
use outflank_players::registry::{self, RegisteredGame};
use outflank_presentation as present;
use outflank_report::{Align, Board, Page, Plot, Section, Series, Table};
use outflank_runs::{RunConfig, DataFile, Progress, RunFolder, stop_requested, install_stop_handler};
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

/// Who a player is measured against on the way, before those the user names.
const HEURISTIC: &str = "heuristic";

/// Who it is played against at the end.
const REFERENCES: [&str; 3] = ["heuristic", "yoshioka", "random"];

/// The share of random moves in these games, without which players would repeat themselves.
const RANDOM: f64 = 0.1;

/// More than these are a slip of the finger.
const MOST_GAMES: u64 = 1_000_000_000_000;
const MOST_MEASURED: u32 = 10_000_000;
const MOST_POINTS: u64 = 10_000;

/// Learns, measures, writes, prints.
pub fn run(method: &PlayMethod) -> Result<Outcome> {
    let coevolved = |name: &'static str, args: &LearnPlayArgs| coevolution::run(name, args);
    match method {
        PlayMethod::Tdl(args) => coevolved("tdl", args),
        PlayMethod::Cel(args) => coevolved("cel", args),
        PlayMethod::Hof(args) => coevolved("hof", args),
        PlayMethod::Ptdl(args) => coevolved("ptdl", args),
        PlayMethod::Ctdl(args) => coevolved("ctdl", args),
        PlayMethod::Etdl(args) => coevolved("etdl", args),
        PlayMethod::Selfplay(args) => self_play::run(args),
        PlayMethod::Ann(args) => ann::run(args),
        PlayMethod::Gp(args) => gp::run(args),
        PlayMethod::Cnn(args) => super::learn_cnn::run(args),
    }
}

/// What a method has to say for itself before it begins.
struct Job<'a> {
    name: &'static str,
    args: &'a TrainingArgs,
    /// Its settings, by the names of the options.
    settings: toml::Table,
    /// What it learns, in a word or two, such as `shape 12x6`.
    what: String,
    /// Files that the run depends on.
    data: Vec<DataFile>,
    /// Who plays its games, if not this process.
    others: Option<Others>,
}

/// Refuses a budget that makes no sense.
fn check(args: &TrainingArgs) -> Result<()> {
    ensure!(
        (1..=MOST_GAMES).contains(&args.games),
        "--games is a budget of 1 to {MOST_GAMES} games, not {}",
        args.games
    );
    ensure!(
        (1..=MOST_POINTS).contains(&args.points),
        "--points is a number from 1 to {MOST_POINTS}, not {}",
        args.points
    );
    ensure!(
        args.measured_games >= 2
            && args.measured_games.is_multiple_of(2)
            && args.measured_games <= MOST_MEASURED,
        "--measured-games must be an even number from 2 to {MOST_MEASURED}, not {}",
        args.measured_games
    );
    Ok(())
}

/// Lets a learner use up its budget, and says what came of it.
fn learn<L: Learner>(job: &Job<'_>, mut learner: L) -> Result<Outcome>
where
    L::Model: Into<Model>,
{
    let began = Instant::now();
    let Job { name, args, .. } = job;
    let against = against(args);
    let entries = registry::factories::<Othello>(&against, RANDOM)?;
    let folder = open_folder(job, &against)?;
    install_stop_handler();

    let plan = TrainingPlan {
        games: args.games,
        unit: "games",
        measurements: args.points,
        measure_start: false,
        origin: Origin {
            method: (*name).to_owned(),
            seed: Some(args.common.seed),
            version: VERSION.to_owned(),
            note: format!("{}, {} games", job.what, args.games),
        },
        keep_models: false,
    };
    let gauge = OpponentEvaluator {
        opponents: entries,
        games: args.measured_games,
        random: RANDOM,
        seed: args.common.seed,
        threads: args.common.threads(),
    };
    let say = |point: &Measurement| {
        let scores = point.scores.iter().zip(&against);
        let scores = scores.map(|(score, other)| format!("{score:.1}% against {other}"));
        scores.collect::<Vec<_>>().join(", ")
    };
    let stopped = || {
        let path = folder.path().display().to_string();
        eprintln!("stopped; go on with: outflank learn {name} --resume {path}");
        Ok(Outcome::Stopped)
    };
    let progress = Progress::new("learning", plan.unit, plan.games, args.common.quiet);
    let watching = Watching::new(&folder, job.others.as_ref(), progress);
    let Some(trained) = drive(&mut learner, &gauge, &plan, &folder, watching, say)? else {
        return stopped();
    };
    let file = folder.join(&model_name::<L::Model>()).display().to_string();
    let learned = format!("{file}?name=learned");
    let references = REFERENCES.map(str::to_owned);
    let matches =
        meet::<Othello>(&learned, &references, args.measured_games, &args.common, RANDOM)?;
    if stop_requested() {
        return stopped();
    }
    let TrainingOutcome { model, curve, .. } = trained;
    let results = Results { job, against, model: model.into(), file, curve, matches };
    write(&folder, &results)?;
    show(&folder, &results, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// Lets a learner use up its budget in a run's folder, for others to watch; `None` when the user
/// stopped it.
fn drive<L: Learner>(
    learner: &mut L,
    gauge: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &RunFolder,
    watching: Watching,
    say: impl Fn(&Measurement) -> String,
) -> Result<Option<TrainingOutcome<L::Model>>> {
    let (mut seen, mut first) = (0, true);
    let trained = train(learner, gauge, plan, folder.path(), |status| {
        if first {
            watching.skip(status.games);
        } else {
            watching.add(status.games - seen);
        }
        (seen, first) = (status.games, false);
        if let Some(point) = status.last {
            watching.say(say(point));
        }
        true
    })?;
    Ok(trained.complete.then_some(trained))
}

/// Everything a run found out.
struct Results<'a> {
    job: &'a Job<'a>,
    against: Vec<String>,
    model: Model,
    /// Where it lies.
    file: String,
    curve: Vec<Measurement>,
    matches: Vec<MatchReport>,
}

fn against(args: &TrainingArgs) -> Vec<String> {
    let mut against = vec![HEURISTIC.to_owned()];
    against.extend(args.against.iter().filter(|other| *other != HEURISTIC).cloned());
    against
}

fn open_folder(job: &Job<'_>, against: &[String]) -> Result<RunFolder> {
    let Job { name, args, settings, data, .. } = job;
    let mut table = settings.clone();
    table.insert("games".to_owned(), (args.games as i64).into());
    table.insert("points".to_owned(), (args.points as i64).into());
    table.insert("measured-games".to_owned(), i64::from(args.measured_games).into());
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
    Ok(match &args.run.resume {
        Some(path) => crate::folders::resume(path, &config, &[])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    })
}

/// Matches from the start, a share of all moves at random.
fn meet<P: RegisteredGame>(
    learned: &str,
    others: &[String],
    games: u32,
    common: &Common,
    random: f64,
) -> Result<Vec<MatchReport>> {
    let terms = ContestConfig {
        openings: vec![Line::default()],
        rounds: games / 2,
        seed: common.seed,
        threads: common.threads(),
        remote: None,
    };
    let mut reports = Vec::new();
    for other in others {
        let entries = registry::factories::<P>(&[learned.to_owned(), other.clone()], random)?;
        let pair = <[_; 2]>::try_from(entries).ok().context("a match has two players")?;
        reports.push(play_match(&pair, &terms, None, None, |_, _| {})?.0);
    }
    Ok(reports)
}

/// What a run found out, but for where and how fast: the same run gives the same bytes.
fn as_json(results: &Results<'_>) -> serde_json::Value {
    json!({
        "method": results.job.name,
        "settings": results.job.settings,
        "games": results.curve.last().map_or(0, |point| point.games),
        "accuracy": null,
        "matches": results.matches,
        "against": results.against,
        "curve": results.curve,
    })
}

fn write(folder: &RunFolder, results: &Results<'_>) -> Result<()> {
    folder.write("matches.csv", present::match_list(&results.matches).to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&as_json(results))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", page(folder, results)?.as_bytes())?;
    Ok(())
}

fn page(folder: &RunFolder, results: &Results<'_>) -> Result<String> {
    let Results { job, against, model, curve, .. } = results;
    let Job { name, settings, what, .. } = job;
    let games = curve.last().map_or(0, |point| point.games);
    let mut page = Page::new(format!("A player learned by {name}"));
    page.lead(format!(
        "Learned by {} games on {} weights, {what}.",
        grouped(games),
        grouped(model.weights() as u64),
    ));
    let section = page.section("Learning");
    let mut plot = Plot::new("Score while learning", "games", "% of points").y_range(0.0, 100.0);
    for (place, other) in against.iter().enumerate() {
        let points = curve.iter().filter_map(|point| {
            let Measurement { scores, errors, .. } = point;
            let (score, error) = (scores.get(place)?, errors.get(place)?);
            Some(outflank_report::Point::with_error(point.games as f64, *score, *error))
        });
        plot = plot.series(Series::line(format!("against {other}"), points).band());
    }
    section.figure(
        &plot,
        "From the start, colours alternating, both players forced to a random move one time in \
         ten; 95% intervals of the measurement.",
    );
    page.section("Matches").table(&present::match_list(&results.matches));
    looks_at(page.section("What it looks at"), model);
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for (key, value) in settings {
        table.row([key.clone(), value.to_string()]);
    }
    page.section("Settings").table(&table);
    again(folder, name)?.add_footer(&mut page);
    Ok(page.to_html())
}

/// How a run is made again: from its own configuration.
fn again(folder: &RunFolder, name: &str) -> Result<present::Provenance> {
    let words = ["outflank", "learn", name, "--config", "config.toml"];
    crate::folders::about(folder, words.map(str::to_owned).to_vec())
}

/// The tuples of a model, or what the first layer of a network makes of the squares.
fn looks_at(section: &mut Section, model: &Model) {
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
            "What an own disc instead of the opponent's adds to the input of the first nodes, or of \
             the first sets of them, where weights are shared: each is read in its mirrored and \
             turned images."
        }
        _ => "The tuples, each also read in its mirrored and turned images.",
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
    let games = results.curve.last().map_or(0, |point| point.games);
    let _ = writeln!(
        text,
        "{} learned {} weights, {}, by {} games\n",
        results.job.name,
        grouped(results.model.weights() as u64),
        results.job.what,
        grouped(games),
    );
    let _ = writeln!(
        text,
        "{} games against each, one move in ten forced at random:",
        grouped(u64::from(results.job.args.measured_games))
    );
    let _ = writeln!(text, "{}", present::match_list(&results.matches).to_text_within(room()));
    let _ = writeln!(
        text,
        "{seconds:.1} s. The model, {CURVE}, a TensorBoard event file and a page are in {path}."
    );
    let _ = writeln!(text, "Next: open {path}/report.html, or tensorboard --logdir {path}");
    let _ = writeln!(text, "      outflank match {path}@4 heuristic@4 --games 100 --random 0.1");
    print(&text)
}
