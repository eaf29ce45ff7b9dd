//! Liskowski, Jaśkowski & Krawiec (2018), Figure 4: winning rate by accuracy, over all networks of
//! the tables and the ensemble, with least-squares lines.
//!
//! Departures: see `departures.rs`; dropout; the opponents; our search instead of Edax-1, unless
//! the user gives the command of Edax.

use super::departures::DROPOUT;
use super::net_player::{NetPlayer, edax, search};
use super::opponents::{OpponentSuite, THIRTEEN_OPPONENTS};
use super::table2::NETS;
use super::table3::INPUTS;
use super::table5::{BEST, ensembles};
use super::table6::SKIP_NETS;
use super::trained_nets::{TrainedNetCache, accuracy};
use super::{NetSpec, Percentage, add_percentage};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;
use outflank_report::{Plot, Point, Series};

/// Published slope (points of winning rate per point of accuracy) and r2: against the thirteen
/// opponents and against Edax-1.
const PUBLISHED: [(f64, f64); 2] = [(1.7, 0.997), (3.4, 0.999)];

/// Networks of Table V that are not in Table II.
const TABLE5_NETS: [&str; 2] = ["conv8-bn", "conv8-dropout"];

/// The experiment `cnn/fig4`.
pub(crate) struct Fig4;

impl Experiment for Fig4 {
    fn name(&self) -> &'static str {
        "cnn/fig4"
    }

    fn about(&self) -> &'static str {
        "winning rate by accuracy, with least-squares lines"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn uses_edax(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let mut specs: Vec<NetSpec> = NETS
            .into_iter()
            .flat_map(|net| ExampleSetKind::ALL.map(|set| NetSpec::new(net).with_set(set)))
            .chain(TABLE5_NETS.map(NetSpec::new))
            .chain(SKIP_NETS.iter().map(|row| NetSpec::new(row.1).quarter_budget()))
            .chain(NETS.into_iter().flat_map(|net| {
                // The networks with pieces are in Table II.
                INPUTS.into_iter().skip(1).map(move |input| NetSpec::new(net).with_input(input))
            }))
            .collect();
        if nets.params().full_epochs.is_some() {
            specs.push(BEST);
        }
        let mut players: Vec<Vec<NetSpec>> = specs.into_iter().map(|spec| vec![spec]).collect();
        players.extend(ensembles(&nets, false).into_iter().map(|(_, specs)| specs));
        if nets.params().row_step > 1 {
            // Enough networks for a line through all of them and a line through those with the same
            // training set.
            players = [3, 7, 11, 12].map(|at| players[at].clone()).into();
        }
        let suite = OpponentSuite::new(&nets);
        let lead = format!(
            "Top-1 accuracy by example on Original and on each network's own training set, accuracy by game, \
             and points, in percent, against {} and against search of one ply.",
            suite.description()
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Figure 4",
            lead,
        );
        report.findings.extend(suite.finding());
        let edax = edax(&nets, 1);
        let opponent = edax.clone().unwrap_or_else(|| search(1));
        let second = if edax.is_some() { "Edax-1" } else { "our search at 1 ply" };
        let mut points = Vec::new();
        for specs in players {
            let spec = specs[0];
            let tests = nets.test_results(&specs)?;
            let [original, own] =
                [ExampleSetKind::Original, spec.set].map(|set| accuracy(&tests, spec, set));
            // A network that was also trained on later games has no accuracy by game.
            let by_game = accuracy(&tests, spec.by_game(), spec.set);
            let by_game = by_game.filter(|_| nets.is_tested_both_ways(spec));
            let mut player = NetPlayer::new(&nets, &specs)?;
            let scores = [player.mean_score(&suite)?, player.score_against(&opponent, None)?];
            let row = nets.title(&specs);
            for (column, figure) in [
                ("accuracy by example", original),
                ("own accuracy by example", own),
                ("accuracy by game", by_game),
                (&suite.column(), scores[0]),
                (second, scores[1]),
            ] {
                add_percentage(&mut report, &row, column, None, figure);
            }
            let percent = |figure: Option<Percentage>| figure.map(|figure| figure.0);
            let [original, own, by_game] = [original, own, by_game].map(percent);
            let scores = scores.map(percent);
            points.push(NetPoint { set: spec.set, original, own, by_game, scores });
        }
        // The published lines are only comparable with the same opponents.
        let published =
            [suite.is_complete().then_some(PUBLISHED[0]), edax.is_some().then_some(PUBLISHED[1])];
        let first = suite.column();
        let all: Vec<_> = points.iter().filter_map(|p| Some((p.original?, p.scores))).collect();
        let plot = ("strength", "all networks, accuracy on Original");
        add_plot(&mut report, plot, [&first, second], &all, published);
        // Networks with the same training set, on the same test.
        let unique_s = points.iter().filter(|p| p.set == ExampleSetKind::UniqueS);
        let unique_s: Vec<_> = unique_s.filter_map(|p| Some((p.own?, p.scores))).collect();
        let names = [format!("{first}, Unique-S"), format!("{second}, Unique-S")];
        let names = names.each_ref().map(String::as_str);
        let plot = ("strength-unique-s", "networks trained on Unique-S, accuracy on Unique-S");
        add_plot(&mut report, plot, names, &unique_s, published);
        // Accuracy on test games, which the paper does not have.
        let by_game: Vec<_> = points.iter().filter_map(|p| Some((p.by_game?, p.scores))).collect();
        let names = [format!("{first}, by game"), format!("{second}, by game")];
        let names = names.each_ref().map(String::as_str);
        let plot = ("strength-by-game", "all networks, accuracy by game");
        add_plot(&mut report, plot, names, &by_game, [None; 2]);
        nets.add_departures_and_omissions(&mut report);
        report.departures.push(DROPOUT.to_owned());
        report.departures.extend(suite.departure());
        if !suite.is_complete() {
            let (slope, r2) = PUBLISHED[0];
            report.departures.push(format!(
                "The paper's line against the {THIRTEEN_OPPONENTS} has a slope of {slope} and r2 = {r2}."
            ));
        }
        if edax.is_none() {
            let (slope, r2) = PUBLISHED[1];
            report.departures.push(format!(
                "Our own search at one ply replaces Edax-1, against which the paper's line has a slope of \
                 {slope} and r2 = {r2}. Give --edax COMMAND to play against Edax."
            ));
        }
        Ok(nets.outcome(report))
    }
}

/// The training set, accuracies and scores of a network or an ensemble.
struct NetPoint {
    set: ExampleSetKind,
    /// Accuracy by example on Original.
    original: Option<f64>,
    /// Accuracy by example on the kind of set that the network was trained on.
    own: Option<f64>,
    by_game: Option<f64>,
    scores: [Option<f64>; 2],
}

/// Plots scores against both opponents by accuracy, with a least-squares line for each.
fn add_plot(
    report: &mut Report,
    (file, title): (&str, &str),
    names: [&str; 2],
    points: &[(f64, [Option<f64>; 2])],
    published: [Option<(f64, f64)>; 2],
) {
    let title = format!("Winning rate by accuracy, {title}");
    let mut plot = Plot::new(title, "accuracy, %", "% of points").y_range(0.0, 100.0);
    let mut counts = Vec::new();
    for (at, (name, paper)) in names.into_iter().zip(published).enumerate() {
        let points: Vec<_> =
            points.iter().filter_map(|&(accuracy, scores)| Some((accuracy, scores[at]?))).collect();
        counts.push(points.len().to_string());
        let dots = points.iter().map(|&(x, y)| Point::new(x, y));
        plot = plot.series(Series::dots(name, dots));
        let Some((slope, intercept, r2)) = least_squares(&points) else { continue };
        report.add_cell(name, "slope", paper.map(|p| p.0), Some(slope), None).decimals(1, 2);
        report.add_cell(name, "r2", paper.map(|p| p.1), Some(r2), None).decimals(3, 3);
        let ends = points
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), &(x, _)| (low.min(x), high.max(x)));
        let ends = [ends.0, ends.1].map(|x| Point::new(x, intercept + slope * x));
        plot = plot.series(
            Series::line(format!("{name}, line"), ends)
                .dashed()
                .without_markers()
                .color_index(2 * at),
        );
    }
    counts.dedup();
    let caption = format!(
        "Least-squares lines through the {} networks with both figures.",
        counts.join(" and ")
    );
    report.figures.push((file.to_owned(), Box::new(plot), caption));
}

/// Fits a line by least squares; returns slope, intercept and r2, or `None` if a coordinate is
/// constant.
fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / n, y / n);
    let sum =
        |term: fn(f64, f64) -> f64| points.iter().map(|p| term(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(|dx, _| dx * dx), sum(|dx, dy| dx * dy), sum(|_, dy| dy * dy));
    if xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some((slope, y - slope * x, xy * xy / (xx * yy)))
}

#[cfg(test)]
mod tests {
    use super::least_squares;

    #[test]
    fn least_squares_fits_a_line() {
        let (slope, intercept, r2) = least_squares(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).unwrap();
        assert!((slope - 2.0).abs() < 1e-12 && (intercept - 3.0).abs() < 1e-12);
        assert!((r2 - 1.0).abs() < 1e-12);
        // A line explains none of the variance of y = 0, 1, 0 at x = 0, 1, 2.
        assert!(least_squares(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]).unwrap().2.abs() < 1e-12);
        assert!(least_squares(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
    }
}
