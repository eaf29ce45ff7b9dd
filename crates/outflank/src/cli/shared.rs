//! Options that several commands share.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use outflank_games::{Game, Side};
use outflank_records::Selection;
use std::path::PathBuf;

/// Syntax of players, shown below the options of commands that take players.
pub const PLAYER_SYNTAX: &str = "\
A player is MODEL[@SEARCH][?key=value&...].
  MODEL   an embedded name (see `outflank players`), a model file (x.safetensors, x.player, x.wpc,
          x.toml), a run folder, or nboard:COMMAND or gtp:COMMAND for an external engine
  SEARCH  none: 1-ply for a value model, no search for a policy network (cnn, experts);
          @4: alpha-beta of depth 4; @4e12: also exact from 12 empties;
          @mcts5000: MCTS with 5,000 simulations per move
  keys    view=negate|invert, random=0.1, noise=5, name=..., stage=46-60&with=PLAYER,
          symmetries=8 (test-time augmentation of a policy network);
          engines: seconds=60, level=4;
          search: seconds=1, nodes=100000 (limits per move), threads=2,
          cut=1.5 (ProbCut threshold in standard deviations; 0: no selective pruning)";

/// Options of most commands.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Common")]
pub struct CommonArgs {
    /// Seed of all randomness; the same seed gives the same bytes.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
    /// Number of threads; results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
    /// Read options from a TOML file, such as the config.toml of a run; keys are the long option
    /// names.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set an option by its key; overrides --config.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl CommonArgs {
    /// The number of threads to use.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The run folder.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub struct RunArgs {
    /// Run folder to create [default: the next free runs/COMMAND-001].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Resume a stopped run; other options are taken from its saved configuration.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
}

/// A game, by name.
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

/// A side, by name.
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

/// A selection of games.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Data")]
pub struct SelectArgs {
    /// Only games of these years, such as 1990-1999 or 2003.
    #[arg(long, value_name = "A-B", value_parser = years)]
    pub years: Option<(u16, u16)>,
    /// Only games of this player, and only their moves: part of the name, or `=` and the full name.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Only games of this tournament: part of the name, or `=` and the full name.
    #[arg(long, value_name = "NAME")]
    pub tournament: Option<String>,
    /// Only a uniform random sample of N games.
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

/// Parses `A-B` or a single year.
pub(super) fn years(text: &str) -> Result<(u16, u16), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err("give a year or a range of years, such as 1990-1999".to_owned()),
    }
}

/// Parses a sample size.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number of games, at least 1".to_owned()),
    }
}

/// Games to read.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Data")]
pub struct RecordsArgs {
    /// Game files or folders (.wtb, .ggf, transcripts) [default: wthor in the data folder, else the
    /// embedded games].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub records: Vec<PathBuf>,
    /// Filters.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Data folder.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA", hide_env_values = true)]
    pub data: Option<PathBuf>,
}

/// Games to play.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Games")]
pub struct ContestArgs {
    /// Game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Starting positions: `start`, or a file of boards, transcripts or OBF.
    #[arg(long, default_value = "start", value_name = "start|FILE")]
    pub openings: String,
    /// Games per pair of players, an even number: each opening twice with colors swapped
    /// [default: every opening twice; 1000 from start].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub games: Option<u64>,
    /// Side to move in the openings [default: as in the file, else black].
    #[arg(long, value_enum)]
    pub first: Option<SideArg>,
    /// Probability that a move of either player is replaced by a random one.
    #[arg(long, default_value_t = 0.0, value_name = "P", allow_negative_numbers = true)]
    pub random: f64,
}
