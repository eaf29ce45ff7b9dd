//! The smaller studies of V, VI and VIII-B, D and F: what changes when one thing is done another
//! way.

mod bradley_terry;
mod labels;
mod weights;

use super::{FeatureSet, games, games_departure, options};
use crate::lab::{ExperimentError, Games, Lab, Part};
use crate::{Experiment, Report};
use outflank_arena::accuracy::{Hits, accuracy};
use outflank_games::othello::Othello;
use outflank_learners::methods::{Method, MethodOptions, TrainingData, learn};
use outflank_models::files::{Origin, load_network, save};
use outflank_models::{Greedy, NTupleNetwork, Policy, Tuples};
use outflank_records::{Decision, DecisionFilter, decisions};
use outflank_runs::{files, stop_requested};
use std::path::PathBuf;

/// Printed: Pref on N-tuples with counts and with binary features (VIII-F).
const BINARISED: (f64, f64) = (49.4, 44.5);

/// Values of lambda that are compared; the paper says 0.9 is best (VIII-B).
const LAMBDAS: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.9, 1.0];

/// The experiment.
pub struct Studies;

/// What all studies share.
struct Bench<'a> {
    lab: &'a Lab,
    games: &'a Games,
    train: Vec<Decision<Othello>>,
    test: Vec<Decision<Othello>>,
}

impl Bench<'_> {
    /// Learns a network, or reads it back if this was done before; no two have the same name.
    fn learn(
        &self,
        method: Method,
        tuples: Tuples,
        choices: &[Decision<Othello>],
        options: &MethodOptions,
        name: &str,
    ) -> Result<NTupleNetwork, ExperimentError> {
        self.once(name, || {
            let task = TrainingData::new(&self.games.train, choices, tuples);
            let outcome = learn(method, task, options, self.lab.seed, &mut |_| !stop_requested());
            let outcome = outcome.map_err(failed)?;
            outcome.network().cloned().ok_or_else(|| super::no_network(method))
        })
    }

    /// Makes a network, or reads it back.
    fn once(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<NTupleNetwork, ExperimentError>,
    ) -> Result<NTupleNetwork, ExperimentError> {
        let path = self.path(name);
        if path.is_file() {
            return Ok(load_network(&path)?.0);
        }
        (self.lab.say)(&format!("learning {name}"));
        let network = make();
        // What was stopped may be an error by itself, which is not the user's business.
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let network = network?;
        self.keep(name, &network)?;
        Ok(network)
    }

    fn path(&self, name: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let stem: String = name.chars().map(plain).collect();
        self.lab.keep(&format!("models/{stem}.safetensors"))
    }

    fn keep(&self, name: &str, network: &NTupleNetwork) -> Result<(), ExperimentError> {
        files::create_folder(&self.lab.keep("models"))?;
        let origin = Origin {
            method: name.to_owned(),
            seed: Some(self.lab.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: format!("{} games of {}", self.games.train.len(), self.games.source),
        };
        Ok(save(&self.path(name), &network.clone().into(), &origin)?)
    }
}

/// Why learning failed, in words.
fn failed(error: impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Learn(error.to_string())
}

fn hits(policy: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> Hits {
    accuracy(policy, choices).choices
}

/// Adds a percentage with its error.
fn add(report: &mut Report, row: &str, column: &str, paper: Option<f64>, hits: Hits) {
    report.cell(row, column, paper, Some(hits.percent()), Some(hits.error()));
}

impl Experiment for Studies {
    fn name(&self) -> &'static str {
        "preference/studies"
    }

    fn about(&self) -> &'static str {
        "binary features, MM's updates, balance, filtered labels, lambda, numbers of weights, corners"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let games = games(lab, lab.seed)?;
        let bench = Bench {
            lab,
            train: decisions(&games.train, &DecisionFilter::CHOICES).items().to_vec(),
            test: decisions(&games.test, &DecisionFilter::CHOICES).items().to_vec(),
            games: &games,
        };
        let lead = "Each study changes one thing; figures are percentages of held-out choices \
                    unless they say otherwise."
            .to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, the smaller studies", lead);
        preferences(&bench, &mut report)?;
        bradley_terry::study(&bench, &mut report)?;
        labels::study(&bench, &mut report)?;
        lambdas(&bench, &mut report)?;
        weights::study(&bench, &mut report)?;
        compare(&mut report);
        report.departures.push(games_departure(&games));
        report.departures.push(labels::DEPARTURE.to_owned());
        report.departures.push(bradley_terry::DEPARTURE.to_owned());
        report.departures.push(super::SOLVERS.to_owned());
        Ok(report)
    }
}

/// Binary features for preference learning.
fn preferences(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let n = FeatureSet::N.tuples();
    for (method, counts, binary) in
        [(Method::Pref, Some(BINARISED.0), Some(BINARISED.1)), (Method::IPref, Some(53.0), None)]
    {
        let row = format!("{} N-Tuple", super::method_name(method));
        let learned = bench.learn(method, n.clone(), &bench.train, &options(), &row)?;
        add(report, &row, "counts", counts, hits(&Greedy(learned), &bench.test));
        let settings = MethodOptions { preference_binary: true, ..options() };
        let learned =
            bench.learn(method, n.clone(), &bench.train, &settings, &format!("{row}, binary"))?;
        add(report, &row, "binary", binary, hits(&Greedy(learned), &bench.test));
    }
    Ok(())
}

/// LSTD with other decays.
fn lambdas(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for lambda in LAMBDAS {
        let settings = MethodOptions { lambda, ..options() };
        let name = format!("LSTD 1-Tuple, lambda {lambda}");
        let learned =
            bench.learn(Method::Lstd, FeatureSet::One.tuples(), &bench.train, &settings, &name)?;
        let paper = (lambda == 0.9).then_some(18.4);
        add(
            report,
            "LSTD 1-Tuple",
            &format!("lambda {lambda}"),
            paper,
            hits(&Greedy(learned), &bench.test),
        );
    }
    Ok(())
}

/// Two ways of the printed update whose last figures are compared with iPref's.
const SWEEPS_END: [&str; 2] =
    ["MM N-Tuple, a denominator for each tuple", "MM N-Tuple, one denominator"];

/// The last figure on held-out choices in a row.
fn last(report: &Report, row: &str) -> f64 {
    let of = |cell: &&crate::Cell| cell.row == row && cell.column.starts_with("test");
    report.cells.iter().rfind(of).and_then(|cell| cell.ours).unwrap_or(f64::NAN)
}

/// The studies in sentences, ours and the paper's.
fn compare(report: &mut Report) {
    let ours = |row: &str, column: &str| {
        let cell = report.cells.iter().find(|cell| cell.row == row && cell.column == column);
        cell.and_then(|cell| cell.ours).unwrap_or(f64::NAN)
    };
    let swept = |row: &str| {
        let of = |cell: &&crate::Cell| cell.row == row && cell.column.starts_with("test");
        let figures: Vec<f64> =
            report.cells.iter().filter(of).filter_map(|cell| cell.ours).collect();
        let best = figures.iter().copied().fold(f64::NAN, f64::max);
        format!("{best:.1}% at best and {:.1}% in the end", figures.last().unwrap_or(&f64::NAN))
    };
    let mut findings = vec![
        format!(
            "Features that count once: Pref falls from {:.1}% to {:.1}% (paper: 49.4 to 44.5), iPref \
             from {:.1}% to {:.1}%.",
            ours("Pref N-Tuple", "counts"),
            ours("Pref N-Tuple", "binary"),
            ours("iPref N-Tuple", "counts"),
            ours("iPref N-Tuple", "binary"),
        ),
        format!(
            "MM, fitted to convergence: {:.1}% with features that count once, {:.1}% with counts; the \
             paper prints 42.5 and found counts significantly worse. In training {:.1}% and {:.1}%; \
             the paper found training and test much alike.",
            ours("MM N-Tuple", "test"),
            ours("MM N-Tuple, counts", "test"),
            ours("MM N-Tuple", "training"),
            ours("MM N-Tuple, counts", "training"),
        ),
    ];
    for name in [
        "a denominator for each tuple",
        "a denominator for each tuple, counts",
        "one denominator",
        "one denominator, counts",
    ] {
        findings.push(format!(
            "MM by the printed update, {name}: {}.",
            swept(&format!("MM N-Tuple, {name}"))
        ));
    }
    let end = SWEEPS_END.map(|name| ours("iPref N-Tuple", "counts") - last(report, name));
    findings.push(format!(
        "Below iPref the paper's MM lies 10.5 points; here MM lies {:.1} below it when fitted, {:.1} by \
         the printed update with a denominator for each tuple, {:.1} with one for all.",
        ours("iPref N-Tuple", "counts") - ours("MM N-Tuple", "test"),
        end[0],
        end[1],
    ));
    for features in ["1-Tuple", "N-Tuple"] {
        let row = format!("Classify {features}");
        findings.push(format!(
            "{row}: {:.1}% balanced, {:.1}% unbalanced, {:.1}% with one for each colour; the paper \
             found balanced slightly better.",
            ours(&row, "balanced"),
            ours(&row, "unbalanced"),
            ours(&row, "one for each colour"),
        ));
    }
    let best = LAMBDAS
        .map(|lambda| (lambda, ours("LSTD 1-Tuple", &format!("lambda {lambda}"))))
        .into_iter()
        .fold((0.0, f64::NEG_INFINITY), |best, this| if this.1 > best.1 { this } else { best });
    findings.push(format!(
        "The best lambda for LSTD is {} with {:.1}%; 0.9 gives {:.1}%, the paper's choice.",
        best.0,
        best.1,
        ours("LSTD 1-Tuple", "lambda 0.9")
    ));
    report.findings.splice(0..0, findings);
}
