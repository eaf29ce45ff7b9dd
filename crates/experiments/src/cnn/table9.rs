//! Liskowski, Jaśkowski & Krawiec (2018), Table IX: Conv8+BN without search against search players.
//!
//! Measures the points of the network, the time per move of the search, and the accuracy of the
//! search in predicting experts' moves.
//!
//! Departures: see `departures.rs`; our search in addition to Edax.

use super::half_width;
use super::net_player::{NetPlayer, edax, search};
use super::table5::BEST;
use super::trained_nets::{TrainedNetCache, read_json, write_json};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Cell, Experiment, ExperimentOutcome, Report};
use outflank_games::othello::Othello;
use outflank_games::{Line, Side};
use outflank_learners::cnn::sample_evenly;
use outflank_models::nets::Input;
use outflank_players::registry::factory;
use outflank_records::{ColoredExample, ExampleSetKind};
use outflank_runs::{rng, stop_requested};
use std::time::Instant;

/// Published for each level: points of the network, microseconds per move and accuracy of Edax.
const PUBLISHED: [[f64; 3]; 5] = [
    [87.5, 100.0, 47.9],
    [59.4, 110.0, 53.3],
    [34.7, 160.0, 55.2],
    [19.8, 500.0, 59.8],
    [10.3, 1000.0, 59.7],
];

/// The experiment `cnn/table9`.
pub(crate) struct Table9;

impl Experiment for Table9 {
    fn name(&self) -> &'static str {
        "cnn/table9"
    }

    fn about(&self) -> &'static str {
        "Conv8+BN without search against search of one to five plies"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Openings, DataFolder::Wthor]
    }

    fn uses_edax(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = "Points of Conv8+BN, in percent, against search of n plies, exact from 2n empty \
                    squares; microseconds per move of the search; how often the search plays the \
                    expert's move, on Original.";
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table IX",
            lead.to_owned(),
        );
        let mut player = NetPlayer::new(&nets, &[BEST])?;
        let dataset = nets.dataset(BEST, Input::PIECES)?;
        let test = dataset
            .tests
            .iter()
            .find(|test| test.name == BEST.test_name_prefix(ExampleSetKind::Original));
        let positions = test.map_or_else(Vec::new, |test| {
            sample_evenly(&test.examples, context.scale.choose(4, 2000, 20_000))
        });
        let depths = context.scale.choose(2, 5, 5);
        for depth in 1..=depths {
            let published = PUBLISHED[depth as usize - 1];
            let players = [("our search", Some(search(depth))), ("Edax", edax(&nets, depth))];
            for (name, opponent) in players {
                let is_edax = name == "Edax";
                let row = format!("{name}, {depth}");
                let Some(opponent) = opponent else {
                    for (column, paper) in COLUMNS.into_iter().zip(published) {
                        format_times(report.add_cell(&row, column, Some(paper), None, None));
                    }
                    continue;
                };
                let score = player.score_against(&opponent, None)?;
                let (accuracy, micros) =
                    measure_search(context, &opponent, depth, is_edax, &positions)?;
                let ours = [score.map(|score| score.0), Some(micros), Some(accuracy)];
                let count = positions.len() as u64;
                let errors = [score.map(half_width), None, Some(half_width((accuracy, count)))];
                for (at, column) in COLUMNS.into_iter().enumerate() {
                    let paper = is_edax.then_some(published[at]);
                    format_times(report.add_cell(&row, column, paper, ours[at], errors[at]));
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.push(
            "Our own search with the embedded champion plays in addition to Edax. Give --edax COMMAND to \
             play against Edax."
                .to_owned(),
        );
        Ok(nets.outcome(report))
    }
}

const COLUMNS: [&str; 3] =
    ["points of the network", "microseconds per move", "accuracy of the search"];

/// Sets the decimals of times.
fn format_times(cell: &mut Cell) {
    if cell.column == COLUMNS[1] {
        cell.decimals(0, 1);
    }
}

/// Measures how often a search player plays the expert's move, and its time per move. The result is
/// stored in the run folder, so that a resumed experiment reports the same time.
fn measure_search(
    context: &ExperimentContext,
    player: &str,
    depth: u32,
    is_edax: bool,
    positions: &[ColoredExample],
) -> Result<(f64, f64), ExperimentError> {
    let path = context.file(&format!("{}-{depth}.json", if is_edax { "edax" } else { "search" }));
    if path.is_file() {
        return read_json(&path);
    }
    let mut player = factory::<Othello>(player)?.make().map_err(ExperimentError::training)?;
    let mut rng = rng::stream(context.seed, &["table9"]);
    let (mut hits, mut seconds) = (0u32, 0.0);
    for ColoredExample { example, .. } in positions {
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let board = example.board();
        // Examples are legal positions.
        let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
            continue;
        };
        let game = Line::new(position);
        player.new_game().map_err(ExperimentError::training)?;
        let began = Instant::now();
        let mv = player.choose(&game, &mut rng).map_err(ExperimentError::training)?;
        seconds += began.elapsed().as_secs_f64();
        hits += u32::from(mv == example.chosen());
    }
    let count = positions.len().max(1) as f64;
    let (accuracy, micros) = (100.0 * f64::from(hits) / count, 1e6 * seconds / count);
    write_json(&path, &(accuracy, micros))?;
    Ok((accuracy, micros))
}
