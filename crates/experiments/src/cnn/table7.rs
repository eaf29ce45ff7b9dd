//! Table VII: how the best networks play, without looking ahead, against players who look one ply
//! ahead.

use super::school::{School, accuracy};
use super::suite::{Suite, THIRTEEN};
use super::table5::{BEST, bag};
use super::winning::{COCMAES, Contender, IPREF_N, edax, published, search};
use super::{Figure, Task, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::Set;
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
             move, both colours; the accuracy is by example, of networks learned by game on later games.",
            count(u64::from(2 * school.size().rounds))
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table VII", lead);
        let every = 3 * school.size().every - 2;
        for by_game in [false, true] {
            let with = |title: &str| match by_game {
                true => format!("{title}, learned by game"),
                false => title.to_owned(),
            };
            // The last row is the one that everything is about; its bag comes next to it.
            for (title, net, printed) in ROWS.into_iter().rev().step_by(every) {
                let task = match (net == BEST.net, by_game) {
                    (true, false) => BEST,
                    (true, true) => Task::new(net).by_game(),
                    (false, _) => Task { by_game, ..Task::new(net).quarter() },
                };
                let alone = accuracy(&school.tests(&[task])?, task, Set::UniqueS);
                let printed = (!by_game).then_some(printed);
                row(&mut report, &school, &with(title), &[task], alone, printed)?;
                if net == BEST.net {
                    let tasks = bag(&school, by_game);
                    let together = accuracy(&school.tests(&tasks)?, tasks[0], Set::UniqueS);
                    let title = with(&format!("Conv8+BN, bag of {}", tasks.len()));
                    let printed = (!by_game).then_some(BAGGED);
                    row(&mut report, &school, &title, &tasks, together, printed)?;
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
    accuracy: Option<Figure>,
    printed: Option<[f64; 4]>,
) -> Result<(), ExperimentError> {
    let paper = |at: usize| printed.map(|printed| printed[at]);
    tell(report, title, "accuracy", paper(0), accuracy);
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
