//! Table V: dropout, normalisation and bagging; beside it the ten-layer network that the text mentions,
//! the fully connected one that it wishes for (section VII), planes for the colour and the stage and
//! weights for each stage (section VIII), and how much better each network knows what it learned from than
//! what it did not.

use super::departures::{DROPOUT, times};
use super::school::{School, accuracy};
use super::{Figure, ONE_OF_EACH, Task, above, apart, split_name, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;

/// Title, network, what it sees, accuracy and microseconds for a position as printed.
type Row = (&'static str, &'static str, &'static str, Option<f64>, Option<f64>);

const ROWS: [Row; 9] = [
    ("Conv8", "conv8", "pieces", Some(60.5), Some(160.0)),
    ("Conv8+dropout", "conv8-dropout", "pieces", Some(58.8), Some(160.0)),
    ("Conv8+BN", "conv8-bn", "pieces", Some(62.7), Some(190.0)),
    ("Conv10", "conv10", "pieces", None, None),
    ("Conv10+BN", "conv10-bn", "pieces", None, None),
    ("fully connected, 4 layers of 1024", "fc4x1024", "pieces", None, None),
    ("Conv8+BN, colour to move", "conv8-bn", "pieces+colour", None, None),
    ("Conv8+BN, stage of the game", "conv8-bn", "pieces+stage", None, None),
    ("Conv8+BN, own weights for each stage", "conv8-bn-stages", "pieces+stage", None, None),
];

/// What the text mentions or wishes for, what it is to be seen beside, and what the text says.
const WISHES: [(&str, &str, &str); 7] = [
    ("Conv10", "Conv8", "the text: ten layers failed to improve on eight."),
    ("Conv10+BN", "Conv8+BN", "not in the paper."),
    (ROWS[5].0, "Conv8+BN", "the text wishes for it and expects it to learn too much by heart."),
    (ROWS[6].0, "Conv8+BN", "the text expects it to help."),
    (ROWS[7].0, "Conv8+BN", "four planes say the stage, and all weights are shared."),
    (ROWS[8].0, "Conv8+BN", "the text: it could help, as it does Logistello and Edax."),
    (ROWS[8].0, ROWS[7].0, "what own weights add to knowing the stage."),
];

/// The row of the network that is taught in full.
const IN_FULL: &str = "Conv8+BN, in full";

/// The accuracy and time of the bag.
const BAGGED: (f64, f64) = (64.0, 1940.0);

/// The paper's best network.
pub(super) const BEST: Task = Task::new("conv8-bn").in_full();

/// Its bags, with their titles: one on a shorter budget, where there is such, and one in full.
pub(super) fn bags(school: &School<'_>, by_game: bool) -> Vec<(String, Vec<Task>)> {
    let title = format!("Conv8+BN, bag of {}", school.size().bag);
    let bag = |task: Task| (1..=school.size().bag).map(|number| task.of_bag(number)).collect();
    let task = Task { by_game, ..Task::new(BEST.net) };
    let mut bags = vec![(title.clone(), bag(task))];
    if school.size().in_full.is_some() {
        bags.push((format!("{title}, in full"), bag(task.in_full())));
    }
    bags
}

/// The table.
pub struct Table5;

impl Experiment for Table5 {
    fn name(&self) -> &'static str {
        "cnn/table5"
    }

    fn about(&self) -> &'static str {
        "dropout, batch normalisation, bagging, and what the paper left for later"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = "Per cent of moves predicted by networks that learned from Unique-S; microseconds \
                    for a position in batches of 256; how much higher the accuracy is on what was \
                    learned from, of which the text says that it is typically within one point.";
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table V", lead.to_owned());
        let every = school.size().every;
        let mut device = None;
        for by_game in [false, true] {
            let split = split_name(by_game);
            // What takes longest comes first.
            let bags = bags(&school, by_game);
            for (_, tasks) in &bags {
                school.tests(tasks)?;
            }
            let mut found = Vec::new();
            let mut rows: Vec<(Row, Task)> = ROWS
                .into_iter()
                .step_by(every)
                .map(|row| (row, Task { by_game, ..Task::new(row.1).seeing(row.2) }))
                .collect();
            if !by_game && school.size().in_full.is_some() {
                rows.push(((IN_FULL, BEST.net, BEST.input, Some(62.7), Some(190.0)), BEST));
            }
            for ((title, _, _, printed, micros), task) in rows {
                let studied = school.study(task)?;
                let figure = studied
                    .as_ref()
                    .and_then(|studied| accuracy(&studied.tests, task, ExampleSetKind::UniqueS));
                tell(&mut report, title, split, printed.filter(|_| !by_game), figure);
                if !by_game {
                    let ours = studied.as_ref().map(|studied| studied.micros);
                    report.cell(title, "microseconds", micros, ours, None).decimals(0, 1);
                    // The text: typically within one point.
                    let learned = studied.as_ref().and_then(|studied| studied.learned);
                    if let (Some(learned), Some(tested)) = (learned, figure) {
                        let (gap, error) = apart(learned, tested);
                        report.cell(title, "training less test", None, Some(gap), Some(error));
                    }
                }
                found.push((title, figure));
                device = device.or(studied.map(|studied| studied.device));
            }
            let of = |name: &str| found.iter().find(|(title, _)| *title == name)?.1;
            for (better, worse) in [("Conv8", "Conv8+dropout"), ("Conv8+BN", "Conv8")] {
                if let (Some(a), Some(b)) = (of(better), of(worse)) {
                    let order = above(better, a, worse, b, ONE_OF_EACH);
                    report.findings.push(format!("{split}: {order}"));
                }
            }
            let alone = [("Conv8+BN", Task { by_game, ..Task::new(BEST.net) }), (IN_FULL, BEST)];
            let alone: Vec<_> = alone
                .into_iter()
                .filter_map(|(name, task)| Some((name, task, of(name)?)))
                .collect();
            for (title, tasks) in &bags {
                bag_row(&mut report, &school, (title, tasks), &alone)?;
            }
            for (title, beside, said) in WISHES {
                if let (Some(a), Some(b)) = (of(title), of(beside)) {
                    let (difference, error) = apart(a, b);
                    report.findings.push(format!(
                        "{split}: {title} {:.2}, {beside} {:.2} ({difference:+.2} ± {error:.2}, \
                         {ONE_OF_EACH}); {said}",
                        a.0, b.0
                    ));
                }
            }
        }
        school.close(&mut report);
        report.departures.push(DROPOUT.to_owned());
        report.departures.extend(device.as_deref().map(times));
        Ok(report)
    }
}

/// The row of a bag, and what is said of it.
fn bag_row(
    report: &mut Report,
    school: &School<'_>,
    (title, tasks): (&str, &[Task]),
    alone: &[(&str, Task, Figure)],
) -> Result<(), ExperimentError> {
    let first = tasks[0];
    let split = split_name(first.by_game);
    let together = accuracy(&school.tests(tasks)?, first, ExampleSetKind::UniqueS);
    tell(report, title, split, (!first.by_game).then_some(BAGGED.0), together);
    let mut studied = Vec::new();
    for &task in tasks {
        studied.extend(school.study(task)?);
    }
    if !first.by_game {
        // Of a bag there is only a time if there is one of each.
        let micros = (studied.len() == tasks.len())
            .then(|| studied.iter().map(|studied| studied.micros).sum());
        report.cell(title, "microseconds", Some(BAGGED.1), micros, None).decimals(0, 1);
        if studied.iter().any(|studied| studied.plan.is_none()) {
            report.departures.push(format!(
                "{title}: its networks were taught before each of a bag began from weights of its own. They \
                 began from the same ones and met their draws in the same order."
            ));
        }
    }
    let each: Vec<Figure> = studied
        .iter()
        .filter_map(|studied| accuracy(&studied.tests, first, ExampleSetKind::UniqueS))
        .collect();
    let Some(together) = together else { return Ok(()) };
    for said in bagged(school, (title, first, together), &each, alone)? {
        report.findings.push(format!("{split}: {said}"));
    }
    Ok(())
}

/// What is said of a bag: beside the mean of its own networks, and beside each network alone. Where that one
/// learned otherwise, what differs is said and nothing is judged.
fn bagged(
    school: &School<'_>,
    (title, first, together): (&str, Task, Figure),
    each: &[Figure],
    alone: &[(&str, Task, Figure)],
) -> Result<Vec<String>, ExperimentError> {
    let mut said = Vec::new();
    if !each.is_empty() {
        let mean = each.iter().map(|figure| figure.0).sum::<f64>() / each.len() as f64;
        // They answer the same questions, so that their mean is no surer than one of them.
        let mean = (mean, each[0].1);
        said.push(above(title, together, "the mean of its own networks", mean, "one bag"));
    }
    let way = school.way(first)?;
    for &(name, task, figure) in alone {
        let other = school.way(task)?;
        said.push(match way == other {
            true => above(title, together, name, figure, "one bag and one network"),
            false => {
                let (difference, error) = apart(together, figure);
                format!(
                    "{title} {:.2}, {name} {:.2} ({difference:+.2} ± {error:.2}), which is not like with \
                     like: each of the bag learned by {}; {name} by {}.",
                    together.0,
                    figure.0,
                    unlike(&way, &other),
                    unlike(&other, &way)
                )
            }
        });
    }
    Ok(said)
}

/// What is said of one way to learn and not of another.
fn unlike(way: &str, other: &str) -> String {
    let parts = way.split(", ").filter(|part| !other.split(", ").any(|same| same == *part));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::unlike;

    #[test]
    fn what_differs_is_said_alone() {
        let (bag, alone) = (
            "1.75 passes of games up to 2012, in batches of 4096, decay 5e-4",
            "37,000,000 examples of games up to 2012, in batches of 4096, decay 5e-5",
        );
        assert_eq!(unlike(bag, alone), "1.75 passes of games up to 2012, decay 5e-4");
        assert_eq!(unlike(alone, bag), "37,000,000 examples of games up to 2012, decay 5e-5");
        assert_eq!(unlike(bag, bag), "");
    }
}
