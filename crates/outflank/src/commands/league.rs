//! `outflank league`: a round-robin tournament with ratings.

use crate::Outcome;
use crate::cli::LeagueArgs;
use crate::contest_setup::{ContestSetup, repeat_options, set_up, write_games};
use crate::errors::{bail_usage, ensure_usage};
use crate::output::{format_count, print, print_json, table_width};
use crate::progress::RunProgress;
use crate::run_folder;
use anyhow::{Context, Result};
use outflank_arena::league::{League, LeagueReport, play_league};
use outflank_arena::ratings::{EloParameter, RatingConfig};
use outflank_games::with_game;
use outflank_players::registry::RegisteredGame;
use outflank_presentation as present;
use outflank_runs::{Progress, RunFolder, install_stop_handler};
use serde_json::json;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Upper limit for Elo parameters.
const MAX_ELO: f64 = 4000.0;

/// Plays the league, writes the run folder and prints the table and ratings.
pub fn run(args: &LeagueArgs) -> Result<Outcome> {
    with_game!(args.contest.game.into(), P => run_game::<P>(args))
}

fn run_game<P: RegisteredGame>(args: &LeagueArgs) -> Result<Outcome> {
    let options = RatingConfig {
        draw_elo: elo_parameter("--draw-elo", &args.draw_elo, 0.0..=MAX_ELO)?,
        advantage: elo_parameter("--advantage", &args.advantage, -MAX_ELO..=MAX_ELO)?,
        ..RatingConfig::default()
    };
    let sub_leagues = args
        .sub_league
        .iter()
        .map(|text| ranks(text, args.players.len()))
        .collect::<Result<Vec<_>>>()?;
    let list = |items: &[String]| toml::Value::from(items.to_vec());
    let mut extra = toml::Table::new();
    extra.insert("players".to_owned(), list(&args.players));
    extra.insert("draw-elo".to_owned(), args.draw_elo.clone().into());
    extra.insert("advantage".to_owned(), args.advantage.clone().into());
    if !args.sub_league.is_empty() {
        extra.insert("sub-league".to_owned(), list(&args.sub_league));
    }
    let ContestSetup { factories, config, folder, journal, workers } = set_up(
        "league",
        &args.players,
        &args.contest,
        extra,
        &args.run,
        &args.remote,
        &args.common,
    )?;
    install_stop_handler();
    let pairs = factories.len() * (factories.len() - 1) / 2;
    let games_per_pair = 2 * u64::from(config.rounds);
    let total = games_per_pair * pairs as u64;
    let bar = Progress::new("playing", "games", total, args.common.quiet);
    let progress = RunProgress::new(&folder, workers.as_ref(), bar);
    progress.set_position((journal.1.len() as u64).min(total));
    let league = play_league::<P>(&factories, &config, Some(journal), |_, new| {
        progress.add(new);
        true
    })?;
    drop(progress);
    if !league.complete {
        eprintln!(
            "stopped after {} of {} games; resume with: outflank league --resume {}",
            format_count(league.games.len() as u64),
            format_count(total),
            folder.path().display()
        );
        return Ok(Outcome::Stopped);
    }
    let report = league.report(&options)?;
    let subs = sub_leagues
        .iter()
        .map(|ranks| sub_report(&league, &report, ranks, &options))
        .collect::<Result<Vec<_>>>()?;
    let about = run_folder::provenance(&folder, repeat_command(args, games_per_pair))?;
    write_all(&folder, &league, &report, &subs, &about)?;
    show(args, &report, &subs, &folder)?;
    Ok(Outcome::Done)
}

/// The report of the players at the given ranks, computed from the games among them.
fn sub_report<P: RegisteredGame>(
    league: &League<P>,
    report: &LeagueReport,
    ranks: &[usize],
    options: &RatingConfig,
) -> Result<LeagueReport> {
    let players: Vec<usize> = ranks
        .iter()
        .filter_map(|&rank| {
            let name = &report.players[rank].name;
            league.names.iter().position(|other| other == name)
        })
        .collect();
    Ok(league.report_among(&players, options)?)
}

fn elo_parameter(option: &str, text: &str, range: RangeInclusive<f64>) -> Result<EloParameter> {
    match text.parse() {
        _ if text == "fit" => Ok(EloParameter::Fitted),
        Ok(value) if range.contains(&value) => Ok(EloParameter::Fixed(value)),
        _ => bail_usage!(
            "{option} is an Elo difference from {} to {} or `fit`, not '{text}'",
            range.start(),
            range.end()
        ),
    }
}

/// Parses ranks such as `1-7` or `1,2,8-12`; returns them counted from 0.
fn ranks(text: &str, players: usize) -> Result<Vec<usize>> {
    let mut ranks = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let range = from.trim().parse::<usize>().ok().zip(to.trim().parse::<usize>().ok());
        match range {
            Some((from, to)) if 1 <= from && from <= to && to <= players => {
                ranks.extend(from - 1..to)
            }
            _ => bail_usage!(
                "--sub-league takes ranks from 1 to {players}, such as 1-7 or 1,2,8-12, not '{text}'"
            ),
        }
    }
    ranks.sort_unstable();
    ranks.dedup();
    ensure_usage!(ranks.len() >= 2, "--sub-league needs at least two ranks, not '{text}'");
    Ok(ranks)
}

/// The command that repeats the league.
fn repeat_command(args: &LeagueArgs, games: u64) -> Vec<String> {
    let mut words = ["outflank", "league"].map(str::to_owned).to_vec();
    words.extend(args.players.iter().cloned());
    words.extend(repeat_options(&args.contest, games, args.common.seed));
    for (name, value) in [("--draw-elo", &args.draw_elo), ("--advantage", &args.advantage)] {
        if value != "0" {
            words.extend([name.to_owned(), value.clone()]);
        }
    }
    for ranks in &args.sub_league {
        words.extend(["--sub-league".to_owned(), ranks.clone()]);
    }
    words
}

fn write_all<P: RegisteredGame>(
    folder: &RunFolder,
    league: &League<P>,
    report: &LeagueReport,
    subs: &[LeagueReport],
    about: &present::Provenance,
) -> Result<()> {
    write_games(folder, &league.names, &league.games)?;
    folder.write("report.html", present::league_page(report, subs, about).as_bytes())?;
    folder.write("standings.csv", present::standings(report).to_csv().as_bytes())?;
    folder.write("cross-table.csv", present::cross_table(report).to_csv().as_bytes())?;
    folder.write("los.csv", present::los_table(report).to_csv().as_bytes())?;
    let json =
        serde_json::to_string_pretty(&as_json(report, subs)?).context("cannot write JSON")?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    Ok(())
}

fn as_json(report: &LeagueReport, subs: &[LeagueReport]) -> Result<serde_json::Value> {
    let mut value = serde_json::to_value(report)?;
    if !subs.is_empty() {
        value["sub_leagues"] = serde_json::to_value(subs)?;
    }
    Ok(value)
}

fn show(
    args: &LeagueArgs,
    report: &LeagueReport,
    subs: &[LeagueReport],
    folder: &RunFolder,
) -> Result<()> {
    if args.common.json {
        let mut value = as_json(report, subs)?;
        value["run"] = json!(folder.path().display().to_string());
        return print_json(&value);
    }
    let mut text = present::league_text(report, table_width());
    for (i, sub) in subs.iter().enumerate() {
        let _ = writeln!(text, "\nSub-league {}, from the games among its players:", i + 1);
        text.push_str(&present::league_text(sub, table_width()));
    }
    text.push_str(&present::forfeit_text(&report.forfeits, &report.resignations));
    let games: u64 = report.players.iter().map(|player| player.games).sum::<u64>() / 2;
    let _ = writeln!(
        text,
        "{} duplicate games. All files are in {} (start with report.html)",
        format_count(games.saturating_sub(report.distinct_games)),
        folder.path().display()
    );
    print(&text)
}
