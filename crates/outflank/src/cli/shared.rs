//! Options that several commands share.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use outflank_games::{Game, Side};
use outflank_records::Selection;
use std::path::PathBuf;

/// Options that many commands share.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// The seed of everything random: the same seed gives the same bytes.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
    /// How many threads work; the results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
    /// Take options from a TOML file, such as a run's config.toml: its keys are the long names of
    /// the options.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set an option as the file would; stronger than the file.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl Common {
    /// The number of threads to use.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Where a run writes.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// The folder for this run's files [default: the next free runs/COMMAND-001].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Go on with a run that was stopped; what is not given again is as it was.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
}

/// Which game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameArg(Game);

impl From<GameArg> for Game {
    fn from(game: GameArg) -> Game {
        game.0
    }
}

impl ValueEnum for GameArg {
    fn value_variants<'a>() -> &'a [GameArg] {
        &[GameArg(Game::Othello), GameArg(Game::Checkers)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Who moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideArg(Side);

impl From<SideArg> for Side {
    fn from(side: SideArg) -> Side {
        side.0
    }
}

impl ValueEnum for SideArg {
    fn value_variants<'a>() -> &'a [SideArg] {
        &[SideArg(Side::Black), SideArg(Side::White)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Side::Black => "black",
            Side::White => "white",
        }))
    }
}

/// Which of many games.
#[derive(Args, Debug, Clone)]
pub struct SelectArgs {
    /// Only games of these years, such as 1990-1999 or 2003.
    #[arg(long, value_name = "A-B", value_parser = years)]
    pub years: Option<(u16, u16)>,
    /// Only games, and only moves, of this player: part of the name, or `=` and the whole name.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Only games of this tournament: part of the name, or `=` and the whole name.
    #[arg(long, value_name = "NAME")]
    pub tournament: Option<String>,
    /// Only so many games, drawn uniformly by the seed.
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub sample: Option<usize>,
}

impl From<&SelectArgs> for Selection {
    fn from(args: &SelectArgs) -> Selection {
        Selection {
            years: args.years,
            by: args.by.clone(),
            tournament: args.tournament.clone(),
            sample: args.sample,
        }
    }
}

/// Reads `A-B` or a single year.
fn years(text: &str) -> Result<(u16, u16), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err("give a year or a range of years, such as 1990-1999".to_owned()),
    }
}

/// Reads a number of games to draw.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number of games, at least 1".to_owned()),
    }
}

/// Games to read.
#[derive(Args, Debug, Clone)]
pub struct RecordsArgs {
    /// Game files or folders (.wtb, .ggf, transcripts) [default: the data folder's wthor, or the
    /// embedded games].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub records: Vec<PathBuf>,
    /// Which games.
    #[command(flatten)]
    pub select: SelectArgs,
    /// The data folder.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
}

/// Games to play.
#[derive(Args, Debug, Clone)]
pub struct PlayArgs {
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Where games start: `start`, or a file of boards, transcripts or OBF.
    #[arg(long, default_value = "start", value_name = "start|FILE")]
    pub openings: String,
    /// Games for each pair, an even number: the first N/2 openings, each twice with colours
    /// swapped [default: every opening twice; 1000 from start].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub games: Option<u64>,
    /// Who moves first in the openings [default: what the file says, else black].
    #[arg(long, value_enum)]
    pub first: Option<SideArg>,
    /// The share of moves that both players are forced to play at random.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", allow_negative_numbers = true)]
    pub random: f64,
}
