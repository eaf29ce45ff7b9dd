#![doc = include_str!("../README.md")]

pub mod boards;
mod check;
pub mod contract;
mod convert;
mod decisions;
pub mod embedded;
mod error;
mod example_set;
mod export;
mod format;
pub mod ggf;
pub mod labels;
mod lenient;
pub mod obf;
mod opening_names;
mod openings;
pub mod pgn;
mod record;
mod replay;
mod selection;
mod source;
mod split;
mod stats;
pub mod transcript;
pub mod wthor;

pub use check::{BadEntry, CheckReport, Warning, WarningKind, check};
pub use convert::{ConvertReport, DroppedFields, WriteError, convert, write_pgn};
pub use decisions::{
    Decision, DecisionFilter, DecisionSource, Decisions, Example, decisions, expand_symmetries,
    remove_duplicates,
};
pub use error::{ParseError, ParseErrorKind, ReadError};
pub use example_set::{ColoredExample, ExampleSet, ExampleSetKind, TrainFractions, resolve_item};
pub use export::{export_csv, export_examples_npz, export_npz, write_csv};
pub use format::Format;
pub use lenient::{LenientGames, read_games_lenient};
pub use opening_names::{NamedOpening, named_openings, opening_at, opening_of};
pub use openings::{parse_openings, read_openings};
pub use record::{GameInfo, Ply, Record, Termination};
pub use selection::Selection;
pub use source::{LoadedGames, SourceFile, game_files, parse_games, read_games};
pub use split::{
    Split, SplitError, count_overlap, sizes_from_fractions, split_examples, split_games,
};
pub use stats::{GameStats, PlyStats, ResultCounts, YearStats, stats};
