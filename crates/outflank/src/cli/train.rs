//! Options of `outflank train`.

use super::train_play::TrainMethod;
use super::{CommonArgs, RecordsArgs, RunArgs};
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Subcommand, ValueEnum};
use outflank_learners::methods::Method;
use std::ffi::OsStr;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank train                                     iPref on the embedded games
  outflank train mm --features tuples.txt --sample 500
  outflank train --solver online --features patterns --records wthor/ --test-years 2013-2015
  outflank train tdl --games 200000                  methods that play have their own --help
  outflank train cnn --net conv8-bn --records wthor/ --time-limit 10m";

/// Notes below the options.
pub const NOTES: &str = "\
Methods that train on games (Runarsson & Lucas, 2014):
  ipref     preferences between moves, board inverted for White (default; the strongest)
  pref      preferences between moves, value negated for White
  classify  binary classification: chosen moves against all other legal moves
  mm        Bradley-Terry model of moves, by minorization-maximization
  lstd      least-squares temporal differences over whole games
Not in that paper:
  ipref --solver online   stochastic gradient descent for any number of games: large patterns,
                          weights by stage of the game, softmax or margin loss
  move-predictor          scores a move in its context without playing it; trained online
Options that have no effect with a method are errors.

A feature file lists one tuple per line: squares as numbers 0 (a1) to 63 (h8) or as names, at most
12. Each tuple is applied in all eight symmetries. After a line `plain`, tuples are applied as
listed; after a line `symmetric`, in eight symmetries again. A # starts a comment:
  # a corner with its neighbors, and the edge
  a1 b1 a2 b2
  0 1 2 3 4 5 6 7

Without --records, the games of the data folder are used, or the embedded games if there is none: a
sample of 4,000 games unless --sample is given. ipref, pref and lstd use all 10,000 embedded games;
online training uses all games of the data folder.

A stopped run continues with --resume and gives the same bytes. Finished games are not replayed.
Unfinished training restarts; online training continues after the last epoch of each stage.";

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
    /// Training method; methods with their own options are subcommands.
    #[arg(value_parser = AnyMethod, default_value = "ipref")]
    pub method: MethodArg,
    /// Features: the 15 n-tuples of Runarsson & Lucas (2014); single squares; 18 large patterns of
    /// the whole board, or the 13 classic ones (with mobility etc. for --solver online); all
    /// straight lines of a length, with or without the 2x2 squares (all3+2x2); the 2x2 squares
    /// alone (all2x2); or the tuples in a file.
    #[arg(
        long,
        default_value = "ntuple",
        value_name = "ntuple|1tuple|patterns|classic|allN|FILE",
        help_heading = "Model"
    )]
    pub features: String,
    /// Discs per stage of the game; each stage has its own weights (ipref --solver online,
    /// move-predictor) [default: 4].
    #[arg(long, value_name = "DISCS", allow_negative_numbers = true, help_heading = "Model")]
    pub stage: Option<u32>,
    /// Binary features: count a feature once if it occurs several times (ipref, pref).
    #[arg(long, help_heading = "Model")]
    pub binary: bool,
    /// Count features: use the number of occurrences of each feature (mm).
    #[arg(long, help_heading = "Model")]
    pub multivalued: bool,
    /// Also use features of the afterstate, the position after the move (move-predictor).
    #[arg(long, help_heading = "Model")]
    pub afterstates: bool,
    /// Maximum iterations: Newton steps (ipref, pref, classify) [default: 100], epochs of dual
    /// coordinate descent (--solver dual) [default: 1000], MM iterations (mm) [default: 200].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Budget")]
    pub max_iterations: Option<u32>,
    /// Number of epochs (ipref --solver online, move-predictor) [default: 8].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Budget")]
    pub epochs: Option<u32>,
    /// Games to train on.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Solver: Newton's method on all cores, LIBLINEAR's dual coordinate descent (ipref, pref), or
    /// stochastic gradient descent (ipref) [default: primal].
    #[arg(long, value_parser = ["primal", "dual", "online"], help_heading = "Optimizer")]
    pub solver: Option<String>,
    /// Loss: cross-entropy or squared hinge (ipref --solver online, move-predictor)
    /// [default: softmax].
    #[arg(long, value_parser = ["softmax", "margin"], help_heading = "Optimizer")]
    pub loss: Option<String>,
    /// Initial learning rate, decayed linearly to 0 (ipref --solver online, move-predictor)
    /// [alias: --lr] [default: 0.1].
    #[arg(
        long,
        alias = "lr",
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: Option<f64>,
    /// Stopping tolerance: relative gradient norm (ipref, pref, classify) [default: 1e-3], range of
    /// projected gradients (--solver dual) [default: 0.1], log-likelihood gain per decision (mm)
    /// [default: 1e-6].
    #[arg(long, value_name = "EPS", allow_negative_numbers = true, help_heading = "Optimizer")]
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
    /// Ridge regularization relative to the mean diagonal (lstd) [default: 1e-6].
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub ridge: Option<f64>,
    /// Prior: virtual wins and losses per feature (mm) [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub prior: Option<f64>,
    /// Fraction of the games held out for testing.
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
    /// Games of each reference match, an even number.
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u64,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
