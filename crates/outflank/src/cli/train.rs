//! Options of `outflank train`.

use super::train_play::TrainMethod;
use super::{CommonArgs, RecordsArgs, RunArgs, TrainerArgs};
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Subcommand, ValueEnum};
use outflank_learners::methods::Method;
use std::ffi::OsStr;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank train                     trains on the embedded games with ipref, the default method
  outflank train mm --features tuples.txt --sample 500
  outflank train --solver online --features patterns --records wthor/ --test-years 2013-2015
  outflank train tdl --games 200000                        `outflank help train tdl` has its options
  outflank train cnn --net conv8-bn --records wthor/ --time-limit 10m";

/// Notes below the options.
pub const NOTES: &str = "\
Methods of Runarsson & Lucas (2014), which train a linear evaluation function on recorded games:
  ipref           preference learning (a linear SVM on pairs of moves): the position after the
                  played move ranks above those after the other legal moves. The colors of the board
                  are swapped when White moves. The default, and the strongest of the five
  pref            the same, but the value is negated when White moves
  classify        linear SVM that separates played moves from all other legal moves
  mm              Bradley-Terry model of moves, fitted by minorization-maximization
  lstd            least-squares temporal differences: predicts the result of the game
Methods that are not in that paper:
  ipref --solver online
                  the same model as ipref, trained by AdaGrad, one position at a time: for
                  large patterns, many games, and separate weights for each stage of the game
  move-predictor  policy that scores a move by the squares around it, without playing the move;
                  trained by AdaGrad, one position at a time
An option that has no effect with the chosen method is an error.

A feature file has one tuple (a list of up to 12 squares) per line. Squares are names, or numbers
from 0 (a1) to 63 (h8). Each tuple also stands for its rotations and reflections. They are left out
for the tuples after a line `plain`, until a line `symmetric`. # starts a comment:
  # a corner with its neighbors, and the edge
  a1 b1 a2 b2
  0 1 2 3 4 5 6 7

Training games: those of --records, else those in the data folder, else the 10,000 embedded games.
Unless --records or --sample is given, a random sample of 4,000 games is used. Exceptions: ipref,
pref and lstd use all embedded games; online training uses all games of the data folder.

A stopped run continues with --resume from its last checkpoint and gives the same bytes. Finished
games are not replayed. A finished run is extended by a larger budget: --resume DIR --epochs N.";

/// A method by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodArg(pub Method);

impl ValueEnum for MethodArg {
    fn value_variants<'a>() -> &'a [MethodArg] {
        const ALL: [MethodArg; Method::ALL.len()] = {
            let mut all = [MethodArg(Method::IPref); Method::ALL.len()];
            let mut i = 0;
            while i < all.len() {
                all[i] = MethodArg(Method::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Parses a method that trains on games; suggests the nearest of all methods for a typo.
#[derive(Clone)]
struct AnyMethod;

impl TypedValueParser for AnyMethod {
    type Value = MethodArg;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<MethodArg, clap::Error> {
        let known = EnumValueParser::<MethodArg>::new();
        known.parse_ref(command, arg, value).map_err(|_| {
            let name = value.to_string_lossy();
            let with_options = TrainMethod::augment_subcommands(Command::new("methods"));
            let with_options = with_options.get_subcommands().map(Command::get_name);
            let all: Vec<&str> =
                Method::ALL.iter().map(|method| method.name()).chain(with_options).collect();
            let suggestion = match &*name {
                "selfplay" => "did you mean 'self-play'?".to_owned(),
                "rater" => "did you mean 'move-predictor'?".to_owned(),
                name => outflank_runs::did_you_mean(name, &all),
            };
            let text = format!("there is no method '{name}'; {suggestion}\n");
            clap::Error::raw(ErrorKind::InvalidValue, text).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(MethodArg::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// `outflank train`.
#[derive(Args, Debug, Clone)]
pub struct TrainArgs {
    /// Methods with their own options.
    #[command(subcommand)]
    pub method_with_options: Option<TrainMethod>,
    /// Training method, described below; methods with their own options are listed under Commands.
    #[arg(value_parser = AnyMethod, default_value = "ipref")]
    pub method: MethodArg,
    /// Features of the board [default: ntuple]:
    ///   ntuple    the 15 n-tuples of Runarsson & Lucas (2014)
    ///   1tuple    single squares
    ///   classic   13 patterns as in Logistello: rows, edges, corners
    ///   patterns  classic, and 5 patterns around the center
    ///   all3      all straight lines of 3 squares; likewise all1 to all8
    ///   all2x2    all blocks of 2x2 squares
    ///   all3+2x2  both
    ///   FILE      the tuples in a file, see below
    /// With --solver online, patterns and classic also have mobility, potential mobility and parity.
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "ntuple",
        value_name = "FEATURES",
        hide_default_value = true,
        help_heading = "Model"
    )]
    pub features: String,
    /// Length of a stage of the game, in discs on the board; each stage has its own weights (ipref
    /// --solver online, move-predictor) [default: 4].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Model")]
    pub discs_per_stage: Option<u32>,
    /// Binary features: 1 if a feature occurs, even several times (ipref, pref) [default: its number
    /// of occurrences].
    #[arg(long, help_heading = "Model")]
    pub binary: bool,
    /// Features are numbers of occurrences (mm) [default: binary].
    #[arg(long, help_heading = "Model")]
    pub multivalued: bool,
    /// Also use features of the afterstate, the position after the move (move-predictor).
    #[arg(long, help_heading = "Model")]
    pub afterstates: bool,
    /// Maximum iterations of the solver:
    ///   ipref, pref, classify  Newton steps [default: 100]
    ///   --solver dual          epochs of coordinate descent [default: 1000]
    ///   mm                     MM iterations [default: 200]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub max_iterations: Option<u32>,
    /// Number of epochs (ipref --solver online, move-predictor) [default: 8].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Budget")]
    pub epochs: Option<u32>,
    /// Games to train on.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Solver [default: primal]:
    ///   primal  Newton's method, on all cores (ipref, pref)
    ///   dual    dual coordinate descent, as in LIBLINEAR (ipref, pref)
    ///   online  AdaGrad, one position at a time (ipref)
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "NAME",
        value_parser = ["primal", "dual", "online"],
        hide_possible_values = true,
        help_heading = "Optimizer"
    )]
    pub solver: Option<String>,
    /// Loss of online training [default: softmax]:
    ///   softmax  cross-entropy over the legal moves
    ///   margin   squared hinge loss
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "NAME",
        value_parser = ["softmax", "margin"],
        hide_possible_values = true,
        help_heading = "Optimizer"
    )]
    pub loss: Option<String>,
    /// Initial learning rate of AdaGrad, decayed linearly to 0 (ipref --solver online, move-predictor)
    /// [alias: --lr] [default: 0.1].
    #[arg(
        long,
        alias = "lr",
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: Option<f64>,
    /// Stopping tolerance of the solver:
    ///   ipref, pref, classify  relative norm of the gradient [default: 1e-3]
    ///   --solver dual          range of the projected gradients [default: 0.1]
    ///   mm                     gain in log-likelihood per move [default: 1e-6]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub tolerance: Option<f64>,
    /// Regularization parameter C of the squared hinge loss (ipref, pref, classify) [default: 1].
    #[arg(long = "c", value_name = "C", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub c: Option<f64>,
    /// Do not balance the classes: every move has the same weight (classify).
    #[arg(long, help_heading = "Optimizer")]
    pub unbalanced: bool,
    /// Trace decay λ, from 0 to 1 (lstd) [default: 0.9].
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub lambda: Option<f64>,
    /// Ridge regularization, as a multiple of the mean diagonal element of the matrix (lstd)
    /// [default: 1e-6].
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub ridge: Option<f64>,
    /// Prior of each feature: this many virtual wins and as many virtual losses (mm) [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub prior: Option<f64>,
    /// Fraction of the games held out as the test set.
    #[arg(
        long,
        default_value_t = 0.2,
        value_name = "FRACTION",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub held_out: f64,
    /// Test on the games of these years and train on all others; overrides --held-out.
    #[arg(long, value_name = "A-B", value_parser = super::shared::years,
        help_heading = "Validation")]
    pub test_years: Option<(u16, u16)>,
    /// Games of each match with a reference player after training, an even number.
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u64,
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
