//! Options that several commands share.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use outflank_games::{Game, Side, built_in_games};
use outflank_learners::training::Monitor;
use outflank_records::Selection;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Syntax of players, shown below the options of commands that take players.
pub const PLAYER_SYNTAX: &str = "\
A player is MODEL[@SEARCH][?key=value&...].
  MODEL   an embedded model (see `outflank players`), a model file (x.safetensors, x.player,
          x.wpc, x.toml), a run folder, or an external engine: gtp:COMMAND, nboard:COMMAND
  SEARCH  (nothing)  1 ply for a model that evaluates positions; no search for one that
                     predicts moves (cnn, experts, a move-predictor)
          @4         alpha-beta to depth 4
          @4e12      the same, and exact from 12 empty squares
          @mpc14e20  selective search (multi-ProbCut) to depth 14, exact from 20 empty squares
          @mpc       selective search within seconds= or nodes=
          @mcts5000  Monte-Carlo tree search with 5,000 simulations per move
  Keys of any player:
    name=TEXT               name in tables
    random=0.1              probability of a random move
    plies=46-60&with=OTHER  the player OTHER makes moves 46 to 60 of the game
  Keys of models:
    noise=5                 standard deviation of random numbers added to values
    symmetries=8            averages a move predictor over the 8 symmetries of a position
    view=negate, =invert    for White: negates the value, or swaps the colors of the board
  Keys of searches:
    seconds=1, nodes=100000 limits per move; with @mpc, seconds= is the mean per move of a game
    threads=2               threads of a search
    cut=1.5                 ProbCut threshold in standard deviations; 0: no selective pruning
    clock=cpu               seconds= counts CPU time of the searching thread
    without=history         the selective search (@mpc) without some techniques
  Keys of external engines:
    seconds=60              timeout per move
    level=4                 search depth
    start_timeout=10        seconds in which an engine must start";

/// Options of most commands.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Common")]
pub struct CommonArgs {
    /// Random seed; the same seed gives the same results.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
    /// Options that do not concern randomness.
    #[command(flatten)]
    pub unseeded: UnseededArgs,
}

impl Deref for CommonArgs {
    type Target = UnseededArgs;

    fn deref(&self) -> &UnseededArgs {
        &self.unseeded
    }
}

/// Common options of commands without randomness.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Common")]
pub struct UnseededArgs {
    /// Number of threads; results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
    /// Read options from a TOML file, such as the config.toml of a run. Its keys are the names of
    /// the options, such as learning-rate = 0.1.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set an option, such as learning-rate=0.1; overrides --config.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl UnseededArgs {
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
    /// Run folder to create [default: the next free of runs/COMMAND-001, -002, ...].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Resume a stopped run; other options are taken from its saved configuration.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
}

/// How training ends and what it saves; the same for all methods.
#[derive(Args, Debug, Clone)]
pub struct TrainerArgs {
    /// Time limit, such as 90s, 10m or 2h: training ends, the model is measured, and the run can be
    /// resumed.
    #[arg(long, value_name = "TIME", value_parser = super::duration::parse, help_heading = "Budget")]
    pub time_limit: Option<Duration>,
    /// Early stopping: stop after N measurements in which the validation metric did not improve, and
    /// keep the model with the best one.
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Validation")]
    pub patience: Option<u32>,
    /// Keep the model with the best validation metric instead of the last one (implied by
    /// --patience).
    #[arg(long, help_heading = "Validation")]
    pub best: bool,
    /// Time between checkpoints, besides those after each measurement.
    #[arg(long, default_value = "2m", value_name = "TIME", value_parser = super::duration::parse,
        help_heading = "Output")]
    pub checkpoint_every: Duration,
}

impl TrainerArgs {
    /// The metric that selects the model, if one is asked for.
    pub fn monitor(&self, column: &str) -> Option<Monitor> {
        let column = column.to_owned();
        (self.best || self.patience.is_some())
            .then_some(Monitor { column, patience: self.patience })
    }

    /// The settings by option name, as far as they affect the result.
    pub fn settings(&self) -> Vec<(&'static str, toml::Value)> {
        let mut settings = Vec::new();
        if let Some(patience) = self.patience {
            settings.push(("patience", i64::from(patience).into()));
        }
        if self.best {
            settings.push(("best", true.into()));
        }
        settings
    }

    /// The time limit by option name, for the configuration of the run.
    pub fn time_limit_setting(&self) -> Option<(&'static str, toml::Value)> {
        let limit = self.time_limit?;
        Some(("time-limit", format!("{}s", limit.as_secs_f64()).into()))
    }

    /// Checks the options.
    pub fn check(&self) -> anyhow::Result<()> {
        crate::errors::ensure_usage!(
            !self.checkpoint_every.is_zero(),
            "--checkpoint-every must be above 0s"
        );
        crate::errors::ensure_usage!(self.patience != Some(0), "--patience must be at least 1");
        Ok(())
    }
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
        static GAMES: OnceLock<Vec<GameArg>> = OnceLock::new();
        GAMES.get_or_init(|| built_in_games().iter().copied().map(GameArg).collect())
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
    /// Only games of this player; where moves are learned, tested or exported, only this player's
    /// moves. NAME matches any part of a name, ignoring case; =NAME matches the full name only.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Only games of this tournament. NAME matches as with --by.
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
    /// Game files or folders of them: WTHOR (.wtb), GGF, transcripts, PGN, run folders of match, league
    /// and data generate [default: the folder wthor in the data folder, else the 10,000 embedded
    /// games].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub records: Vec<PathBuf>,
    /// Filters.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Data folder, with game files in its subfolder wthor.
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
    /// Starting positions: `start` (of the game), or a file of boards, transcripts or OBF.
    #[arg(long, default_value = "start", value_name = "start|FILE")]
    pub openings: String,
    /// Games per pair of players, an even number: each opening is played twice, with colors swapped
    /// [default: every opening twice; 1000 with `--openings start`].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub games: Option<u64>,
    /// Color to move in the openings [default: as in the file, else black].
    #[arg(long, value_enum, value_name = "COLOR")]
    pub first: Option<SideArg>,
    /// Probability that a move of either player is replaced by a random one.
    #[arg(long, default_value_t = 0.0, value_name = "P", allow_negative_numbers = true)]
    pub random: f64,
}
