//! Table IX: Conv8+BN, which does not look ahead, against search: its points, the time that the search
//! takes for a move, and how often the search plays what experts played.

use super::error_of;
use super::school::{School, read_json, write_json};
use super::table5::BEST;
use super::winning::{Contender, edax, search};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Cell, Experiment, Report};
use outflank_games::othello::Othello;
use outflank_games::{Line, Side};
use outflank_learners::cnn::spread;
use outflank_models::nets::Input;
use outflank_players::registry::factory;
use outflank_records::{ColoredExample, ExampleSetKind};
use outflank_runs::{rng, stop_requested};
use std::time::Instant;

/// For each level: points of the network, microseconds of a move, accuracy of Edax.
const PRINTED: [[f64; 3]; 5] = [
    [87.5, 100.0, 47.9],
    [59.4, 110.0, 53.3],
    [34.7, 160.0, 55.2],
    [19.8, 500.0, 59.8],
    [10.3, 1000.0, 59.7],
];

/// The table.
pub struct Table9;

impl Experiment for Table9 {
    fn name(&self) -> &'static str {
        "cnn/table9"
    }

    fn about(&self) -> &'static str {
        "Conv8+BN without looking ahead against search of one to five plies"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Openings, Part::Wthor]
    }

    fn asks_edax(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = "Points of Conv8+BN in per cent against search of n plies, exact from 2n empty \
                    squares; microseconds of the search for a move; how often it plays the expert's \
                    move, on Original.";
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table IX", lead.to_owned());
        let mut contender = Contender::new(&school, &[BEST])?;
        let lessons = school.lessons(BEST, Input::PIECES)?;
        let test = lessons.tests.iter().find(|test| test.name == BEST.test(ExampleSetKind::Original));
        let positions = test.map_or_else(Vec::new, |test| {
            spread(&test.examples, lab.scale.choose(4, 2000, 20_000))
        });
        let depths = lab.scale.choose(2, 5, 5);
        for depth in 1..=depths {
            let printed = PRINTED[depth as usize - 1];
            let players = [("our search", Some(search(depth))), ("Edax", edax(&school, depth))];
            for (who, player) in players {
                let is_edax = who == "Edax";
                let row = format!("{who}, {depth}");
                let Some(player) = player else {
                    for (column, paper) in COLUMNS.into_iter().zip(printed) {
                        told(report.cell(&row, column, Some(paper), None, None));
                    }
                    continue;
                };
                let won = contender.against(&player, None)?;
                let (accuracy, micros) = predict(lab, &player, depth, is_edax, &positions)?;
                let ours = [won.map(|won| won.0), Some(micros), Some(accuracy)];
                let count = positions.len() as u64;
                let error = won.map(|(percent, games)| error_of(percent, games));
                let errors = [error, None, Some(error_of(accuracy, count))];
                for (at, column) in COLUMNS.into_iter().enumerate() {
                    let paper = is_edax.then_some(printed[at]);
                    told(report.cell(&row, column, paper, ours[at], errors[at]));
                }
            }
        }
        school.close(&mut report);
        report.departures.push(
            "Our own search on the embedded champion stands beside Edax, whose rows are played when \
             its command is given (--edax)."
                .to_owned(),
        );
        Ok(report)
    }
}

const COLUMNS: [&str; 3] =
    ["points of the network", "microseconds a move", "accuracy of the search"];

/// Times are printed in whole ten-thousandths of a second or tenths of them.
fn told(cell: &mut Cell) {
    if cell.column == COLUMNS[1] {
        cell.decimals(0, 1);
    }
}

/// How often a searching player plays the expert's move, and its time for a move. Kept in a file, since
/// it takes long and the time is never the same again.
fn predict(
    lab: &Lab,
    player: &str,
    depth: u32,
    is_edax: bool,
    positions: &[ColoredExample],
) -> Result<(f64, f64), ExperimentError> {
    let failed = |error: String| ExperimentError::Learn(error);
    let path = lab.keep(&format!("{}-{depth}.json", if is_edax { "edax" } else { "search" }));
    if path.is_file() {
        return read_json(&path);
    }
    let mut player = factory::<Othello>(player)?.make().map_err(|fault| failed(fault.to_string()))?;
    let mut rng = rng::stream(lab.seed, &["table9"]);
    let (mut hits, mut seconds) = (0u32, 0.0);
    for ColoredExample { example, .. } in positions {
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let board = example.board();
        // An example is a position of a game, so there is one.
        let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
            continue;
        };
        let game = Line::new(position);
        player.new_game().map_err(|fault| failed(fault.to_string()))?;
        let began = Instant::now();
        let mv = player.choose(&game, &mut rng).map_err(|fault| failed(fault.to_string()))?;
        seconds += began.elapsed().as_secs_f64();
        hits += u32::from(mv == example.chosen());
    }
    let count = positions.len().max(1) as f64;
    let (accuracy, micros) = (100.0 * f64::from(hits) / count, 1e6 * seconds / count);
    write_json(&path, &(accuracy, micros))?;
    Ok((accuracy, micros))
}
