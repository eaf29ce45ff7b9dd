//! `outflank match`: a match between two players from paired openings.

use crate::Outcome;
use crate::cli::MatchArgs;
use crate::contest_setup::{ContestSetup, repeat_options, set_up, write_games};
use crate::errors::{UsageError, ensure_usage};
use crate::output::{format_count, print, print_json};
use crate::progress::RunProgress;
use crate::run_folder;
use anyhow::{Context, Result};
use outflank_arena::matches::{MatchReport, play_match};
use outflank_arena::sprt::Sprt;
use outflank_games::with_game;
use outflank_players::registry::RegisteredGame;
use outflank_presentation as present;
use outflank_runs::{Progress, RunFolder, install_stop_handler};
use serde_json::json;
use std::fmt::Write;

/// Plays the match, writes the run folder and prints the score.
pub fn run(args: &MatchArgs) -> Result<Outcome> {
    with_game!(args.contest.game.into(), P => run_game::<P>(args))
}

fn run_game<P: RegisteredGame>(args: &MatchArgs) -> Result<Outcome> {
    let sprt = sprt(args)?;
    let players = [args.a.clone(), args.b.clone()];
    let mut extra = toml::Table::new();
    extra.insert("a".to_owned(), args.a.clone().into());
    extra.insert("b".to_owned(), args.b.clone().into());
    if let Some(sprt) = &args.sprt {
        extra.insert("sprt".to_owned(), sprt.clone().into());
        // Defaults are omitted, as in the configurations of version 0.1.
        for (key, value) in error_rates(args) {
            extra.insert(key.to_owned(), value.into());
        }
    }
    let ContestSetup { factories, config, folder, journal, workers } = set_up::<P>(
        "match",
        &players,
        &args.contest,
        extra,
        &args.run,
        &args.remote,
        &args.common,
    )?;
    install_stop_handler();
    let [a, b] = <[_; 2]>::try_from(factories).ok().context("a match has two players")?;
    let factories = [a, b];
    let total = 2 * u64::from(config.rounds);
    let bar = Progress::new("playing", "games", total, args.common.quiet);
    let progress = RunProgress::new(&folder, workers.as_ref(), bar);
    progress.set_position(journal.1.len() as u64);
    let (report, games) = play_match(&factories, &config, sprt, Some(journal), |tally, new| {
        progress.add(new);
        let score = 100.0 * tally.points() / tally.games().max(1) as f64;
        progress.set_message(format!("score {score:.1}%"));
        true
    })?;
    drop(progress);
    let names = [report.a.clone(), report.b.clone()];
    let about = run_folder::provenance(&folder, repeat_command(args, total))?;
    write_games(&folder, &names, &games)?;
    folder.write("report.html", present::match_page(&report, &about).as_bytes())?;
    folder.write("result.csv", present::match_table(&report).to_csv().as_bytes())?;
    folder
        .write("result.json", format!("{}\n", serde_json::to_string_pretty(&report)?).as_bytes())?;
    show(args, &report, &folder)?;
    Ok(if report.complete { Outcome::Done } else { Outcome::Stopped })
}

/// The sequential probability ratio test of the options.
fn sprt(args: &MatchArgs) -> Result<Option<Sprt>> {
    let Some(text) = &args.sprt else {
        ensure_usage!(
            error_rates(args).is_empty(),
            "--alpha and --beta are error rates of --sprt ELO0,ELO1; add it or omit them"
        );
        return Ok(None);
    };
    let parse = || {
        let (elo0, elo1) = text.split_once(',')?;
        Some((elo0.trim().parse().ok()?, elo1.trim().parse().ok()?))
    };
    let error =
        || UsageError(format!("--sprt takes two Elo differences such as 0,10, not '{text}'"));
    let (elo0, elo1) = parse().ok_or_else(error)?;
    Ok(Some(Sprt::with_error_rates(elo0, elo1, args.alpha, args.beta)?))
}

/// The error rates that differ from the defaults.
fn error_rates(args: &MatchArgs) -> Vec<(&'static str, f64)> {
    let rates = [("alpha", args.alpha), ("beta", args.beta)];
    rates.into_iter().filter(|(_, rate)| *rate != 0.05).collect()
}

/// The command that repeats the match.
fn repeat_command(args: &MatchArgs, games: u64) -> Vec<String> {
    let mut words = ["outflank", "match", &args.a, &args.b].map(str::to_owned).to_vec();
    words.extend(repeat_options(&args.contest, games, args.common.seed));
    if let Some(sprt) = &args.sprt {
        words.extend(["--sprt".to_owned(), sprt.clone()]);
        for (name, value) in error_rates(args) {
            words.extend([format!("--{name}"), value.to_string()]);
        }
    }
    words
}

fn show(args: &MatchArgs, report: &MatchReport, folder: &RunFolder) -> Result<()> {
    if args.common.json {
        let mut value = serde_json::to_value(report)?;
        value["run"] = json!(folder.path().display().to_string());
        return print_json(&value);
    }
    let mut text = present::match_text(report);
    text.push_str(&present::forfeit_text(&report.forfeits, &report.resignations));
    if !report.complete {
        let path = folder.path().display();
        let _ = writeln!(text, "stopped early; resume with: outflank match --resume {path}");
    }
    let _ = writeln!(
        text,
        "{} duplicate games. All files are in {} (start with report.html)",
        format_count(report.games.saturating_sub(report.distinct_games)),
        folder.path().display()
    );
    print(&text)
}
