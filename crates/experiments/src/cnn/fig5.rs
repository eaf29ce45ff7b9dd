//! Liskowski, Jaśkowski & Krawiec (2018), Figure 5: gain of Conv8+BN when a five-ply search plays
//! one stage of the game.
//!
//! Departures: see `departures.rs`; our search instead of Edax, unless the user gives the command
//! of Edax.

use super::difference;
use super::net_player::{NetPlayer, PlyReplacement, edax, search};
use super::table5::BEST;
use super::trained_nets::TrainedNetCache;
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_report::{Plot, Point, Series};

/// The four stages of the game, as first and last ply (section VI-E).
const PLY_RANGES: [(u32, u32); 4] = [(1, 15), (16, 30), (31, 45), (46, 60)];

/// The experiment `cnn/fig5`.
pub(crate) struct Fig5;

impl Experiment for Fig5 {
    fn name(&self) -> &'static str {
        "cnn/fig5"
    }

    fn about(&self) -> &'static str {
        "gain of Conv8+BN when search plays one stage of the game"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Openings, DataFolder::Wthor]
    }

    fn uses_edax(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let plies = context.scale.choose(2, 5, 5);
        let lead = format!(
            "Gain in points, in percent, of Conv8+BN against search of n plies (columns) when a search of \
             {plies} plies plays one stage of the game for it."
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Figure 5",
            lead,
        );
        let has_edax = edax(&nets, 1).is_some();
        let search_player = |depth: u32| edax(&nets, depth).unwrap_or_else(|| search(depth));
        let helper = search_player(plies);
        let mut player = NetPlayer::new(&nets, &[BEST])?;
        let mut plot =
            Plot::new("Gain by stage", "plies of the opponent", "gain, % of points").integer_x();
        let mut without_help = Vec::new();
        for depth in 1..=plies {
            without_help.push((depth, player.score_against(&search_player(depth), None)?));
        }
        for (from, to) in PLY_RANGES {
            let mut points = Vec::new();
            for &(depth, without) in &without_help {
                let replacement = PlyReplacement { plies: from..=to, player: &helper };
                let with = player.score_against(&search_player(depth), Some(replacement))?;
                let gain = with.zip(without).map(|(with, without)| difference(with, without));
                report.add_cell(
                    format!("moves {from} to {to}"),
                    depth.to_string(),
                    None,
                    gain.map(|gain| gain.0),
                    gain.map(|gain| gain.1),
                );
                let point = |(gain, error)| Point::with_error(f64::from(depth), gain, error);
                points.extend(gain.map(point));
            }
            plot = plot.series(Series::line(format!("moves {from} to {to}"), points));
        }
        let caption = "95% confidence intervals. The paper's figure has no numbers.".to_owned();
        report.figures.push(("gain".to_owned(), Box::new(plot), caption));
        nets.add_departures_and_omissions(&mut report);
        if !has_edax {
            report.departures.push(
                "Our own search with the embedded champion replaces Edax, as helper and as opponent. Give \
                 --edax COMMAND to use Edax."
                    .to_owned(),
            );
        }
        Ok(nets.outcome(report))
    }
}
