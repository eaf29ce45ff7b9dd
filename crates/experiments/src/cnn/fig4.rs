//! Figure 4: how the winning rate follows from the accuracy, over all networks of the tables and the bag.

use super::departures::DROPOUT;
use super::school::{School, accuracy};
use super::suite::{Suite, THIRTEEN};
use super::table2::NETS;
use super::table3::INPUTS;
use super::table5::{BEST, bags};
use super::table6::SKIPPING;
use super::winning::{Contender, edax, search};
use super::{Figure, Task, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;
use outflank_report::{Plot, Point, Series};

/// Points of the winning rate for a point of accuracy, and how much of its variance that explains:
/// against the thirteen and against Edax-1.
const PRINTED: [(f64, f64); 2] = [(1.7, 0.997), (3.4, 0.999)];

/// The networks of Table V beside those of Table II.
const OTHERS: [&str; 2] = ["conv8-bn", "conv8-dropout"];

/// The figure.
pub struct Fig4;

impl Experiment for Fig4 {
    fn name(&self) -> &'static str {
        "cnn/fig4"
    }

    fn about(&self) -> &'static str {
        "winning rate by accuracy, with a line through all networks"
    }

    fn reads(&self) -> &'static [Part] {
        &Part::ALL
    }

    fn asks_edax(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let mut tasks: Vec<Task> = NETS
            .into_iter()
            .flat_map(|net| ExampleSetKind::ALL.map(|set| Task::new(net).on(set)))
            .chain(OTHERS.map(Task::new))
            .chain(SKIPPING.iter().map(|row| Task::new(row.1).quarter()))
            .chain(NETS.into_iter().flat_map(|net| {
                // The pieces are Table II's.
                INPUTS.into_iter().skip(1).map(move |input| Task::new(net).seeing(input))
            }))
            .collect();
        if school.size().in_full.is_some() {
            tasks.push(BEST);
        }
        let mut contenders: Vec<Vec<Task>> = tasks.into_iter().map(|task| vec![task]).collect();
        contenders.extend(bags(&school, false).into_iter().map(|(_, tasks)| tasks));
        if school.size().every > 1 {
            // Enough for a line through all, and for one through those of the same set.
            contenders = [3, 7, 11, 12].map(|at| contenders[at].clone()).into();
        }
        let suite = Suite::of(&school);
        let lead = format!(
            "Each network's accuracy by example on the test part of Original and on that of what it learned \
             from, its accuracy by game, and its points in per cent against {} and against search of one ply.",
            suite.words()
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Figure 4", lead);
        report.findings.extend(suite.finding());
        let one = edax(&school, 1);
        let opponent = one.clone().unwrap_or_else(|| search(1));
        let second = if one.is_some() { "Edax-1" } else { "our search at 1 ply" };
        let mut dots = Vec::new();
        for tasks in contenders {
            let task = tasks[0];
            let tests = school.tests(&tasks)?;
            let [original, own] = [ExampleSetKind::Original, task.set].map(|set| accuracy(&tests, task, set));
            // One that learned from later games too has none.
            let by_game = accuracy(&tests, task.by_game(), task.set);
            let by_game = by_game.filter(|_| school.answers_both(task));
            let mut contender = Contender::new(&school, &tasks)?;
            let won = [contender.against_all(&suite)?, contender.against(&opponent, None)?];
            let row = school.title(&tasks);
            for (column, figure) in [
                ("accuracy by example", original),
                ("own accuracy by example", own),
                ("accuracy by game", by_game),
                (&suite.column(), won[0]),
                (second, won[1]),
            ] {
                tell(&mut report, &row, column, None, figure);
            }
            let percent = |figure: Option<Figure>| figure.map(|figure| figure.0);
            let [original, own, by_game] = [original, own, by_game].map(percent);
            dots.push(Dot { set: task.set, original, own, by_game, won: won.map(percent) });
        }
        // What was printed says nothing of other opponents.
        let printed = [suite.is_whole().then_some(PRINTED[0]), one.is_some().then_some(PRINTED[1])];
        let first = suite.column();
        // A network without a figure has no place in a drawing.
        let all: Vec<_> = dots.iter().filter_map(|dot| Some((dot.original?, dot.won))).collect();
        lines(
            &mut report,
            ("strength", "networks of any set, by Original's test"),
            [&first, second],
            &all,
            printed,
        );
        // Accuracies on one test, of networks that learned from the same.
        let alike = dots.iter().filter(|dot| dot.set == ExampleSetKind::UniqueS);
        let alike: Vec<_> = alike.filter_map(|dot| Some((dot.own?, dot.won))).collect();
        let names = [format!("{first}, Unique-S"), format!("{second}, Unique-S")];
        let names = names.each_ref().map(String::as_str);
        let place = ("strength-unique-s", "networks that learned from Unique-S, by their own test");
        lines(&mut report, place, names, &alike, printed);
        // Games of which none was learned from; the paper has no such test.
        let later: Vec<_> = dots.iter().filter_map(|dot| Some((dot.by_game?, dot.won))).collect();
        let names = [format!("{first}, by game"), format!("{second}, by game")];
        let names = names.each_ref().map(String::as_str);
        let place = ("strength-by-game", "networks of any set, by game");
        lines(&mut report, place, names, &later, [None; 2]);
        school.close(&mut report);
        report.departures.push(DROPOUT.to_owned());
        report.departures.extend(suite.departure());
        if !suite.is_whole() {
            let (slope, explained) = PRINTED[0];
            report.departures.push(format!(
                "Against the {THIRTEEN} the paper has a slope of {slope} and r2 = {explained}."
            ));
        }
        if one.is_none() {
            let (slope, explained) = PRINTED[1];
            report.departures.push(format!(
                "Our own search at one ply takes Edax-1's place, against which the paper has a slope of \
                 {slope} and r2 = {explained}; --edax COMMAND lets Edax play."
            ));
        }
        Ok(report)
    }
}

/// A network: what it learned from, its accuracies and its points.
struct Dot {
    set: ExampleSetKind,
    original: Option<f64>,
    own: Option<f64>,
    by_game: Option<f64>,
    won: [Option<f64>; 2],
}

/// Draws accuracies and points against either opponent, with a line through each.
fn lines(
    report: &mut Report,
    (file, title): (&str, &str),
    names: [&str; 2],
    dots: &[(f64, [Option<f64>; 2])],
    printed: [Option<(f64, f64)>; 2],
) {
    let title = format!("Winning rate by accuracy, {title}");
    let mut plot = Plot::new(title, "accuracy, %", "% of points").y_range(0.0, 100.0);
    let mut counts = Vec::new();
    for (at, (name, paper)) in names.into_iter().zip(printed).enumerate() {
        let points: Vec<_> =
            dots.iter().filter_map(|&(accuracy, won)| Some((accuracy, won[at]?))).collect();
        counts.push(points.len().to_string());
        let marks = points.iter().map(|&(x, y)| Point::new(x, y));
        plot = plot.series(Series::dots(name, marks));
        let Some((slope, through, explained)) = line(&points) else { continue };
        report.cell(name, "slope", paper.map(|p| p.0), Some(slope), None).decimals(1, 2);
        report.cell(name, "r2", paper.map(|p| p.1), Some(explained), None).decimals(3, 3);
        let ends = points
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), &(x, _)| (low.min(x), high.max(x)));
        let ends = [ends.0, ends.1].map(|x| Point::new(x, through + slope * x));
        plot = plot.series(
            Series::line(format!("{name}, line"), ends).dashed().without_markers().color_index(2 * at),
        );
    }
    counts.dedup();
    let caption = format!(
        "Lines by least squares, through the {} networks that have both figures.",
        counts.join(" and ")
    );
    report.figures.push((file.to_owned(), Box::new(plot), caption));
}

/// The slope and offset of the line by least squares and the share of the variance that it explains;
/// nothing when all accuracies are one.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / n, y / n);
    let sum = |of: fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(|dx, _| dx * dx), sum(|dx, dy| dx * dy), sum(|_, dy| dy * dy));
    if xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some((slope, y - slope * x, xy * xy / (xx * yy)))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_is_found() {
        let (slope, through, explained) = line(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).unwrap();
        assert!((slope - 2.0).abs() < 1e-12 && (through - 3.0).abs() < 1e-12);
        assert!((explained - 1.0).abs() < 1e-12);
        // Of y = 0, 1, 0 at x = 0, 1, 2 a line explains nothing.
        assert!(line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]).unwrap().2.abs() < 1e-12);
        assert!(line(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
    }
}
