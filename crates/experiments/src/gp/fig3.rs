//! Yelluri (2015), Figure 3: posterior mean and variance of the pair that BALD chooses; each round
//! searches for an opponent of the best heuristic (section 4.3).
//!
//! Departures: see `departures` in [`gp`](super); the paper has Othello only and no numbers.

use super::{
    Checkers, Othello, STRATEGIES, SearchTarget, StrategyRuns, departures, game_title,
    scale_params, table_rounds, train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::Mean;
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_games::{Game, Position};
use outflank_report::{Plot, Point, Series};

/// The experiment `gp/fig3`.
pub(crate) struct Fig3;

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "gp/fig3"
    }

    fn about(&self) -> &'static str {
        "posterior mean and variance of the pair that BALD chooses, by round"
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let params = scale_params(context.scale);
        let lead = format!(
            "Posterior mean and variance of the preference in the pair that BALD chooses, before the \
             comparison; mean of {} runs.",
            params.runs
        );
        let mut report = Report::new(self.name(), context.scale, "Yelluri (2015), Figure 3", lead);
        let runs = train(context, SearchTarget::Opponent, &STRATEGIES[..1], None)?;
        let Some([othello, checkers]) = runs else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        for (game, all) in [(Othello::GAME, othello), (Checkers::GAME, checkers)] {
            all.iter().for_each(|runs| add_game(context, game, runs, &mut report));
        }
        report.departures = departures(context.scale);
        report.departures.push(
            "The paper's figure is a plot without numbers, for Othello only; its text says that the \
             variance decreases and that the magnitude of the mean increases."
                .to_owned(),
        );
        Ok(report.into())
    }
}

/// Adds the curves and findings of one game.
fn add_game(context: &ExperimentContext, game: Game, runs: &StrategyRuns, report: &mut Report) {
    let params = scale_params(context.scale);
    let title = game_title(game);
    // The initial pairs have no posterior, so curves start with the first round.
    let at = |round: u64, name: &str, magnitude: bool| -> Vec<f64> {
        let values = runs.at(round, name).into_iter();
        values.map(|value| if magnitude { value.abs() } else { value }).collect()
    };
    for (name, measurement, magnitude) in [
        ("mean", "mean", false),
        ("magnitude of the mean", "mean", true),
        ("variance", "variance", false),
    ] {
        let row = format!("{title}, {name}");
        for round in table_rounds(params.rounds).into_iter().filter(|&round| round > 0) {
            let mean = Mean::of(&at(round, measurement, magnitude));
            let error = Some(mean.half_width());
            report.add_cell(&row, round.to_string(), None, Some(mean.value), error);
        }
        let points = (1..=params.rounds).map(|round| {
            let mean = Mean::of(&at(round, measurement, magnitude));
            Point::with_error(round as f64, mean.value, mean.half_width())
        });
        let plot = Plot::new(format!("The chosen pair: {name}, {title}"), "round", name)
            .series(Series::line(name, points).band());
        let stem = format!("{}-{}", name.replace(' ', "-"), game);
        report.figures.push((stem, Box::new(plot), "Means over runs.".to_owned()));
    }
    let tenth = (params.rounds / 10).max(1);
    let over = |from: u64, name: &str, magnitude: bool| {
        let values = (from..from + tenth).flat_map(|round| at(round, name, magnitude));
        Mean::of(&values.collect::<Vec<f64>>()).value
    };
    let last = params.rounds - tenth + 1;
    report.findings.push(format!(
        "{title}: from the first to the last tenth of the rounds the variance changes from {:.2} to \
         {:.2} and the magnitude of the mean from {:.2} to {:.2}.",
        over(1, "variance", false),
        over(last, "variance", false),
        over(1, "mean", true),
        over(last, "mean", true),
    ));
}
