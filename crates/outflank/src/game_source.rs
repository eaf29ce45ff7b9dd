//! Reads the games of a command: from files, the data folder, or the embedded games.

use crate::cli::{RecordsArgs, SelectArgs};
use crate::output::format_count;
use anyhow::{Result, ensure};
use outflank_games::othello::Othello;
use outflank_records::{Record, Selection, embedded, read_games};
use outflank_runs::DataFile;
use std::path::PathBuf;

/// Games and their origin.
pub struct GameSource {
    /// The games.
    pub records: Vec<Record<Othello>>,
    /// The files with their checksums, for the run folder.
    pub files: Vec<DataFile>,
    /// Where the games come from, for the report.
    pub from: String,
}

/// Reads the games of `--records`, else `wthor` in the data folder, else the embedded games.
pub fn read(args: &RecordsArgs, seed: u64) -> Result<GameSource> {
    let paths: Vec<PathBuf> = match &args.data {
        _ if !args.records.is_empty() => args.records.clone(),
        Some(data) => vec![data.join("wthor")],
        None => return embedded_games(&args.select, seed),
    };
    let games = read_games(&paths, &Selection::from(&args.select), seed)?;
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let files = games.files.iter().map(|file| DataFile {
        file: file.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        sha256: file.sha256.clone(),
    });
    Ok(GameSource { files: files.collect(), from: names.join(", "), records: games.records })
}

/// The command-line options with which a command reads the same games again.
pub fn repeat_options(args: &RecordsArgs, seed: u64) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    for path in &args.records {
        option("--records", path.display().to_string());
    }
    if let (true, Some(data)) = (args.records.is_empty(), &args.data) {
        option("--data", data.display().to_string());
    }
    let select = &args.select;
    if let Some((from, to)) = select.years {
        option("--years", format!("{from}-{to}"));
    }
    if let Some(by) = &select.by {
        option("--by", by.clone());
    }
    if let Some(tournament) = &select.tournament {
        option("--tournament", tournament.clone());
    }
    if let Some(sample) = select.sample {
        option("--sample", sample.to_string());
    }
    option("--seed", seed.to_string());
    words
}

fn embedded_games(select: &SelectArgs, seed: u64) -> Result<GameSource> {
    let selection = Selection::from(select);
    let mut records = embedded::games();
    let total = records.len();
    records.retain(|game| selection.matches(&game.info));
    ensure!(
        !records.is_empty(),
        "none of the {total} embedded games was {}; read other games with --records",
        selection.describe()
    );
    let records = selection.sample_from(records, seed);
    let from = match records.len() {
        drawn if drawn < total => {
            format!(
                "{} of the {} embedded games",
                format_count(drawn as u64),
                format_count(total as u64)
            )
        }
        _ => "the embedded games".to_owned(),
    };
    Ok(GameSource {
        records,
        files: vec![DataFile {
            file: "embedded".to_owned(),
            sha256: outflank_runs::files::checksum(embedded::GAMES),
        }],
        from,
    })
}
