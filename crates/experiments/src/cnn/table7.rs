//! Table VII: how the best networks play, without looking ahead, against players who look one ply
//! ahead.

use super::school::{School, accuracy};
use super::suite::{Suite, THIRTEEN};
use super::table5::{BEST, bags};
use super::winning::{COCMAES, Contender, IPREF_N, edax, published, search};
use super::{Figure, Task, split_name, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;
use outflank_report::text::count;

/// Title, network, and as printed: accuracy, mean against the thirteen, against CoCMAES and Edax-1.
const ROWS: [(&str, &str, [f64; 4]); 4] = [
    ("ResNet-56-np-p", "resnet-56-np-p", [60.5, 94.3, 87.7, 80.7]),
    ("DenseNet-100", "densenet-100", [61.9, 94.1, 87.5, 79.0]),
    ("WideNet-40-4", "widenet-40-4", [62.2, 96.3, 92.2, 88.1]),
    ("Conv8+BN", "conv8-bn", [62.7, 96.7, 93.2, 87.5]),
];
const BAGGED: [f64; 4] = [64.0, 96.6, 93.5, 87.6];

/// Conv8+BN against the published iPrefN (section VII).
const AGAINST_IPREF: f64 = 93.9;

/// The table.
pub struct Table7;

impl Experiment for Table7 {
    fn name(&self) -> &'static str {
        "cnn/table7"
    }

    fn about(&self) -> &'static str {
        "networks without looking ahead against the published players at one ply"
    }

    fn reads(&self) -> &'static [Part] {
        &Part::ALL
    }

    fn asks_edax(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = format!(
            "Points in per cent of {} games against each opponent, from the 1,000 openings, White to \
             move, both colours.",
            count(u64::from(2 * school.size().rounds))
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table VII", lead);
        let every = 3 * school.size().every - 2;
        // The last row is the one that everything is about; its bags come next to it.
        for (title, net, printed) in ROWS.into_iter().rev().step_by(every) {
            let is_best = net == BEST.net;
            let task = if is_best { BEST } else { Task::new(net).quarter() };
            let mut contenders = vec![(title.to_owned(), vec![task], printed)];
            if is_best {
                let bags = bags(&school, false).into_iter();
                contenders.extend(bags.map(|(title, tasks)| (title, tasks, BAGGED)));
            }
            for (title, tasks, printed) in contenders {
                row(&mut report, &school, &title, &tasks, Some(printed))?;
                if !school.answers_both(tasks[0]) {
                    let by_game = |&task: &Task| Task { by_game: true, in_full: false, ..task };
                    let tasks: Vec<Task> = tasks.iter().map(by_game).collect();
                    row(&mut report, &school, &format!("{title}, learned by game"), &tasks, None)?;
                }
            }
        }
        school.close(&mut report);
        report.departures.push(
            "Our own search at one ply, exact from two empty squares, stands beside Edax-1; Edax plays \
             when its command is given (--edax)."
                .to_owned(),
        );
        let suite = Suite::of(&school);
        report.findings.extend(suite.finding());
        report.departures.extend(suite.departure());
        Ok(report)
    }
}

fn row(
    report: &mut Report,
    school: &School<'_>,
    title: &str,
    tasks: &[Task],
    printed: Option<[f64; 4]>,
) -> Result<(), ExperimentError> {
    let paper = |at: usize| printed.map(|printed| printed[at]);
    // A network that learned from later games too has no accuracy by game, nor one by game alone by example.
    let tests = school.tests(tasks)?;
    for (by_game, paper) in [(false, paper(0)), (true, None)] {
        let task = Task { by_game, ..tasks[0] };
        let is_tested = by_game == tasks[0].by_game || school.answers_both(tasks[0]);
        let figure = accuracy(&tests, task, ExampleSetKind::UniqueS).filter(|_| is_tested);
        let column = format!("accuracy {}", split_name(by_game));
        tell(report, title, &column, paper, figure);
    }
    let mut contender = Contender::new(school, tasks)?;
    let suite = Suite::of(school);
    suite.cell(report, title, THIRTEEN, paper(1), contender.against_all(&suite)?);
    let mut named = |name: &str| -> Result<Option<Figure>, ExperimentError> {
        published(school, name).map_or(Ok(None), |player| contender.against(&player, None))
    };
    let (cocmaes, ipref) = (named(COCMAES)?, named(IPREF_N)?);
    tell(report, title, "CoCMAES-4+2x2", paper(2), cocmaes);
    tell(report, title, "iPrefN", (tasks == [BEST]).then_some(AGAINST_IPREF), ipref);
    let one = edax(school, 1).map_or(Ok(None), |player| contender.against(&player, None))?;
    tell(report, title, "Edax-1", paper(3), one);
    tell(report, title, "our search at 1 ply", None, contender.against(&search(1), None)?);
    Ok(())
}
