//! The command line: every subcommand and option, once. Help, man page and completions come from
//! these definitions.

pub mod learn_play;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use outflank_experiments::Scale;
use outflank_games::{Game, Side};
use outflank_records::{Format, Selection};
use std::path::PathBuf;

/// A laboratory in which Othello players are learned, measured and played.
#[derive(Parser, Debug)]
#[command(
    name = "outflank",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Begin with `outflank learn`, or `outflank COMMAND --help`."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Learn a player from games, measure it, and write a run folder.
    #[command(after_help = LEARN_HELP, args_conflicts_with_subcommands = true)]
    Learn(LearnArgs),
    /// Play two players against each other from paired openings.
    #[command(after_help = PLAYER_HELP)]
    Match(MatchArgs),
    /// Play a round robin: cross table, ratings with error bars, likelihood of superiority.
    #[command(after_help = PLAYER_HELP)]
    League(LeagueArgs),
    /// How often a model picks the move that was played, by stage of the game.
    #[command(after_help = ACCURACY_HELP)]
    Accuracy(AccuracyArgs),
    /// Make a table or figure of a paper again: theirs, ours, the difference.
    Reproduce(ReproduceArgs),
    /// Game files: counts, faults, formats, decisions, games by our own players.
    #[command(subcommand)]
    Data(DataCommand),
    /// Harvest league openings by tree search.
    #[command(after_help = OPENINGS_HELP)]
    Openings(OpeningsArgs),
    /// What there is to play against.
    Players(PlayersArgs),
    /// Count the leaves of the game tree.
    Perft(PerftArgs),
    /// Measure speed, as tables with yardsticks.
    Bench(BenchArgs),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

const PLAYER_HELP: &str = "\
A player is MODEL[@SEARCH][?key=value&...].
  MODEL   an embedded name (see `outflank players`), a file (x.player, x.wpc, x.safetensors),
          a run folder, or nboard:COMMAND or gtp:COMMAND for an engine of your own
  SEARCH  nothing: one ply; @4: alpha-beta of depth 4; @4e12: also exact from 12 empties;
          @mcts5000: tree search with 5,000 simulations a move
  keys    view=negate|invert, random=0.1, noise=5, name=..., stage=46-60&with=PLAYER;
          for engines seconds=60, level=4
Examples:
  outflank match heuristic@4 'random@mcts500?name=tree'
  outflank league heuristic yoshioka random --games 200 --random 0.1
  outflank match heuristic 'gtp:gtp-rhino?name=rhino' --openings openings.txt --games 20";

const LEARN_HELP: &str = "\
Examples:
  outflank learn                                 from the embedded games
  outflank learn --features 1tuple --seed 2
  outflank learn --records games.wtb --by 'tamenori hideshi'";

const ACCURACY_HELP: &str = "\
A model is an embedded name (see `outflank players`), a file (x.player, x.wpc, x.safetensors)
or the folder of a run that learned one.
Examples:
  outflank accuracy heuristic yoshioka
  outflank accuracy runs/learn-001 heuristic --records games.wtb --years 2010-2015 --sample 1000";

const OPENINGS_HELP: &str = "\
Examples:
  outflank openings --count 100 --simulations 500 --to openings.txt
  outflank league heuristic yoshioka --openings openings.txt";

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

/// `outflank learn`.
#[derive(Args, Debug)]
pub struct LearnArgs {
    /// Methods that learn by playing instead.
    #[command(subcommand)]
    pub play: Option<learn_play::PlayMethod>,
    /// The method.
    #[arg(default_value = "ipref", value_parser = ["ipref"])]
    pub method: String,
    /// What the player looks at: the 15 n-tuples of Runarsson and Lucas (2014), or single squares.
    #[arg(long, default_value = "ntuple", value_parser = ["ntuple", "1tuple"])]
    pub features: String,
    /// The charge for a violated preference.
    #[arg(long = "c", default_value_t = 1.0, value_name = "C", allow_negative_numbers = true)]
    pub charge: f64,
    /// When to stop learning: how far the gradient must shrink.
    #[arg(long, default_value_t = 0.001, value_name = "EPS", allow_negative_numbers = true)]
    pub tolerance: f64,
    /// The most Newton steps.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub steps: u32,
    /// The share of the games that is kept for measuring.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE", allow_negative_numbers = true)]
    pub held_out: f64,
    /// Games for each match against a reference player.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub games: u64,
    /// Games to learn from.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank match`.
#[derive(Args, Debug)]
pub struct MatchArgs {
    /// The player whose score is given.
    pub a: String,
    /// The opponent.
    pub b: String,
    /// Stop early when one of two hypotheses about the Elo difference is clear.
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub sprt: Option<String>,
    /// How to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank league`.
#[derive(Args, Debug)]
pub struct LeagueArgs {
    /// The players.
    #[arg(required = true, num_args = 2.., value_name = "PLAYER")]
    pub players: Vec<String>,
    /// The draw parameter of the ratings: 0 (plain Bradley-Terry), a number, or `fit`.
    #[arg(long, default_value = "0", value_name = "ELO|fit", allow_hyphen_values = true)]
    pub draw_elo: String,
    /// The advantage of the first move: 0, a number, or `fit`.
    #[arg(long, default_value = "0", value_name = "ELO|fit", allow_hyphen_values = true)]
    pub advantage: String,
    /// Also print the league of these players alone: numbers of ranks such as 1-7 or 1,2,8-12.
    #[arg(long, value_name = "RANKS")]
    pub sub_league: Vec<String>,
    /// How to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank accuracy`.
#[derive(Args, Debug)]
pub struct AccuracyArgs {
    /// The models.
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<String>,
    /// Games to predict.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Also write CSV, JSON and a page into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank reproduce`.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// Which one, such as preference/table2 [default: lists them].
    pub exhibit: Option<String>,
    /// How large: smoke (seconds), desk (minutes) or paper (the paper's own size).
    #[arg(long, default_value = "desk", value_name = "smoke|desk|paper")]
    pub scale: Scale,
    /// The data folder; without it the embedded games and openings are used.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data ...`.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// Count games, positions and what a perfect predictor could reach.
    Stats(DataArgs),
    /// List every bad game, and go on.
    Check(DataArgs),
    /// Write games in another format.
    Convert(ConvertArgs),
    /// Write decisions (position and chosen move) as CSV or NPY.
    Export(ExportArgs),
    /// Let one of our players play games with itself from varied openings.
    Generate(GenerateArgs),
}

/// Files for `outflank data`.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Its format: wthor, ggf, transcript, obf, boards or pgn [default: by the ending of its name].
    #[arg(long)]
    pub format: Option<Format>,
    /// Which games.
    #[command(flatten)]
    pub select: SelectArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// A CSV file, or a folder for NPY arrays.
    #[arg(long, value_name = "FILE.csv|DIR")]
    pub to: PathBuf,
    /// Which games.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Leave out moves that were the only legal one.
    #[arg(long)]
    pub choices: bool,
    /// Keep a position and move once, the mover seen as Black.
    #[arg(long)]
    pub unique: bool,
    /// Add the eight images of each, without repeats.
    #[arg(long, requires = "unique")]
    pub symmetric: bool,
    /// Split by game or by example, and write the parts as train and test.
    #[arg(long, value_name = "game|example", value_parser = ["game", "example"])]
    pub split: Option<String>,
    /// The share of the test part.
    #[arg(long, default_value_t = 0.25, value_name = "SHARE", allow_negative_numbers = true)]
    pub test: f64,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data generate`.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// The file to write (.wtb, .ggf, .txt or .pgn).
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Its format: wthor, ggf, transcript or pgn [default: by the ending of its name].
    #[arg(long)]
    pub format: Option<Format>,
    /// Who plays.
    #[arg(long, default_value = "heuristic@4e12", value_name = "PLAYER")]
    pub player: String,
    /// How many games, no two alike.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub games: u32,
    /// Random moves at the start of each game.
    #[arg(long, default_value_t = 10, value_name = "PLIES", allow_negative_numbers = true)]
    pub opening: u32,
    /// Where to keep what is needed to go on after a stop.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank openings`.
#[derive(Args, Debug)]
pub struct OpeningsArgs {
    /// How many different positions.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub count: u32,
    /// After how many plies.
    #[arg(long, default_value_t = 6, value_name = "N", allow_negative_numbers = true)]
    pub ply: u32,
    /// Simulations for each move.
    #[arg(long, default_value_t = 5000, value_name = "N", allow_negative_numbers = true)]
    pub simulations: u32,
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// The file to write [default: openings.txt in the run folder].
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank players`.
#[derive(Args, Debug)]
pub struct PlayersArgs {
    /// The game.
    #[arg(long, value_enum)]
    pub game: Option<GameArg>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `outflank perft`.
#[derive(Args, Debug)]
pub struct PerftArgs {
    /// Plies.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    pub depth: u32,
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Count from another position, such as 64 of X, O and - and the side to move.
    #[arg(long, value_name = "BOARD", allow_hyphen_values = true)]
    pub board: Option<String>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `outflank bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What to measure [default: all].
    #[arg(value_parser = ["games", "records", "arena", "learners", "search"])]
    pub area: Option<String>,
    /// The data folder, for the benchmarks that need real games.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}
