//! `outflank match`: two players from paired openings.

use crate::Outcome;
use crate::cli::MatchArgs;
use crate::contestants::{Setting, set_up, typed, write_games};
use crate::folders;
use crate::output::{grouped, print, print_json};
use crate::watching::Watching;
use anyhow::{Context, Result};
use outflank_arena::matches::{MatchReport, play_match};
use outflank_arena::sprt::Sprt;
use outflank_games::Game;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_players::registry::RegisteredGame;
use outflank_presentation as present;
use outflank_runs::{Progress, RunFolder, install_stop_handler};
use serde_json::json;
use std::fmt::Write;

/// Plays the match, writes the run folder, prints the score.
pub fn run(args: &MatchArgs) -> Result<Outcome> {
    match Game::from(args.play.game) {
        Game::Othello => run_game::<Othello>(args),
        Game::Checkers => run_game::<Checkers>(args),
    }
}

fn run_game<P: RegisteredGame>(args: &MatchArgs) -> Result<Outcome> {
    let sprt = args.sprt.as_deref().map(bounds).transpose()?;
    let players = [args.a.clone(), args.b.clone()];
    let mut extra = toml::Table::new();
    extra.insert("a".to_owned(), args.a.clone().into());
    extra.insert("b".to_owned(), args.b.clone().into());
    if let Some(sprt) = &args.sprt {
        extra.insert("sprt".to_owned(), sprt.clone().into());
    }
    let Setting { entries, terms, folder, journal, others } =
        set_up::<P>("match", &players, &args.play, extra, &args.run, &args.grid, &args.common)?;
    install_stop_handler();
    let [a, b] = <[_; 2]>::try_from(entries).ok().context("a match has two players")?;
    let entries = [a, b];
    let progress =
        Progress::new("playing", "games", 2 * u64::from(terms.rounds), args.common.quiet);
    let watching = Watching::new(&folder, others.as_ref(), progress);
    watching.skip(journal.1.len() as u64);
    let (report, games) = play_match(&entries, &terms, sprt, Some(journal), |tally, new| {
        watching.add(new);
        let score = 100.0 * tally.points() / tally.games().max(1) as f64;
        watching.say(format!("score {score:.1}%"));
    })?;
    drop(watching);
    let names = [report.a.clone(), report.b.clone()];
    let about = folders::about(&folder, words(args, 2 * u64::from(terms.rounds)))?;
    write_games(&folder, &names, &games)?;
    folder.write("report.html", present::match_page(&report, &about).as_bytes())?;
    folder.write("result.csv", present::match_table(&report).to_csv().as_bytes())?;
    folder
        .write("result.json", format!("{}\n", serde_json::to_string_pretty(&report)?).as_bytes())?;
    show(args, &report, &folder)?;
    Ok(if report.complete { Outcome::Done } else { Outcome::Stopped })
}

fn bounds(text: &str) -> Result<Sprt> {
    let parse = || {
        let (low, high) = text.split_once(',')?;
        Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
    };
    let (low, high) = parse()
        .with_context(|| format!("--sprt takes two Elo differences such as 0,10, not '{text}'"))?;
    Ok(Sprt::new(low, high)?)
}

/// The command that does it again.
fn words(args: &MatchArgs, games: u64) -> Vec<String> {
    let mut words = ["outflank", "match", &args.a, &args.b].map(str::to_owned).to_vec();
    words.extend(typed(&args.play, games, args.common.seed));
    if let Some(sprt) = &args.sprt {
        words.extend(["--sprt".to_owned(), sprt.clone()]);
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
    text.push_str(&present::forfeit_text(&report.forfeits));
    if !report.complete {
        let path = folder.path().display();
        let _ = writeln!(text, "stopped early; go on with: outflank match --resume {path}");
    }
    let _ = writeln!(
        text,
        "{} of {} games differ; everything is in {} (start with report.html)",
        grouped(report.distinct_games),
        grouped(report.games),
        folder.path().display()
    );
    print(&text)
}
