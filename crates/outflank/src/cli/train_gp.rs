//! Options of `outflank train gp`.

use super::{CommonArgs, GameArg, RunArgs};
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank train gp --rounds 50
  outflank train gp --game checkers --sampling random --seed 2
  outflank train gp --ask --rounds 20 --out mine
  outflank match mine@4 heuristic@4";

/// Notes below the options.
pub const NOTES: &str = "\
A heuristic is a weight vector over a few named features of the board, played by alpha-beta. Pairs
of heuristics are compared by games, or by you. A Gaussian process learns the strength of any
heuristic from these comparisons and selects the next pair (Yelluri, 2015). The best heuristic is
written as model.toml, a player like any other.
With --ask, you see the positions that two heuristics would choose, or a game of each; answer 1, 2
or = to each question, q to stop. Answers are saved; continue with --resume.";

/// `outflank train gp`.
#[derive(Args, Debug, Clone)]
pub struct GpArgs {
    /// Game.
    #[arg(long, value_enum, default_value = "othello", help_heading = "Model")]
    pub game: GameArg,
    /// Search depth in plies.
    #[arg(
        long,
        default_value_t = 4,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub depth: u32,
    /// Input of the kernel: the direction of the weight vector (positive multiples play the same
    /// moves), or the weights.
    #[arg(long, default_value = "directions", value_parser = ["directions", "weights"],
        help_heading = "Model")]
    pub space: String,
    /// Automatic relevance determination: one length scale per weight.
    #[arg(long, help_heading = "Model")]
    pub ard: bool,
    /// Number of rounds; each compares one or two new heuristics with others.
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub rounds: u64,
    /// Games per comparison; the majority decides.
    #[arg(
        long,
        default_value_t = 3,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub pair_games: u32,
    /// Random plies at the start of each game.
    #[arg(
        long,
        default_value_t = 2,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub opening: u32,
    /// Acquisition function for the next pair: BALD, random, or predictive uncertainty.
    #[arg(long, default_value = "bald", value_parser = ["bald", "random", "uncertainty"],
        help_heading = "Active learning")]
    pub sampling: String,
    /// What a round searches for: an opponent for the best heuristic so far, or a new pair.
    #[arg(long, default_value = "opponent", value_parser = ["opponent", "pair"],
        help_heading = "Active learning")]
    pub find: String,
    /// Random heuristics in the first round [default: 5; with --find pair: 2].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Active learning")]
    pub initial: Option<usize>,
    /// Earlier heuristics that each new one is compared with [default: 5; with --ask: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Active learning")]
    pub opponents: Option<usize>,
    /// Choice of these opponents: random, or by --sampling.
    #[arg(long, default_value = "random", value_parser = ["random", "sampling"],
        help_heading = "Active learning")]
    pub opponents_by: String,
    /// Ask you instead of playing games; shows positions (default) or games.
    #[arg(
        long,
        value_name = "positions|games",
        value_parser = ["positions", "games"],
        num_args = 0..=1,
        default_missing_value = "positions",
        help_heading = "Active learning"
    )]
    pub ask: Option<String>,
    /// Random restarts of the search for the next pair.
    #[arg(
        long,
        default_value_t = 8,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub restarts: usize,
    /// Maximum quasi-Newton iterations on the kernel parameters per round; 0 keeps them fixed.
    #[arg(
        long,
        default_value_t = 10,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub kernel_iterations: usize,
    /// Maximum iterations of expectation propagation.
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub max_iterations: u32,
    /// Convergence tolerance of expectation propagation: the largest change of a site parameter.
    #[arg(
        long,
        default_value_t = 1e-4,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub tolerance: f64,
    /// Number of random heuristics that score each new one by games; 0 uses the posterior mean
    /// [default: 50; with --ask: 0].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Validation")]
    pub benchmark: Option<usize>,
    /// Random test pairs for the accuracy [default: 1000; with --ask: 0].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Validation")]
    pub tests: Option<usize>,
    /// Also estimate the accuracy limit: how often the winner of a test pair wins again, and how
    /// often the majority of seven new comparisons predicts it. The true limit is slightly higher.
    #[arg(long, help_heading = "Validation")]
    pub ceiling: bool,
    /// Games of each reference match, an even number.
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u32,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
