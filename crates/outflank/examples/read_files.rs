//! Read game files: records of any format, statistics, decisions, and conversion.
//!
//! Run it with `cargo run --release -p outflank --example read_files -- FILE|FOLDER...`. Without
//! arguments it writes embedded games to a file and reads it.

use outflank::prelude::*;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    run(std::env::args().skip(1).map(PathBuf::from).collect())
}

/// Reads files and folders, or a file of embedded games if there are none.
pub fn run(mut paths: Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("read-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    if paths.is_empty() {
        let path = folder.join("games.ggf");
        convert(&embedded::games()[..100], Format::Ggf, &path, Default::default())?;
        paths = vec![path];
    }
    let loaded = read_games(&paths, &Selection::default(), 1)?;
    for file in &loaded.files {
        println!("{}: {} games", file.path.display(), file.games);
    }
    let first = loaded.records.first().ok_or("the files contain no game")?;
    println!("{} - {}, {} moves", first.info.black, first.info.white, first.plies().len());

    let statistics = stats(&loaded.records, 0);
    println!("{} positions, {} distinct decisions", statistics.positions, statistics.unique);
    let choices = decisions(&loaded.records, &DecisionFilter::CHOICES);
    let Decision { position, chosen } = choices.items()[0];
    println!("first choice: {chosen} in {position}");
    assert!(statistics.unique <= statistics.positions && !choices.is_empty());

    let written = convert(
        &loaded.records,
        Format::Transcript,
        &folder.join("games.txt"),
        Default::default(),
    )?;
    println!("{} games converted to transcripts", written.games);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
