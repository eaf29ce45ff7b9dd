//! Liskowski, Jaśkowski & Krawiec (2018), Tables III and IV: input encodings and depth.
//!
//! Measures top-1 accuracy (Table III) and the legal rate (Table IV) on the test examples of
//! Unique-S, and on games after 2012.
//!
//! Departures: see `departures.rs`.

use super::table2::NETS;
use super::trained_nets::{TrainedNetCache, accuracy, legal_rate};
use super::{NetSpec, ONE_NET_EACH, add_percentage, compare_ranking, split_name};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;

/// Input encodings.
pub(super) const INPUTS: [&str; 3] = ["pieces", "ones", "vmoves"];

/// Table III or Table IV.
pub(crate) struct Encodings {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    /// Published figures, networks by encodings.
    published: [[f64; 3]; 3],
    /// Whether to measure the legal rate rather than the accuracy.
    legal_rate: bool,
}

/// Table III: top-1 accuracy.
pub(crate) const TABLE3: Encodings = Encodings {
    name: "cnn/table3",
    about: "top-1 accuracy by input encoding and depth",
    title: "Liskowski, Jaśkowski & Krawiec (2018), Table III",
    published: [[57.2, 57.3, 57.3], [59.2, 59.1, 59.0], [60.5, 60.6, 59.0]],
    legal_rate: false,
};

/// Table IV: legal rate.
pub(crate) const TABLE4: Encodings = Encodings {
    name: "cnn/table4",
    about: "legal rate by input encoding and depth",
    title: "Liskowski, Jaśkowski & Krawiec (2018), Table IV",
    published: [[99.95, 99.95, 100.0], [99.99, 99.99, 100.0], [99.99, 99.99, 100.0]],
    legal_rate: true,
};

impl Experiment for Encodings {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = match self.legal_rate {
            true => {
                "Legal rate: percentage of positions in which the largest output is a legal move."
            }
            false => "Top-1 accuracy, in percent, of networks trained on Unique-S.",
        };
        let mut report = Report::new(self.name, context.scale, self.title, lead.to_owned());
        let step = nets.params().row_step;
        for by_game in [false, true] {
            let mut results = [[None; 3]; 3];
            for (row, net) in NETS.into_iter().enumerate().step_by(step) {
                for (column, input) in INPUTS.into_iter().enumerate().step_by(step) {
                    let spec = NetSpec { by_game, ..NetSpec::new(net).with_input(input) };
                    let tests = nets.test_results(&[spec])?;
                    let figure = match self.legal_rate {
                        true => legal_rate(&tests, spec),
                        false => accuracy(&tests, spec, ExampleSetKind::UniqueS),
                    };
                    results[row][column] = figure;
                    let paper = (!by_game).then_some(self.published[row][column]);
                    let column = format!("{input}, {}", split_name(by_game));
                    let cell = add_percentage(&mut report, net, column, paper, figure);
                    if self.legal_rate {
                        // Nearly all values are close to 100.
                        cell.min_decimals(3);
                    }
                }
            }
            if self.legal_rate {
                let figures = results.iter().flatten().flatten().map(|a| a.0);
                if let Some(least) = figures.min_by(f64::total_cmp) {
                    let split = split_name(by_game);
                    report.findings.push(format!(
                        "The lowest legal rate {split} is {least:.3}% (paper: 99.95%)."
                    ));
                }
                continue;
            }
            // Depth with pieces, and the loss of the deepest network with vmoves.
            for (better, worse) in [((1, 0), (0, 0)), ((2, 0), (1, 0)), ((2, 0), (2, 2))] {
                let name =
                    |(row, column): (usize, usize)| format!("{} {}", NETS[row], INPUTS[column]);
                if let (Some(a), Some(b)) = (results[better.0][better.1], results[worse.0][worse.1])
                {
                    let text = compare_ranking(&name(better), a, &name(worse), b, ONE_NET_EACH);
                    report.findings.push(format!("{}: {text}", split_name(by_game)));
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        Ok(nets.outcome(report))
    }
}
