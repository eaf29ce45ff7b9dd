//! Options of `outflank train gp`.

use super::{CommonArgs, GameArg, RunArgs, TrainerArgs};
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank train gp --rounds 50
  outflank train gp --game checkers --acquisition random --seed 2
  outflank train gp --ask --rounds 20 --out mine
  outflank match mine@4 heuristic@4";

/// Notes below the options.
pub const NOTES: &str = "\
The method of Yelluri (2015). A heuristic is a weighted sum of a few named features of the board,
such as corners and mobility; it plays by alpha-beta search. Two heuristics are compared by games,
or by you. From these comparisons a Gaussian process predicts the strength of every heuristic, and
active learning selects the next pair to compare. The best heuristic is written as model.toml, a
player.

With --ask you compare the heuristics: you see the position that each of them would move to, or a
game of each. Answer 1, 2 or = to each question, or q to stop. Answers are saved; continue with
--resume.";

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
    /// Input of the kernel [default: directions]:
    ///   directions  the weight vector scaled to length 1
    ///   weights     the weight vector
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "directions",
        hide_default_value = true,
        value_name = "KIND",
        value_parser = ["directions", "weights"],
        hide_possible_values = true,
        help_heading = "Model"
    )]
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
    /// Games per compared pair of heuristics; the majority decides.
    #[arg(
        long,
        default_value_t = 3,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub games_per_pair: u32,
    /// Random plies at the start of each game.
    #[arg(
        long,
        default_value_t = 2,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub random_plies: u32,
    /// Acquisition function that selects the next pair [default: bald]:
    ///   bald         expected information (Houlsby et al., 2012)
    ///   uncertainty  entropy of the predicted winner
    ///   random       a random pair
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "bald",
        hide_default_value = true,
        value_name = "NAME",
        value_parser = ["bald", "random", "uncertainty"],
        hide_possible_values = true,
        help_heading = "Active learning"
    )]
    pub acquisition: String,
    /// New heuristics of each round [default: opponent]:
    ///   opponent  one, compared with the best heuristic so far
    ///   pair      two, compared with each other
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "opponent",
        hide_default_value = true,
        value_name = "KIND",
        value_parser = ["opponent", "pair"],
        hide_possible_values = true,
        help_heading = "Active learning"
    )]
    pub propose: String,
    /// Number of random heuristics in the first round [default: 5; with --propose pair: 2].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Active learning")]
    pub initial: Option<usize>,
    /// Number of earlier heuristics that each new one is also compared with [default: 5; with --ask:
    /// 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Active learning")]
    pub opponents: Option<usize>,
    /// Selection of the --opponents [default: random]:
    ///   random       at random
    ///   acquisition  by the function of --acquisition
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "random",
        hide_default_value = true,
        value_name = "KIND",
        value_parser = ["random", "acquisition"],
        hide_possible_values = true,
        help_heading = "Active learning"
    )]
    pub opponents_by: String,
    /// Ask you for each comparison instead of playing games; show positions (default) or games.
    #[arg(
        long,
        value_name = "positions|games",
        value_parser = ["positions", "games"],
        hide_possible_values = true,
        num_args = 0..=1,
        default_missing_value = "positions",
        help_heading = "Active learning"
    )]
    pub ask: Option<String>,
    /// Random starting points of the search for the pair that maximizes the acquisition function.
    #[arg(
        long,
        default_value_t = 8,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub restarts: usize,
    /// Maximum quasi-Newton (BFGS) iterations per round that fit the kernel parameters; 0 keeps them
    /// fixed.
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
    /// Number of random heuristics that each new heuristic plays; the best heuristic is the one with
    /// the highest score. 0: the one with the highest predicted strength [default: 50; with --ask:
    /// 0].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Validation")]
    pub benchmark_opponents: Option<usize>,
    /// Number of random pairs on which the accuracy of the predictions is measured [default: 1000;
    /// with --ask: 0].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Validation")]
    pub test_pairs: Option<usize>,
    /// Also estimate the highest accuracy that is possible, given that games are random: how often
    /// the winner of a test pair wins a second comparison, and how often the majority of seven new
    /// comparisons predicts the winner. The true limit is slightly higher.
    #[arg(long, help_heading = "Validation")]
    pub accuracy_limit: bool,
    /// Games of each match with a reference player after training, an even number.
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u32,
    /// How training ends and what it saves.
    #[command(flatten)]
    pub trainer: TrainerArgs,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
