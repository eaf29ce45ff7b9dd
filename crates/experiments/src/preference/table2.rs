//! Runarsson & Lucas (2014), Table II: top-1 accuracy of five methods on two feature sets, by stage
//! of the game.
//!
//! Measures the percentage of decisions with two or more legal moves in which the move that was
//! played has the highest score, on test games.
//!
//! Departures: the sample of games; no column for Coev-WPC; the solvers.

use super::{
    FeatureSet, METHODS, games, games_departure, method_name, trained_players, trial_count,
};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::statistics::Mean;
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::accuracy::{ACCURACY_STAGES, Accuracy, BinomialCount, accuracy};
use outflank_models::files::load_network;
use outflank_models::{OnePlyPolicy, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_report::BarChart;

/// Published percentages. Columns: iPref, Pref, MM, LSTD, Classify with 1-tuples, the same with
/// N-tuples, Heur-WPC, ETDL-N-Tuple. The last row is the mean over all decisions.
pub const PUBLISHED: [[f64; 12]; 14] = [
    [47.4, 47.2, 55.8, 16.4, 33.8, 78.3, 75.4, 68.8, 29.8, 68.7, 21.9, 13.4],
    [17.6, 31.0, 20.8, 8.0, 20.6, 52.4, 47.3, 43.0, 15.2, 31.8, 2.6, 15.5],
    [25.2, 21.7, 20.6, 9.2, 22.2, 49.6, 42.9, 33.4, 21.6, 32.2, 2.0, 20.6],
    [28.1, 25.7, 25.8, 11.0, 21.8, 45.1, 42.1, 31.1, 20.7, 34.1, 5.2, 22.9],
    [28.2, 24.4, 23.8, 9.5, 20.1, 40.5, 37.8, 26.2, 18.4, 29.7, 4.3, 22.1],
    [28.2, 23.7, 23.9, 9.0, 20.3, 40.1, 36.6, 28.0, 17.6, 30.2, 6.8, 24.9],
    [28.9, 26.1, 25.6, 10.9, 22.4, 41.8, 37.0, 30.6, 17.9, 32.0, 9.4, 26.1],
    [29.4, 28.7, 28.3, 13.5, 25.9, 41.5, 37.7, 31.6, 20.4, 32.5, 14.3, 29.6],
    [29.7, 29.3, 29.4, 17.8, 28.9, 43.6, 39.5, 34.0, 21.6, 34.7, 20.8, 31.5],
    [30.5, 30.6, 31.4, 25.9, 30.6, 44.0, 41.0, 35.3, 24.1, 36.4, 27.2, 35.8],
    [34.7, 32.3, 35.2, 33.5, 34.9, 49.0, 46.4, 40.9, 31.3, 41.1, 33.4, 42.2],
    [40.8, 38.5, 41.4, 42.9, 40.3, 53.9, 51.8, 46.5, 39.0, 48.3, 38.7, 49.5],
    [51.9, 47.9, 51.6, 53.0, 51.0, 62.5, 59.5, 55.9, 52.8, 57.3, 48.0, 61.3],
    [33.8, 33.0, 34.5, 18.4, 28.6, 53.0, 49.4, 42.5, 25.1, 42.7, 17.6, 27.0],
];

/// A column of the table.
pub struct Column {
    /// Name, such as `iPref 1-Tuple`.
    pub name: String,
    /// Column of [`PUBLISHED`], if any.
    pub paper_column: Option<usize>,
    /// Accuracy in each trial.
    pub trials: Vec<Accuracy>,
}

/// Measures the accuracies of Table II and Figures 3 and 4 for these feature sets. Also returns the
/// departure that describes the games.
pub fn measure(
    context: &ExperimentContext,
    features: &[FeatureSet],
) -> Result<(Vec<Column>, String), ExperimentError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut games_text = String::new();
    for trial in 0..trial_count(context) {
        let seed = context.seed.wrapping_add(trial);
        let games = games(context, seed)?;
        let test = decisions(&games.test, &DecisionFilter::CHOICES);
        let mut measured: Vec<(String, Option<usize>, Accuracy)> = Vec::new();
        for player in trained_players(context, seed, &games, features)? {
            let name = format!("{} {}", method_name(player.method), player.features.name());
            let first = if player.features == FeatureSet::One { 0 } else { METHODS.len() };
            let column = METHODS.iter().position(|&method| method == player.method);
            let result = accuracy(&OnePlyPolicy(player.network), test.items());
            measured.push((name, column.map(|column| first + column), result));
        }
        let heuristic = accuracy(&OnePlyPolicy(embedded::heuristic()), test.items());
        measured.push(("Heur-WPC".to_owned(), Some(10), heuristic));
        let published = [
            ("ETDL-N-Tuple", Some(11), "Burrow2011ETDL"),
            ("published iPref 1-Tuple", None, "RunnarsonLucas2014IPref1"),
            ("published iPref N-Tuple", None, "RunnarsonLucas2014IPrefN"),
        ];
        for (name, column, file) in published {
            if let Some(path) = context.published_player(file) {
                let (network, _) = load_network(&path)?;
                measured.push((
                    name.to_owned(),
                    column,
                    accuracy(&OnePlyPolicy(network), test.items()),
                ));
            }
        }
        for (name, paper_column, result) in measured {
            match columns.iter_mut().find(|column| column.name == name) {
                Some(column) => column.trials.push(result),
                None => columns.push(Column { name, paper_column, trials: vec![result] }),
            }
        }
        games_text = games_departure(&games);
    }
    Ok((columns, games_text))
}

/// Returns the mean over trials of a percentage and the half-width of its 95% confidence interval:
/// from the variance between trials, or binomial if there is only one trial.
pub fn mean(trials: &[Accuracy], select: impl Fn(&Accuracy) -> &BinomialCount) -> (f64, f64) {
    if let [one] = trials {
        return (select(one).percent(), select(one).half_width());
    }
    let percents: Vec<f64> = trials.iter().map(|trial| select(trial).percent()).collect();
    mean_and_half_width(&percents)
}

/// Returns the mean of a sample and the half-width of its 95% confidence interval.
pub(super) fn mean_and_half_width(values: &[f64]) -> (f64, f64) {
    let mean = Mean::of(values);
    (mean.value, mean.half_width())
}

/// The experiment `preference/table2`.
pub(crate) struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "preference/table2"
    }

    fn about(&self) -> &'static str {
        "top-1 accuracy of five methods on 1-tuples and N-tuples, by stage of the game"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Players, DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let (columns, games) = measure(context, &FeatureSet::BOTH)?;
        let lead =
            "Top-1 accuracy: the percentage of decisions with two or more legal moves in which the \
             move that was played has the highest score; a tie of n moves counts 1/n."
                .to_owned();
        let mut report =
            Report::new(self.name(), context.scale, "Runarsson & Lucas (2014), Table II", lead);
        for column in &columns {
            for (stage, published) in PUBLISHED.iter().enumerate() {
                let (row, (ours, error)) = match ACCURACY_STAGES.get(stage) {
                    Some((from, to)) => {
                        (format!("{from}-{to}"), mean(&column.trials, |a| &a.stages[stage]))
                    }
                    None => ("all".to_owned(), mean(&column.trials, |a| &a.choices)),
                };
                let paper = column.paper_column.map(|at| published[at]);
                report.add_cell(row, column.name.clone(), paper, Some(ours), Some(error));
            }
            for (trial, result) in column.trials.iter().enumerate() {
                let row = format!("all, seed {}", context.seed.wrapping_add(trial as u64));
                let (ours, error) = (result.choices.percent(), result.choices.half_width());
                report.add_cell(row, column.name.clone(), None, Some(ours), Some(error));
            }
        }
        add_plot(&columns, &mut report);
        report.departures.push(games);
        report.departures.push(
            "There is no column for Coev-WPC, as in the paper: its weights were not published."
                .to_owned(),
        );
        report.departures.push(super::SOLVERS_DEPARTURE.to_owned());
        add_findings(&columns, &mut report);
        Ok(report.into())
    }
}

/// Plots the last row of the table.
fn add_plot(columns: &[Column], report: &mut Report) {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let bars = BarChart::new("Top-1 accuracy", "%, 95% confidence intervals", names)
        .series("ours", columns.iter().map(|column| mean(&column.trials, |a| &a.choices)))
        .series(
            "paper",
            columns.iter().map(|c| (c.paper_column.map_or(f64::NAN, |at| PUBLISHED[13][at]), 0.0)),
        )
        .dots();
    let caption = "Means over trials. The paper uses other games.";
    report.figures.push(("choices".to_owned(), Box::new(bars), caption.to_owned()));
}

/// Compares the paper's rankings with ours. A ranking counts as reproduced if it holds in all of at
/// least five trials; with five trials this is a one-sided sign test at the 3% level.
fn add_findings(columns: &[Column], report: &mut Report) {
    let trials_of = |name: &str| columns.iter().find(|c| c.name == name).map(|c| &c.trials);
    let mut compare = |better: String, worse: String| {
        let (Some(a), Some(b)) = (trials_of(&better), trials_of(&worse)) else { return };
        let (mean_a, mean_b) = (mean(a, |a| &a.choices).0, mean(b, |a| &a.choices).0);
        let pairs = a.iter().zip(b).map(|(a, b)| (a.choices.percent(), b.choices.percent()));
        let above = pairs.filter(|(a, b)| a > b).count();
        let verdict = match above {
            _ if a.len() < 5 => "too few trials to compare",
            0 => "reversed",
            above if above == a.len() => "as in the paper",
            _ => "not significant",
        };
        report.findings.push(format!(
            "{better} {mean_a:.1}%, {worse} {mean_b:.1}%: higher in {above} of {} trials, {verdict}.",
            a.len()
        ));
    };
    let n = |method: &str| format!("{method} {}", FeatureSet::N.name());
    let one = |method: &str| format!("{method} {}", FeatureSet::One.name());
    compare(n("iPref"), n("Pref"));
    compare(n("Pref"), n("MM"));
    compare(n("iPref"), n("MM"));
    compare(n("MM"), n("LSTD"));
    compare(n("Classify"), n("MM"));
    for method in ["iPref", "Pref", "MM", "LSTD", "Classify"] {
        compare(n(method), one(method));
    }
    compare(one("MM"), one("iPref"));
    compare(n("iPref"), format!("published {}", n("iPref")));
}
