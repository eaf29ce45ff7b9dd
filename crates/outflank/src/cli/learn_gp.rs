//! The options of `outflank learn gp`.

use super::{Common, GameArg, RunArgs};
use clap::Args;

/// What stands below the options in the help.
pub const GP_HELP: &str = "\
A heuristic is a weight for each of a few named features of the board, played by alpha-beta. Which
of two is better is found out by games, or by asking you; a Gaussian process learns from that how
strong any heuristic is, and says which pair to compare next (Yelluri, 2015).
The best heuristic is written as model.toml, a player like any other.
With --ask you are shown two positions that two heuristics would play to, or a game of each; answer
1, 2 or = on each question, q to stop. What you answered is kept; go on with --resume.
Examples:
  outflank learn gp --rounds 50
  outflank learn gp --game checkers --sampling random --seed 2
  outflank learn gp --ask --rounds 20 --out taste
  outflank match taste@4 heuristic@4";

/// `outflank learn gp`.
#[derive(Args, Debug, Clone)]
pub struct GpArgs {
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// How many rounds; each compares one new heuristic or two with others.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub rounds: u64,
    /// How the next pair is chosen: by what its comparison would tell, at random, or by how
    /// uncertain its winner is.
    #[arg(long, default_value = "bald", value_parser = ["bald", "random", "uncertainty"])]
    pub sampling: String,
    /// What a round looks for: an opponent for the best heuristic so far, or an entirely new pair.
    #[arg(long, default_value = "opponent", value_parser = ["opponent", "pair"])]
    pub find: String,
    /// Random heuristics to begin with [default: 5, or 2 with --find pair].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub initial: Option<usize>,
    /// With how many known heuristics each new one is compared [default: 5, or 1 with --ask].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub opponents: Option<usize>,
    /// How these are chosen: at random, or as the pair is.
    #[arg(long, default_value = "random", value_parser = ["random", "sampling"])]
    pub opponents_by: String,
    /// Ask you instead of playing games: show positions (as --ask alone does), or games.
    #[arg(
        long,
        value_name = "positions|games",
        value_parser = ["positions", "games"],
        num_args = 0..=1,
        default_missing_value = "positions"
    )]
    pub ask: Option<String>,
    /// Random heuristics that each new one plays to be scored; 0 goes by what is believed
    /// [default: 50, or 0 with --ask].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub benchmark: Option<usize>,
    /// Random pairs with known winners to measure the accuracy on [default: 1000, or 0 with --ask].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tests: Option<usize>,
    /// Also measure how often the winner of a test pair wins again in fresh games, and how often the
    /// majority of seven fresh comparisons names it. Neither is a bound: whoever knew the odds of each
    /// pair would name a little more than that majority.
    #[arg(long)]
    pub ceiling: bool,
    /// Games against each reference player at the end, an even number.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub measured_games: u32,
    /// How many plies alpha-beta looks ahead.
    #[arg(long, default_value_t = 4, value_name = "PLIES", allow_negative_numbers = true)]
    pub depth: u32,
    /// Games of a comparison, the majority decides.
    #[arg(long, default_value_t = 3, value_name = "N", allow_negative_numbers = true)]
    pub pair_games: u32,
    /// Random moves at the start of each game.
    #[arg(long, default_value_t = 2, value_name = "PLIES", allow_negative_numbers = true)]
    pub opening: u32,
    /// What tells heuristics apart: the ratios of their weights, since multiples play the same, or
    /// the weights themselves.
    #[arg(long, default_value = "directions", value_parser = ["directions", "weights"])]
    pub space: String,
    /// Each weight has a length scale of its own.
    #[arg(long)]
    pub ard: bool,
    /// How often the search for the next pair starts anew.
    #[arg(long, default_value_t = 8, value_name = "N", allow_negative_numbers = true)]
    pub restarts: usize,
    /// The most quasi-Newton steps towards better length scales in a round; 0 keeps them.
    #[arg(long, default_value_t = 10, value_name = "N", allow_negative_numbers = true)]
    pub steps: usize,
    /// Expectation propagation ends when no site changes by more.
    #[arg(long, default_value_t = 1e-4, value_name = "EPS", allow_negative_numbers = true)]
    pub tolerance: f64,
    /// The most sweeps over all comparisons.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub sweeps: u32,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}
