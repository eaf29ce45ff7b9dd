//! `outflank data`: statistics, validation, conversion and export of game files.

use crate::Outcome;
use crate::cli::{ConvertArgs, DataArgs, ExportArgs};
use crate::errors::{bail_usage, ensure_usage};
use crate::output::{counted, format_count, print, print_json, set_threads};
use anyhow::{Result, ensure};
use outflank_games::othello::Othello;
use outflank_records::check as check_files;
use outflank_records::wthor::CreationDate;
use outflank_records::{
    DecisionFilter, Decisions, Example, Format, GameStats, Selection, convert as convert_games,
    decisions, expand_symmetries, export_csv, export_examples_npz, export_npz, read_games,
    read_games_lenient, remove_duplicates, sizes_from_fractions, split_examples, split_games,
    stats as compute_stats,
};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// `outflank data stats`.
pub fn stats(args: &DataArgs) -> Result<Outcome> {
    set_threads(args.common.threads())?;
    // Invalid games are counted and skipped; `data check` lists them.
    let games = read_games_lenient(&args.paths)?;
    let stats = compute_stats(&games.records, games.illegal as u64);
    if args.common.json {
        let by_ply: Vec<_> = stats
            .by_ply
            .iter()
            .enumerate()
            .map(|(i, ply)| {
                json!({ "ply": i + 1, "positions": ply.positions, "branching": ply.mean_legal_moves(), "forced": ply.forced })
            })
            .collect();
        let by_year: Vec<_> = stats
            .by_year
            .iter()
            .map(|y| json!({ "year": y.year, "games": y.games, "positions": y.positions }))
            .collect();
        print_json(&json!({
            "games": stats.games,
            "positions": stats.positions,
            "positions_symmetric": stats.positions_symmetric,
            "unique": stats.unique,
            "unique_symmetric": stats.unique_symmetric,
            "boards": stats.boards,
            "ceiling_positions": stats.ceiling_positions,
            "ceiling_unique": stats.ceiling_unique,
            "forced": stats.forced,
            "unfinished": stats.unfinished,
            "illegal": stats.illegal,
            "results": { "black": stats.results.black, "draws": stats.results.draws, "white": stats.results.white },
            "by_ply": by_ply,
            "by_year": by_year,
        }))?;
        return Ok(Outcome::Done);
    }
    print(&stats_text(&stats))?;
    Ok(Outcome::Done)
}

fn stats_text(stats: &GameStats) -> String {
    let mut text = String::new();
    let mut line = |what: &str, figure: String| {
        let _ = writeln!(text, "{what:<34}{figure:>14}");
    };
    line("games", format_count(stats.games));
    line("  unfinished", format_count(stats.unfinished));
    line("  illegal, skipped", format_count(stats.illegal));
    line("  won by black", format_count(stats.results.black));
    line("  drawn", format_count(stats.results.draws));
    line("  won by white", format_count(stats.results.white));
    line("positions (moves)", format_count(stats.positions));
    line("  with one legal move", format_count(stats.forced));
    line("positions with all symmetries", format_count(stats.positions_symmetric));
    line("unique decisions", format_count(stats.unique));
    line("unique with all symmetries", format_count(stats.unique_symmetric));
    line("distinct boards", format_count(stats.boards));
    line("accuracy limit, all positions", format!("{:.3}%", stats.ceiling_positions));
    line("accuracy limit, unique decisions", format!("{:.3}%", stats.ceiling_unique));
    text
}

/// `outflank data check`.
pub fn check(args: &DataArgs) -> Result<Outcome> {
    set_threads(args.common.threads())?;
    let checked = check_files(&args.paths)?;
    if args.common.json {
        let bad: Vec<_> = checked
            .bad
            .iter()
            .map(|bad| {
                json!({
                    "file": bad.file.display().to_string(),
                    "index": bad.error.number.unwrap_or(0),
                    "byte": bad.error.byte_offset,
                    "error": bad.error.kind.to_string(),
                })
            })
            .collect();
        let warnings: Vec<_> = checked
            .warnings
            .iter()
            .map(|w| {
                json!({ "file": w.file.display().to_string(), "index": w.index, "warning": w.kind.to_string() })
            })
            .collect();
        print_json(&json!({
            "files": checked.files,
            "games": checked.games,
            "moves": checked.moves,
            "unfinished": checked.unfinished,
            "bad": bad,
            "warnings": warnings,
        }))?;
    } else {
        let mut text = String::new();
        for bad in &checked.bad {
            let _ = writeln!(text, "{}: {}", bad.file.display(), bad.error);
        }
        for warning in &checked.warnings {
            let _ = writeln!(
                text,
                "{}: game {}: warning: {}",
                warning.file.display(),
                warning.index,
                warning.kind
            );
        }
        let _ = writeln!(
            text,
            "{}, {}, {}; {} unfinished, {} bad, {}",
            counted(checked.files, "file"),
            counted(checked.games, "game"),
            counted(checked.moves, "move"),
            checked.unfinished,
            checked.bad.len(),
            counted(checked.warnings.len(), "warning")
        );
        print(&text)?;
    }
    Ok(if checked.bad.is_empty() { Outcome::Done } else { Outcome::BadGamesFound })
}

/// `outflank data convert`.
pub fn convert(args: &ConvertArgs) -> Result<Outcome> {
    set_threads(args.common.threads())?;
    let format = output_format(&args.to, args.format)?;
    ensure_usage!(
        !args.paths.iter().any(|path| reads(path, &args.to)),
        "{} is one of the files to read; name another file with --to",
        args.to.display()
    );
    let games = read_games(&args.paths, &Selection::from(&args.select), args.common.seed)?;
    let written = convert_games(&games.records, format, &args.to, CreationDate::default())?;
    let files: Vec<String> = written.files.iter().map(|f| f.display().to_string()).collect();
    let losses: Vec<_> = written
        .dropped
        .iter()
        .map(|(property, games)| json!({ "property": property, "games": games }))
        .collect();
    if args.common.json {
        print_json(
            &json!({ "games": written.games, "format": format.name(), "files": files, "lost": losses }),
        )?;
    } else {
        let mut text =
            format!("{} written to {}\n", counted(written.games, "game"), files.join(", "));
        for (what, games) in written.dropped.iter() {
            let games = counted(games, "game");
            let _ = writeln!(text, "note: {format} cannot store {what}, lost in {games}");
        }
        print(&text)?;
    }
    Ok(Outcome::Done)
}

/// Whether a path is this file, or the folder that contains it.
fn reads(path: &Path, file: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(file) = real(file) else { return false };
    real(path).is_some_and(|path| file == path || file.parent() == Some(&path))
}

/// The format to write: the given one, or that of the file extension.
pub fn output_format(path: &Path, format: Option<Format>) -> Result<Format> {
    let named = || match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("txt") => Some(Format::Transcript),
        _ => Format::from_extension(path),
    };
    match format.or_else(named) {
        Some(format) => Ok(format),
        None => bail_usage!(
            "the format of {} is unknown; use the extension .wtb, .ggf, .txt, .pgn, .obf or .boards, or give --format",
            path.display()
        ),
    }
}

/// `outflank data export`.
pub fn export(args: &ExportArgs) -> Result<Outcome> {
    set_threads(args.common.threads())?;
    ensure_usage!(
        args.held_out > 0.0 && args.held_out < 1.0,
        "--held-out is a fraction between 0 and 1, not {}",
        args.held_out
    );
    let games = read_games(&args.paths, &Selection::from(&args.select), args.common.seed)?;
    let wanted =
        DecisionFilter { forced: !args.choices, random: true, by: args.select.by.as_deref() };
    let mut all = decisions(&games.records, &wanted);
    if args.unique {
        all = all.unique();
    }
    ensure!(!all.is_empty(), "no decision matches the filters; select other games");
    let has_extension =
        |name: &str| args.to.extension().is_some_and(|known| known.eq_ignore_ascii_case(name));
    let csv = has_extension("csv");
    ensure_usage!(
        csv || has_extension("npz"),
        "the format of {} is unknown; use the extension .csv or .npz",
        args.to.display()
    );
    ensure_usage!(
        !(csv && args.symmetric),
        "--symmetric is written as NPZ; use the extension .npz"
    );
    let subsets = split(args, games.records.len(), all)?;
    if let Some((name, _)) = subsets.iter().find(|(_, subset)| subset.is_empty()) {
        bail_usage!("the {name} set would be empty; read more games, or change --held-out");
    }
    let mut report = Vec::new();
    for (name, subset) in &subsets {
        let path = match name.is_empty() {
            true => args.to.clone(),
            false => {
                let stem = args.to.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let extension = if csv { "csv" } else { "npz" };
                args.to.with_file_name(format!("{stem}-{name}.{extension}"))
            }
        };
        let count = if csv {
            export_csv(subset, &path)?;
            subset.len()
        } else if args.symmetric {
            let mut examples: Vec<Example> = subset.examples();
            remove_duplicates(&mut examples);
            let examples = expand_symmetries(&examples);
            export_examples_npz(&examples, &path)?;
            examples.len()
        } else {
            export_npz(subset, Some(&games.records), &path)?;
            subset.len()
        };
        report.push((path.display().to_string(), count));
    }
    if args.common.json {
        let subsets: Vec<_> =
            report.iter().map(|(path, n)| json!({ "path": path, "decisions": n })).collect();
        print_json(&json!({ "subsets": subsets }))?;
    } else {
        let lines = report
            .iter()
            .map(|(path, count)| format!("{} written to {path}\n", counted(*count, "decision")));
        print(&lines.collect::<String>())?;
    }
    Ok(Outcome::Done)
}

/// Splits decisions into the subsets `train` and `test`; without `--split` there is one subset with
/// an empty name.
fn split(
    args: &ExportArgs,
    games: usize,
    all: Decisions<Othello>,
) -> Result<Vec<(&'static str, Decisions<Othello>)>> {
    let (seed, fractions) = (args.common.seed, [1.0 - args.held_out, args.held_out]);
    Ok(match args.split.as_deref() {
        None => vec![("", all)],
        Some("game") => {
            let sizes = sizes_from_fractions(games, &fractions)?;
            let split = split_games(games, seed, &sizes)?;
            let subset = |i: usize| all.of_games(&split.subsets[i]);
            vec![("train", subset(0)), ("test", subset(1))]
        }
        Some(_) => {
            let sizes = sizes_from_fractions(all.len(), &fractions)?;
            let mut indices: Vec<usize> = (0..all.len()).collect();
            let split = split_examples(&mut indices, seed, &sizes)?;
            vec![("train", all.select(split.subsets[0])), ("test", all.select(split.subsets[1]))]
        }
    })
}
