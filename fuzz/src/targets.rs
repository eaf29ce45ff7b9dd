//! The fuzz targets: one function for each kind of untrusted input.
//!
//! A target must not panic, whatever its input. It also checks that what a parser accepts can be
//! written and read back. The test `fuzz_corpora` of the program runs the kept inputs through the
//! same functions, with stable Rust.

mod protocol_lines;
mod tasks;
mod training;
mod web_requests;

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_models::files as models;
use outflank_players::PlayerSpec;
use outflank_records::wthor::{Database, Names};
use outflank_records::{boards, ggf, obf, parse_games, parse_openings, pgn, transcript};
use outflank_runs::{Journal, RunConfig, sections};
use std::path::Path;

/// A function that parses its input.
pub type Target = fn(&[u8]);

/// All targets by name, in the order of the documentation.
pub const TARGETS: [(&str, Target); 28] = [
    ("wthor", wthor),
    ("wthor-names", wthor_names),
    ("ggf", read_ggf),
    ("transcript", read_transcripts),
    ("obf", read_obf),
    ("boards", read_boards),
    ("game-file", game_file),
    ("openings-othello", openings::<Othello>),
    ("openings-checkers", openings::<Checkers>),
    ("othello", position::<Othello>),
    ("checkers", position::<Checkers>),
    ("player-file", player_file),
    ("wpc", wpc),
    ("safetensors", safetensors),
    ("policy-network", policy_network),
    ("heuristic", heuristic),
    ("features", features),
    ("player-spec", player_spec),
    ("run-config", run_config),
    ("journal", journal),
    ("checkpoint", checkpoint),
    ("training-checkpoint", training::training_checkpoint),
    ("gtp", protocol_lines::gtp),
    ("nboard", protocol_lines::nboard),
    ("engine-output", protocol_lines::engine_output),
    ("http", web_requests::http),
    ("tasks", tasks::tasks),
    ("population-jobs", training::population_jobs),
];

fn wthor(bytes: &[u8]) {
    let _ = Database::new(bytes);
    let Ok((database, _)) = Database::parse_lenient(bytes) else { return };
    for index in 0..database.len() {
        let _ = database.record(index, &Names::default());
    }
}

fn wthor_names(bytes: &[u8]) {
    let _ = Names::parse_players(bytes);
    let _ = Names::parse_tournaments(bytes);
}

fn read_ggf(bytes: &[u8]) {
    for record in ggf::games(bytes).flatten() {
        let again = ggf::games(ggf::write(&record).as_bytes()).next().expect("a game");
        assert_eq!(again.expect("written GGF is valid").end(), record.end());
        let _ = pgn::write(&record, "1");
    }
}

fn read_transcripts(bytes: &[u8]) {
    for record in transcript::games(bytes).flatten() {
        let again = transcript::game(transcript::write(&record).as_bytes());
        assert_eq!(again.expect("a written transcript is valid").end(), record.end());
    }
}

fn read_obf(bytes: &[u8]) {
    for entry in obf::entries(bytes).flatten() {
        let again = obf::entry(obf::write(&entry).as_bytes()).expect("written OBF is valid");
        assert_eq!(again.position, entry.position);
    }
}

fn read_boards(bytes: &[u8]) {
    for board in boards::boards(bytes).flatten() {
        assert_eq!(board.black & board.white, 0);
        let _ = Side::BOTH.map(|side| board.position(side));
    }
}

/// A file whose format is detected from its content. PGN and PDN are among the formats.
fn game_file(bytes: &[u8]) {
    for name in ["games", "games.pgn", "games.pdn"] {
        let _ = parse_games(Path::new(name), bytes, &Names::default());
    }
}

fn openings<P: Position>(bytes: &[u8]) {
    for first in [None, Some(Side::Black), Some(Side::White)] {
        let Ok(lines) = parse_openings::<P>(Path::new("openings"), bytes, first) else { continue };
        assert!(lines.iter().all(|line| !line.position().is_over()));
    }
}

fn position<P: Position>(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (start, moves) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(mut position) = start.parse::<P>() else { return };
    let written = position.to_string();
    assert!(written.parse::<P>().is_ok_and(|again| again == position), "{written}");
    for word in moves.split_whitespace() {
        let Ok(mv) = position.parse_move(word) else { return };
        position = position.play(mv);
    }
    assert_eq!(position.is_over(), position.moves().next().is_none());
}

fn player_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(network) = models::read_player(text) else { return };
    if let Some(written) = models::write_player(&network) {
        models::read_player(&written).expect("a written .player file is valid");
    }
}

fn wpc(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(network) = models::read_wpc(text) else { return };
    if let Some(written) = models::write_wpc(&network) {
        models::read_wpc(&written).expect("a written .wpc file is valid");
    }
}

fn safetensors(bytes: &[u8]) {
    let Ok((model, origin)) = models::read_safetensors(bytes) else { return };
    if let Ok(written) = models::write_safetensors(&model, &origin) {
        models::read_safetensors(&written).expect("a written model is valid");
    }
}

fn policy_network(bytes: &[u8]) {
    let _ = models::read_policy(bytes);
}

fn heuristic(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok((heuristic, origin)) = models::read_heuristic(text) else { return };
    if let Ok(written) = models::write_heuristic(&heuristic, &origin) {
        models::read_heuristic(&written).expect("a written heuristic is valid");
    }
}

fn features(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = models::read_tuples(text);
}

fn player_spec(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(spec) = text.parse::<PlayerSpec>() else { return };
    assert_eq!(spec.text, text);
    assert!(!spec.label().contains(char::is_control));
    let _ = text.parse::<outflank_players::EngineCommand>();
}

fn run_config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = RunConfig::is_truncated(text);
    let Ok(config) = toml::from_str::<RunConfig>(text) else { return };
    let written = config.to_text();
    assert!(!RunConfig::is_truncated(&written));
    // A seed above the range of TOML integers cannot be written, and NaN differs from itself, so the two configurations are not compared.
    let again = toml::from_str::<RunConfig>(&written);
    assert!(again.is_ok() || config.seed > i64::MAX as u64, "{written}");
}

/// The bytes as a journal, and their lines with valid checksums.
fn journal(bytes: &[u8]) {
    let _ = Journal::parse(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<&str> = text.split('\n').collect();
    let (read, length) = Journal::parse(Journal::encode(&lines).as_bytes()).expect("a journal");
    assert_eq!(read, lines);
    assert!(length > 0);
}

/// The bytes as a checkpoint, and with a valid checksum.
fn checkpoint(bytes: &[u8]) {
    let _ = sections::unpack(bytes);
    let mut valid = bytes.to_vec();
    valid.extend(outflank_runs::files::checksum(bytes).as_bytes());
    if let Ok(found) = sections::unpack(&valid) {
        assert_eq!(sections::unpack(&sections::pack(&found)).expect("packed sections"), found);
    }
}
