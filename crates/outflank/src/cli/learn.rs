//! Options of `outflank learn`.

use super::learn_play::PlayMethod;
use super::{Common, RecordsArgs, RunArgs};
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Subcommand, ValueEnum};
use outflank_learners::methods::Method;
use std::ffi::OsStr;

/// What stands below the options in the help.
pub const LEARN_HELP: &str = "\
Methods (Runarsson and Lucas, 2014):
  ipref     preferences between moves, the board seen by the mover: the default and the strongest
  pref      preferences, White taking the negative
  classify  chosen moves against all others
  mm        a Bradley-Terry model of moves, by minorization-maximization
  lstd      least squares temporal differences over whole games
Beyond that paper:
  ipref --solver online   any number of games, one choice at a time: large patterns, weights by
            stage of the game, softmax or margin loss
  rater     how good a move is in its context, without playing it; online too
An option that the method does not look at is refused.

A file of features lists tuples, one a line: squares as numbers 0 (a1) to 63 (h8) or as names, at
most 12. Each is read in all eight symmetric ways; below a line `plain` tuples are read where they
stand, below a line `symmetric` in eight ways again. What follows a # is a remark:
  # a corner with its neighbours, and the edge
  a1 b1 a2 b2
  0 1 2 3 4 5 6 7

Without --records the games of the data folder are learned from, without that the embedded ones;
4,000 of them when there are more and --sample does not say otherwise; ipref, pref and lstd take all
10,000 embedded ones. Learning online takes all games of the data folder.

A run that was stopped goes on with --resume, and the result is the same to the last byte. Games
that were played are kept; learning begins anew unless it was finished, but online goes on after the
last pass of each stage.

Examples:
  outflank learn                                 from the embedded games
  outflank learn --features 1tuple --seed 2
  outflank learn mm --features tuples.txt --sample 500
  outflank learn lstd --lambda 0.8 --records games.wtb
  outflank learn --records games.wtb --by 'tamenori hideshi'
  outflank learn --solver online --features patterns --records wthor/ --test-years 2013-2015";

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

/// Reads a method that learns from games; a slip is answered with the nearest of all methods.
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
            let playing = PlayMethod::augment_subcommands(Command::new("methods"));
            let playing = playing.get_subcommands().map(Command::get_name);
            let all: Vec<&str> =
                Method::ALL.iter().map(|method| method.name()).chain(playing).collect();
            let meant = outflank_runs::did_you_mean(&name, &all);
            let text = format!("there is no method '{name}'; {meant}\n");
            clap::Error::raw(ErrorKind::InvalidValue, text).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(MethodArg::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// `outflank learn`.
#[derive(Args, Debug, Clone)]
pub struct LearnArgs {
    /// Methods that learn by playing instead.
    #[command(subcommand)]
    pub play: Option<PlayMethod>,
    /// The method; those that learn by playing are listed as commands.
    #[arg(value_parser = AnyMethod, default_value = "ipref")]
    pub method: MethodArg,
    /// What the player looks at: the 15 n-tuples of Runarsson and Lucas (2014), single squares, 18
    /// large patterns of the whole board or the 13 classic ones (with mobility and the like for
    /// --solver online), all straight lines of a length with or without the 2x2 squares (all3+2x2), those
    /// squares alone (all2x2), or the tuples that a file lists.
    #[arg(long, default_value = "ntuple", value_name = "ntuple|1tuple|patterns|classic|allN|FILE")]
    pub features: String,
    /// Games to learn from.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// The share of the games that is kept for measuring.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE", allow_negative_numbers = true)]
    pub held_out: f64,
    /// Measure on the games of these years and learn from all others, instead of --held-out.
    #[arg(long, value_name = "A-B", value_parser = super::shared::years)]
    pub test_years: Option<(u16, u16)>,
    /// Games for each match against a reference player, and between those.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub games: u64,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
    /// What the method is told; last, since its heading holds for all that follows.
    #[command(flatten)]
    pub options: MethodArgs,
}

/// What the methods are told; each looks at its own.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Options of the methods")]
pub struct MethodArgs {
    /// ipref, pref, classify: the charge for a violated preference [default: 1].
    #[arg(long = "c", value_name = "C", allow_negative_numbers = true)]
    pub charge: Option<f64>,
    /// When to stop. ipref, pref, classify: how far the gradient must shrink [default: 1e-3], with
    /// --solver dual how far apart its parts may lie [default: 0.1]. mm: how little a sweep may
    /// gain a choice [default: 1e-6].
    #[arg(long, value_name = "EPS", allow_negative_numbers = true)]
    pub tolerance: Option<f64>,
    /// ipref, pref, classify: the most Newton steps [default: 100], or passes with --solver dual
    /// [default: 1000].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<u32>,
    /// ipref, pref: a Newton method on all cores, or LIBLINEAR's coordinate descent;
    /// ipref alone: one choice at a time, for any number of games [default: primal].
    #[arg(long, value_parser = ["primal", "dual", "online"])]
    pub solver: Option<String>,
    /// ipref --solver online, rater: the logarithm of a choice's probability, or the squares of
    /// violated margins [default: softmax].
    #[arg(long, value_parser = ["softmax", "margin"])]
    pub loss: Option<String>,
    /// ipref --solver online, rater: how often each choice is seen [default: 8].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub passes: Option<u32>,
    /// ipref --solver online, rater: the size of the first step; steps shrink to nothing
    /// [default: 0.1].
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// ipref --solver online, rater: how many discs a stage of the game has; each has weights of
    /// its own [default: 4].
    #[arg(long, value_name = "DISCS", allow_negative_numbers = true)]
    pub stage: Option<u32>,
    /// rater: look at the position that a move leads to as well.
    #[arg(long)]
    pub afterstates: bool,
    /// ipref, pref: a feature counts once, however often it occurs.
    #[arg(long)]
    pub binary: bool,
    /// classify: a chosen move counts once, not as often as it had rivals.
    #[arg(long)]
    pub unbalanced: bool,
    /// lstd: how slowly the traces decay, from 0 to 1 [default: 0.9].
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub lambda: Option<f64>,
    /// lstd: what is added to the diagonal, as a share of its mean [default: 1e-6].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub ridge: Option<f64>,
    /// mm: virtual games that each feature has won, and lost [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub prior: Option<f64>,
    /// mm: the most sweeps over all features [default: 200].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub sweeps: Option<u32>,
    /// mm: a feature counts as often as it occurs, not once.
    #[arg(long)]
    pub multivalued: bool,
}
