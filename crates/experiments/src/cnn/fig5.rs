//! Figure 5: what Conv8+BN gains when search of five plies plays one stage of the game for it.

use super::apart;
use super::school::School;
use super::table5::BEST;
use super::winning::{Contender, edax, search};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_report::{Plot, Point, Series};

/// The stages (section VI-E).
const STAGES: [(u32, u32); 4] = [(1, 15), (16, 30), (31, 45), (46, 60)];

/// The figure.
pub struct Fig5;

impl Experiment for Fig5 {
    fn name(&self) -> &'static str {
        "cnn/fig5"
    }

    fn about(&self) -> &'static str {
        "Conv8+BN with a stage of the game left to search"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Openings, Part::Wthor]
    }

    fn asks_edax(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let plies = lab.scale.choose(2, 5, 5);
        let lead = format!(
            "Points in per cent that Conv8+BN gains against search of n plies, in the columns, when search of \
             {plies} plies plays one stage of the game for it."
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Figure 5", lead);
        let has_edax = edax(&school, 1).is_some();
        let player = |depth: u32| edax(&school, depth).unwrap_or_else(|| search(depth));
        let helper = player(plies);
        let mut contender = Contender::new(&school, &[BEST])?;
        let mut plot =
            Plot::new("Gain by stage", "plies of the opponent", "points gained, %").integer_x();
        let mut alone = Vec::new();
        for depth in 1..=plies {
            alone.push((depth, contender.against(&player(depth), None)?));
        }
        for (from, to) in STAGES {
            let mut points = Vec::new();
            for &(depth, alone) in &alone {
                let with = contender.against(&player(depth), Some((from, to, &helper)))?;
                let gained = with.zip(alone).map(|(with, alone)| apart(with, alone));
                report.cell(
                    format!("moves {from} to {to}"),
                    depth.to_string(),
                    None,
                    gained.map(|gained| gained.0),
                    gained.map(|gained| gained.1),
                );
                let point = |(gain, error)| Point::with_error(f64::from(depth), gain, error);
                points.extend(gained.map(point));
            }
            plot = plot.series(Series::line(format!("moves {from} to {to}"), points));
        }
        let caption =
            "95% intervals. The paper draws this figure without printing numbers.".to_owned();
        report.figures.push(("gain".to_owned(), Box::new(plot), caption));
        school.close(&mut report);
        if !has_edax {
            report.departures.push(
                "Our own search on the embedded champion takes Edax's place, both as helper and as \
                 opponent; --edax COMMAND lets Edax play."
                    .to_owned(),
            );
        }
        Ok(report)
    }
}
