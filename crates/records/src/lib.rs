//! Games as files and as data.
//!
//! A [`Record`] is a game that was played, every move of it legal, with what is known about it.
//! [`read_games`] takes records from files and folders of any format, [`convert()`] writes them,
//! [`check()`] lists everything that is wrong with files, and [`read_openings`] reads where games
//! should begin.
//!
//! | format | files | holds |
//! |---|---|---|
//! | [`wthor`] | `.wtb` with `.JOU` and `.TRN` | games from the usual start, names, results, perfect results |
//! | [`ggf`] | `.ggf` | everything that a record can say |
//! | [`transcript`] | `.transcript`, `.txt` | starts and moves |
//! | [`obf`] | `.obf` | positions and what their moves are worth |
//! | [`boards`] | `.boards`, `.edax`, `.txt` | positions |
//! | [`pgn`] | `.pgn`, written but not read | names and results for rating programs, moves |
//!
//! Records become [`decisions()`], which learners read, and [`stats()`], which people read.
//!
//! ```
//! use outflank_games::Position;
//! use outflank_records::{About, ggf, transcript};
//!
//! let mut record = transcript::game(b"f5d6c3d3c4f4")?;
//! record.about = GameInfo { black: "Ada".into(), white: "Ben".into(), ..About::default() };
//! let text = ggf::write(&record);
//! assert!(text.starts_with("(;GM[Othello]PB[Ada]PW[Ben]"));
//! assert_eq!(ggf::game(text.as_bytes())?, record);
//! assert_eq!(record.end().pieces(), 10);
//! # Ok::<(), outflank_records::Reason>(())
//! ```
//!
//! No parser trusts what it reads. A file that is damaged or made to do harm gives a [`Fault`] that
//! names the game and the byte, never a panic, and takes memory and time in proportion to its
//! length, whatever its header announces. Nothing here knows a model or a player.

pub mod boards;
mod check;
mod convert;
mod decisions;
pub mod embedded;
mod export;
mod fault;
mod format;
pub mod ggf;
mod named;
pub mod obf;
mod openings;
pub mod pgn;
mod record;
mod replay;
mod salvage;
mod selection;
mod sets;
mod source;
mod split;
mod stats;
pub mod transcript;
pub mod wthor;

pub use check::{Bad, Checked, Oddity, Warning, check};
pub use convert::{Losses, WriteError, Written, convert, write_pgn};
pub use decisions::{
    Decision, Decisions, Example, Forced, Source, DecisionFilter, decisions, expand_symmetries,
    is_played_by, remove_duplicates,
};
pub use export::{export_csv, export_examples_npy, export_npy, write_csv};
pub use fault::{Fault, ReadError, Reason};
pub use format::Format;
pub use named::{NamedOpening, named_openings, opening_at, opening_of};
pub use openings::{parse_openings, read_openings};
pub use record::{About, Ending, Ply, Record};
pub use salvage::{LenientGames, read_games_lenient};
pub use selection::Selection;
pub use sets::{ColoredExample, ExampleSet, Set, image};
pub use source::{Games, SourceFile, game_files, parse_games, read_games};
pub use split::{Split, SplitError, count_overlap, sizes_from_fractions, split_examples, split_games};
pub use stats::{PlyStats, Results, Stats, YearStats, stats};
