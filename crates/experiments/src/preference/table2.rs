//! Table II: how often each learned function picks the move that was played, by stage.

use super::{FeatureSet, METHODS, games, games_departure, method_name, players, trials};
use crate::lab::{ExperimentError, Lab, Part};
use crate::statistics::Mean;
use crate::{Experiment, Report};
use outflank_arena::accuracy::{Accuracy, Hits, STAGES, accuracy};
use outflank_models::files::load_network;
use outflank_models::{Greedy, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_report::BarChart;

/// The printed percentages: iPref, Pref, MM, LSTD, Classify with 1-tuples, the same with N-tuples,
/// then Heur-WPC and ETDL-N-Tuple; the last row is the mean over all choices.
pub const PRINTED: [[f64; 12]; 14] = [
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

/// One column: its name, the paper's column if it has one, and what we measured in each trial.
pub struct Column {
    /// Such as `iPref 1-Tuple`.
    pub name: String,
    /// Which printed column it is.
    pub printed: Option<usize>,
    /// One measurement a trial.
    pub trials: Vec<Accuracy>,
}

/// The measurements behind Table II and Figures 3 and 4, of players on these features, and the
/// remark about the games.
pub fn measure(
    lab: &Lab,
    features: &[FeatureSet],
) -> Result<(Vec<Column>, String), ExperimentError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut remark = String::new();
    for trial in 0..trials(lab) {
        let seed = lab.seed.wrapping_add(trial);
        let games = games(lab, seed)?;
        let test = decisions(&games.test, &DecisionFilter::CHOICES);
        let mut measured: Vec<(String, Option<usize>, Accuracy)> = Vec::new();
        for learned in players(lab, seed, &games, features)? {
            let name = format!("{} {}", method_name(learned.method), learned.features.name());
            let block = if learned.features == FeatureSet::One { 0 } else { METHODS.len() };
            let place = METHODS.iter().position(|&method| method == learned.method);
            let result = accuracy(&Greedy(learned.network), test.items());
            measured.push((name, place.map(|place| block + place), result));
        }
        let heuristic = accuracy(&Greedy(embedded::heuristic()), test.items());
        measured.push(("Heur-WPC".to_owned(), Some(10), heuristic));
        let published = [
            ("ETDL-N-Tuple", Some(11), "Burrow2011ETDL"),
            ("published iPref 1-Tuple", None, "RunnarsonLucas2014IPref1"),
            ("published iPref N-Tuple", None, "RunnarsonLucas2014IPrefN"),
        ];
        for (name, place, file) in published {
            if let Some(path) = lab.published(file) {
                let (network, _) = load_network(&path)?;
                measured.push((name.to_owned(), place, accuracy(&Greedy(network), test.items())));
            }
        }
        for (name, printed, result) in measured {
            match columns.iter_mut().find(|column| column.name == name) {
                Some(column) => column.trials.push(result),
                None => columns.push(Column { name, printed, trials: vec![result] }),
            }
        }
        remark = games_departure(&games);
    }
    Ok((columns, remark))
}

/// The mean over trials of a percentage and the half-width of its 95% interval: from the spread of
/// the trials, or from the counts when there is one trial.
pub fn mean(trials: &[Accuracy], of: impl Fn(&Accuracy) -> &Hits) -> (f64, f64) {
    if let [one] = trials {
        return (of(one).percent(), of(one).error());
    }
    let percents: Vec<f64> = trials.iter().map(|trial| of(trial).percent()).collect();
    spread(&percents)
}

/// The mean of two or more figures and the half-width of its 95% interval, from their spread.
pub(super) fn spread(figures: &[f64]) -> (f64, f64) {
    let mean = Mean::of(figures);
    (mean.value, mean.half_width())
}

/// The experiment.
pub struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "preference/table2"
    }

    fn about(&self) -> &'static str {
        "move prediction of five methods on 1-tuples and N-tuples, by stage of the game"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Players, Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let (columns, remark) = measure(lab, &FeatureSet::BOTH)?;
        let lead =
            "The percentage of choices (decisions with more than one legal move) in which the \
                    learned function rates the move that was played best; ties share a hit."
                .to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, Table II", lead);
        for column in &columns {
            for (stage, printed) in PRINTED.iter().enumerate() {
                let (row, (ours, error)) = match STAGES.get(stage) {
                    Some((from, to)) => {
                        (format!("{from}-{to}"), mean(&column.trials, |a| &a.stages[stage]))
                    }
                    None => ("all".to_owned(), mean(&column.trials, |a| &a.choices)),
                };
                let paper = column.printed.map(|place| printed[place]);
                report.cell(row, column.name.clone(), paper, Some(ours), Some(error));
            }
            for (trial, result) in column.trials.iter().enumerate() {
                let row = format!("all, seed {}", lab.seed.wrapping_add(trial as u64));
                let (ours, error) = (result.choices.percent(), result.choices.error());
                report.cell(row, column.name.clone(), None, Some(ours), Some(error));
            }
        }
        draw(&columns, &mut report);
        report.departures.push(remark);
        report.departures.push(
            "Coev-WPC's weights were not published, so the paper has no such column either."
                .to_owned(),
        );
        report.departures.push(super::SOLVERS.to_owned());
        findings(&columns, &mut report);
        Ok(report)
    }
}

/// The last row of the table.
fn draw(columns: &[Column], report: &mut Report) {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let bars = BarChart::new("Choices predicted", "%, 95% intervals", names)
        .series("ours", columns.iter().map(|column| mean(&column.trials, |a| &a.choices)))
        .series(
            "paper",
            columns.iter().map(|c| (c.printed.map_or(f64::NAN, |place| PRINTED[13][place]), 0.0)),
        )
        .dots();
    let caption = "Means over the trials; the paper's figures are of other games.";
    report.figures.push(("choices".to_owned(), Box::new(bars), caption.to_owned()));
}

/// Whether the paper's orders appear, and in how many trials.
fn findings(columns: &[Column], report: &mut Report) {
    let of = |name: &str| columns.iter().find(|c| c.name == name).map(|c| &c.trials);
    let mut compare = |better: String, worse: String| {
        let (Some(a), Some(b)) = (of(&better), of(&worse)) else { return };
        let (mean_a, mean_b) = (mean(a, |a| &a.choices).0, mean(b, |a| &a.choices).0);
        let pairs = a.iter().zip(b).map(|(a, b)| (a.choices.percent(), b.choices.percent()));
        let above = pairs.filter(|(a, b)| a > b).count();
        let verdict = match above {
            _ if a.len() < 5 => "too few to tell",
            0 => "the other way round",
            above if above == a.len() => "as in the paper",
            _ => "not told apart",
        };
        report.findings.push(format!(
            "{better} {mean_a:.1}%, {worse} {mean_b:.1}%: above it in {above} of {} samples, {verdict}.",
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
