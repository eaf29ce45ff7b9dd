//! Tables III and IV: encodings and depth, by accuracy and by how often the first choice is legal, on
//! the test part of Unique-S.

use super::school::{School, accuracy, valid};
use super::table2::NETS;
use super::{ONE_OF_EACH, Task, above, split_name, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;

/// What networks may see of a position.
pub(super) const INPUTS: [&str; 3] = ["pieces", "ones", "vmoves"];

/// One of the two tables.
pub struct Encodings {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    /// As printed, networks by encodings.
    printed: [[f64; 3]; 3],
    /// Whether first choices are asked to be legal rather than right.
    legal: bool,
}

/// Accuracy.
pub const TABLE3: Encodings = Encodings {
    name: "cnn/table3",
    about: "what a network sees of a position, and how deep it is",
    title: "Paper 3, Table III",
    printed: [[57.2, 57.3, 57.3], [59.2, 59.1, 59.0], [60.5, 60.6, 59.0]],
    legal: false,
};

/// Legal first choices.
pub const TABLE4: Encodings = Encodings {
    name: "cnn/table4",
    about: "how often a network's first choice is legal",
    title: "Paper 3, Table IV",
    printed: [[99.95, 99.95, 100.0], [99.99, 99.99, 100.0], [99.99, 99.99, 100.0]],
    legal: true,
};

impl Experiment for Encodings {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = match self.legal {
            true => "Per cent of positions in which the largest output is a legal move.",
            false => "Per cent of moves predicted by networks that learned from Unique-S.",
        };
        let mut report = Report::new(self.name, lab.scale, self.title, lead.to_owned());
        let every = school.size().every;
        for by_game in [false, true] {
            let mut found = [[None; 3]; 3];
            for (row, net) in NETS.into_iter().enumerate().step_by(every) {
                for (column, input) in INPUTS.into_iter().enumerate().step_by(every) {
                    let task = Task { by_game, ..Task::new(net).seeing(input) };
                    let tests = school.tests(&[task])?;
                    let figure = match self.legal {
                        true => valid(&tests, task),
                        false => accuracy(&tests, task, ExampleSetKind::UniqueS),
                    };
                    found[row][column] = figure;
                    let paper = (!by_game).then_some(self.printed[row][column]);
                    let column = format!("{input}, {}", split_name(by_game));
                    let cell = tell(&mut report, net, column, paper, figure);
                    if self.legal {
                        // All but nothing is 100.
                        cell.own_decimals(3);
                    }
                }
            }
            if self.legal {
                let figures = found.iter().flatten().flatten().map(|a| a.0);
                if let Some(least) = figures.min_by(f64::total_cmp) {
                    let split = split_name(by_game);
                    report.findings.push(format!(
                        "The least share of legal first choices {split} is {least:.3}%; the paper's \
                         is 99.95."
                    ));
                }
                continue;
            }
            // Depth with pieces, and what vmoves cost the deepest.
            for (better, worse) in [((1, 0), (0, 0)), ((2, 0), (1, 0)), ((2, 0), (2, 2))] {
                let name =
                    |(row, column): (usize, usize)| format!("{} {}", NETS[row], INPUTS[column]);
                if let (Some(a), Some(b)) = (found[better.0][better.1], found[worse.0][worse.1]) {
                    let order = above(&name(better), a, &name(worse), b, ONE_OF_EACH);
                    report.findings.push(format!("{}: {order}", split_name(by_game)));
                }
            }
        }
        school.close(&mut report);
        Ok(report)
    }
}
