//! Yelluri (2015), Figure 2: benchmark score of the best heuristic so far; each round searches for
//! an opponent of it (section 4.2).
//!
//! Departures: see `departures` in [`gp`](super), and the openings of the benchmark.

use super::{
    BENCHMARK, Checkers, Othello, RANDOM_OPPONENTS, ROUNDS, STRATEGIES, SearchTarget, StrategyRuns,
    compare_paired, departures, game_title, published, scale_params, table_rounds, train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::Mean;
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_games::{Game, Position};
use outflank_report::{Plot, Point, Series};

/// Published best score and the round in which it was found, of Othello and checkers.
const PUBLISHED: [(Game, (f64, u64)); 2] =
    [(Othello::GAME, (47.0, 57)), (Checkers::GAME, (48.0, 82))];

/// The experiment `gp/fig2`.
pub(crate) struct Fig2;

impl Experiment for Fig2 {
    fn name(&self) -> &'static str {
        "gp/fig2"
    }

    fn about(&self) -> &'static str {
        "benchmark score of the best heuristic by round, and its score against new heuristics at the end"
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let params = scale_params(context.scale);
        let lead = format!(
            "Points of the best heuristic so far in one game against each of {} random heuristics, \
             while each round searches for an opponent of it; mean of {} runs. At the end it also plays \
             the same number of new heuristics, which had no part in its selection.",
            params.benchmark, params.runs
        );
        let mut report = Report::new(self.name(), context.scale, "Yelluri (2015), Figure 2", lead);
        let runs = train(context, SearchTarget::Opponent, &RANDOM_OPPONENTS, None)?;
        let Some([othello, checkers]) = runs else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        add_game(context, Othello::GAME, &othello, &mut report);
        add_game(context, Checkers::GAME, &checkers, &mut report);
        report.departures = departures(context.scale);
        report.departures.push(
            "Benchmark games start with two random moves, and colors alternate. The maximum of many \
             scores is biased upward; the score against new heuristics is not."
                .to_owned(),
        );
        Ok(report.into())
    }
}

/// Adds the curves and findings of one game.
fn add_game(context: &ExperimentContext, game: Game, all: &[StrategyRuns], report: &mut Report) {
    let params = scale_params(context.scale);
    let (top, found_at) = published(&PUBLISHED, game);
    let title = game_title(game);
    let mut plot = Plot::new(format!("Score of the best, {title}"), "round", "points")
        .y_range(0.0, params.benchmark as f64);
    let mut ends = Vec::new();
    for runs in all {
        let row = format!("{title}, {}", runs.strategy);
        for round in table_rounds(params.rounds) {
            let is_published = runs.strategy == STRATEGIES[0].name
                && round == ROUNDS
                && params.benchmark == BENCHMARK;
            let mean = Mean::of(&runs.at(round, "best"));
            let error = Some(mean.half_width());
            let paper = is_published.then_some(top);
            report.add_cell(&row, round.to_string(), paper, Some(mean.value), error).decimals(0, 1);
        }
        let held_out: Vec<f64> = runs.runs.iter().filter_map(|run| run.held_out_score).collect();
        let end = Mean::of(&held_out);
        let error = Some(end.half_width());
        report.add_cell(&row, "new heuristics", None, Some(end.value), error);
        let last = Mean::of(&runs.at(params.rounds, "best"));
        report.add_cell(
            &row,
            "standard deviation of runs at the end",
            None,
            Some(last.standard_deviation()),
            None,
        );
        let points = (0..=params.rounds).map(|round| {
            let mean = Mean::of(&runs.at(round, "best"));
            Point::with_error(round as f64, mean.value, mean.half_width())
        });
        plot = plot.series(Series::line(runs.strategy, points).band());
        report.findings.push(format!(
            "{title}, {}: {:.1} of {} at the end, {:.1} against new heuristics (paper, BALD: {top:.0} from \
             round {found_at} on).",
            runs.strategy, last.value, params.benchmark, end.value
        ));
        ends.push((runs.strategy, held_out));
    }
    let caption = "Means over runs with 95% confidence intervals.";
    report.figures.push((format!("score-{}", game), Box::new(plot), caption.to_owned()));
    if let Some(((bald, bald_scores), others)) = ends.split_first() {
        for (other, scores) in others {
            let text = compare_paired(
                game,
                (bald, bald_scores),
                (other, scores),
                "score against new heuristics",
            );
            report.findings.push(text);
        }
    }
}
