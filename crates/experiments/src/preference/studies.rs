//! Runarsson & Lucas (2014), sections V, VI, VII and VIII-B, D and F: ablation studies, each of
//! which changes one setting.
//!
//! Measures top-1 accuracy on test games. Departures: the sample of games; the label filter; the
//! update and the priors of MM; the solvers.

mod bradley_terry;
mod labels;
mod weights;

use super::{FeatureSet, games, games_departure, paper_options};
use crate::context::{DataFolder, ExperimentContext, ExperimentError, GameSample};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::accuracy::{BinomialCount, accuracy};
use outflank_games::othello::Othello;
use outflank_learners::methods::{Method, MethodOptions, TrainingData, train};
use outflank_models::files::{Origin, load_network, save};
use outflank_models::{NTupleNetwork, OnePlyPolicy, Policy, Tuples};
use outflank_records::{Decision, DecisionFilter, decisions};
use outflank_runs::{files, stop_requested};
use std::path::PathBuf;

/// Published accuracy of Pref on N-tuples with counts and with binary features (section VIII-F).
const BINARY_FEATURES: (f64, f64) = (49.4, 44.5);

/// Values of lambda to compare; the paper reports 0.9 as the best (section VIII-B).
const LAMBDAS: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.9, 1.0];

/// The experiment `preference/studies`.
pub(crate) struct Studies;

/// Data shared by all studies.
struct StudyData<'a> {
    context: &'a ExperimentContext,
    games: &'a GameSample,
    train: Vec<Decision<Othello>>,
    test: Vec<Decision<Othello>>,
}

impl StudyData<'_> {
    /// Trains a network, or loads it from the run folder, where `name` identifies it.
    fn train_or_load(
        &self,
        method: Method,
        tuples: Tuples,
        choices: &[Decision<Othello>],
        options: &MethodOptions,
        name: &str,
    ) -> Result<NTupleNetwork, ExperimentError> {
        self.load_or_create(name, || {
            let data = TrainingData::new(&self.games.train, choices, tuples);
            let outcome =
                train(method, data, options, self.context.seed, &mut |_| !stop_requested());
            let outcome = outcome.map_err(ExperimentError::training)?;
            outcome.network().cloned().ok_or_else(|| super::no_network(method))
        })
    }

    /// Loads a network from the run folder, or creates and saves it.
    fn load_or_create(
        &self,
        name: &str,
        create: impl FnOnce() -> Result<NTupleNetwork, ExperimentError>,
    ) -> Result<NTupleNetwork, ExperimentError> {
        let path = self.path(name);
        if path.is_file() {
            return Ok(load_network(&path)?.0);
        }
        (self.context.log)(&format!("training {name}"));
        let network = create();
        // A stopped method may return an error, which the user should not see.
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let network = network?;
        self.save(name, &network)?;
        Ok(network)
    }

    fn path(&self, name: &str) -> PathBuf {
        let sanitize = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let stem: String = name.chars().map(sanitize).collect();
        self.context.file(&format!("models/{stem}.safetensors"))
    }

    fn save(&self, name: &str, network: &NTupleNetwork) -> Result<(), ExperimentError> {
        files::create_folder(&self.context.file("models"))?;
        let origin = Origin {
            method: name.to_owned(),
            seed: Some(self.context.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: format!("{} games of {}", self.games.train.len(), self.games.source),
        };
        Ok(save(&self.path(name), &network.clone().into(), &origin)?)
    }
}

/// Measures the top-1 accuracy of a policy in decisions with two or more legal moves.
fn top1_hits(policy: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> BinomialCount {
    accuracy(policy, choices).choices
}

/// Adds an accuracy in percent with its confidence interval.
fn add_accuracy(
    report: &mut Report,
    row: &str,
    column: &str,
    paper: Option<f64>,
    hits: BinomialCount,
) {
    report.add_cell(row, column, paper, Some(hits.percent()), Some(hits.half_width()));
}

impl Experiment for Studies {
    fn name(&self) -> &'static str {
        "preference/studies"
    }

    fn about(&self) -> &'static str {
        "ablations: binary features, MM updates, class balance, label filter, lambda, weights, corners"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let games = games(context, context.seed)?;
        let data = StudyData {
            context,
            train: decisions(&games.train, &DecisionFilter::CHOICES).items().to_vec(),
            test: decisions(&games.test, &DecisionFilter::CHOICES).items().to_vec(),
            games: &games,
        };
        let lead = "Each study changes one setting. Unless stated otherwise the figures are top-1 accuracies, \
                    in percent of the decisions with two or more legal moves in the test games."
            .to_owned();
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Runarsson & Lucas (2014), ablation studies",
            lead,
        );
        binary_features(&data, &mut report)?;
        bradley_terry::study(&data, &mut report)?;
        labels::study(&data, &mut report)?;
        lambdas(&data, &mut report)?;
        weights::study(&data, &mut report)?;
        add_findings(&mut report);
        report.departures.push(games_departure(&games));
        report.departures.push(labels::DEPARTURE.to_owned());
        report.departures.push(bradley_terry::DEPARTURE.to_owned());
        report.departures.push(super::SOLVERS_DEPARTURE.to_owned());
        Ok(report.into())
    }
}

/// Compares counts and binary features in preference learning.
fn binary_features(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let tuples = FeatureSet::N.tuples();
    for (method, counts, binary) in [
        (Method::Pref, Some(BINARY_FEATURES.0), Some(BINARY_FEATURES.1)),
        (Method::IPref, Some(53.0), None),
    ] {
        let row = format!("{} N-Tuple", super::method_name(method));
        let network =
            data.train_or_load(method, tuples.clone(), &data.train, &paper_options(), &row)?;
        add_accuracy(report, &row, "counts", counts, top1_hits(&OnePlyPolicy(network), &data.test));
        let changed = MethodOptions { preference_binary: true, ..paper_options() };
        let network = data.train_or_load(
            method,
            tuples.clone(),
            &data.train,
            &changed,
            &format!("{row}, binary"),
        )?;
        add_accuracy(report, &row, "binary", binary, top1_hits(&OnePlyPolicy(network), &data.test));
    }
    Ok(())
}

/// Compares values of lambda in LSTD.
fn lambdas(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for lambda in LAMBDAS {
        let changed = MethodOptions { lambda, ..paper_options() };
        let name = format!("LSTD 1-Tuple, lambda {lambda}");
        let network = data.train_or_load(
            Method::Lstd,
            FeatureSet::One.tuples(),
            &data.train,
            &changed,
            &name,
        )?;
        let paper = (lambda == 0.9).then_some(18.4);
        add_accuracy(
            report,
            "LSTD 1-Tuple",
            &format!("lambda {lambda}"),
            paper,
            top1_hits(&OnePlyPolicy(network), &data.test),
        );
    }
    Ok(())
}

/// Rows of the published MM update whose final accuracy is compared with that of iPref.
const UPDATE_VARIANTS: [&str; 2] =
    ["MM N-Tuple, one denominator per tuple", "MM N-Tuple, a single denominator"];

/// Returns the last test accuracy in a row.
fn last_test_accuracy(report: &Report, row: &str) -> f64 {
    let is_test = |cell: &&crate::Cell| cell.row == row && cell.column.starts_with("test");
    report.cells.iter().rfind(is_test).and_then(|cell| cell.ours).unwrap_or(f64::NAN)
}

/// Adds findings that compare our results with the paper's.
fn add_findings(report: &mut Report) {
    let ours = |row: &str, column: &str| {
        let cell = report.cells.iter().find(|cell| cell.row == row && cell.column == column);
        cell.and_then(|cell| cell.ours).unwrap_or(f64::NAN)
    };
    let by_iteration = |row: &str| {
        let is_test = |cell: &&crate::Cell| cell.row == row && cell.column.starts_with("test");
        let accuracies: Vec<f64> =
            report.cells.iter().filter(is_test).filter_map(|cell| cell.ours).collect();
        let best = accuracies.iter().copied().fold(f64::NAN, f64::max);
        format!("best {best:.1}%, last {:.1}%", accuracies.last().unwrap_or(&f64::NAN))
    };
    let mut findings = vec![
        format!(
            "Binary features: the accuracy of Pref changes from {:.1}% to {:.1}% (paper: 49.4 to 44.5), that \
             of iPref from {:.1}% to {:.1}%.",
            ours("Pref N-Tuple", "counts"),
            ours("Pref N-Tuple", "binary"),
            ours("iPref N-Tuple", "counts"),
            ours("iPref N-Tuple", "binary"),
        ),
        format!(
            "MM trained to convergence: {:.1}% with binary features, {:.1}% with counts (paper: 42.5; counts \
             significantly worse). Training accuracy {:.1}% and {:.1}% (paper: similar to the test \
             accuracy).",
            ours("MM N-Tuple", "test"),
            ours("MM N-Tuple, counts", "test"),
            ours("MM N-Tuple", "training"),
            ours("MM N-Tuple, counts", "training"),
        ),
    ];
    for name in [
        "one denominator per tuple",
        "one denominator per tuple, counts",
        "a single denominator",
        "a single denominator, counts",
    ] {
        findings.push(format!(
            "MM by the published update, {name}: {}.",
            by_iteration(&format!("MM N-Tuple, {name}"))
        ));
    }
    let end = UPDATE_VARIANTS
        .map(|name| ours("iPref N-Tuple", "counts") - last_test_accuracy(report, name));
    findings.push(format!(
        "MM is {:.1} points below iPref when trained to convergence, {:.1} points by the published update \
         with one denominator per tuple, {:.1} points with a single denominator (paper: 10.5).",
        ours("iPref N-Tuple", "counts") - ours("MM N-Tuple", "test"),
        end[0],
        end[1],
    ));
    for features in ["1-Tuple", "N-Tuple"] {
        let row = format!("Classify {features}");
        findings.push(format!(
            "{row}: {:.1}% balanced, {:.1}% unbalanced, {:.1}% with one classifier per color (paper: \
             balanced slightly better).",
            ours(&row, "balanced"),
            ours(&row, "unbalanced"),
            ours(&row, "one per color"),
        ));
    }
    let best = LAMBDAS
        .map(|lambda| (lambda, ours("LSTD 1-Tuple", &format!("lambda {lambda}"))))
        .into_iter()
        .fold((0.0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
    findings.push(format!(
        "The best lambda for LSTD is {} with {:.1}%; the paper's choice of 0.9 has {:.1}%.",
        best.0,
        best.1,
        ours("LSTD 1-Tuple", "lambda 0.9")
    ));
    report.findings.splice(0..0, findings);
}
