//! Yelluri (2015), Figure 1: accuracy on test pairs while each round compares a new pair (section
//! 4.1).
//!
//! Departures: see `departures` in [`gp`](super).

use super::{
    Checkers, GameOracle, Othello, ROUNDS, STRATEGIES, SearchTarget, StrategyRuns, TestPairs,
    compare_paired, departures, game_title, oracle_config, published, scale_params, table_rounds,
    test_pairs, train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::Mean;
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_games::{Game, Position};
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_report::text::format_count;
use outflank_report::{Plot, Point, Series};

/// Published accuracy at the start and at the end, and the round in which the end is reached, of
/// Othello and checkers.
const PUBLISHED: [(Game, (f64, f64, u64)); 2] =
    [(Othello::GAME, (45.0, 82.0, 65)), (Checkers::GAME, (47.0, 84.0, 83))];

/// The experiment `gp/fig1`.
pub(crate) struct Fig1;

impl Experiment for Fig1 {
    fn name(&self) -> &'static str {
        "gp/fig1"
    }

    fn about(&self) -> &'static str {
        "accuracy of Gaussian-process preferences by round: BALD, random and uncertainty sampling"
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let params = scale_params(context.scale);
        let lead = format!(
            "Percentage of {} test pairs of random heuristics whose winner is predicted, while each \
             round compares a new pair; mean of {} runs.",
            format_count(params.test_pairs as u64),
            params.runs
        );
        let mut report = Report::new(self.name(), context.scale, "Yelluri (2015), Figure 1", lead);
        let tests = (test_pairs::<Othello>(context)?, test_pairs::<Checkers>(context)?);
        let runs = train(context, SearchTarget::Pair, &STRATEGIES, Some(&tests))?;
        let Some([othello, checkers]) = runs else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        add_game::<Othello>(context, &othello, &tests.0, &mut report)?;
        add_game::<Checkers>(context, &checkers, &tests.1, &mut report)?;
        report.departures = departures(context.scale);
        Ok(report.into())
    }
}

/// Adds the curves and findings of one game.
fn add_game<P: RegisteredGame + NamedFeatures>(
    context: &ExperimentContext,
    all: &[StrategyRuns],
    tests: &TestPairs,
    report: &mut Report,
) -> Result<(), ExperimentError> {
    let params = scale_params(context.scale);
    let (start, end, converged) = published(&PUBLISHED, P::GAME);
    let title = game_title(P::GAME);
    let mut plot =
        Plot::new(format!("Accuracy, {title}"), "round", "% of test pairs").y_range(40.0, 100.0);
    for runs in all {
        let row = format!("{title}, {}", runs.strategy);
        for round in table_rounds(params.rounds) {
            let paper = match round {
                _ if runs.strategy != STRATEGIES[0].name => None,
                0 => Some(start),
                ROUNDS => Some(end),
                _ => None,
            };
            let mean = Mean::of(&runs.at(round, "accuracy"));
            let error = mean.half_width();
            report
                .add_cell(&row, round.to_string(), paper, Some(mean.value), Some(error))
                .decimals(0, 1);
        }
        let last = Mean::of(&runs.at(params.rounds, "accuracy"));
        report.add_cell(
            &row,
            "standard deviation of runs at the end",
            None,
            Some(last.standard_deviation()),
            None,
        );
        let points = (0..=params.rounds).map(|round| {
            let mean = Mean::of(&runs.at(round, "accuracy"));
            Point::with_error(round as f64, mean.value, mean.half_width())
        });
        plot = plot.series(Series::line(runs.strategy, points).band());
    }
    let games = GameOracle::<P>::new(oracle_config(context, context.seed));
    let limit = tests.accuracy_limit(&games)?;
    let (same, ties) = (limit.same, limit.ties);
    let (decided, predictable) = (100.0 * limit.same_if_decided(), 100.0 * limit.majority);
    let row = format!("{title}, ceiling");
    report.add_cell(&row, "winner repeats", None, Some(100.0 * same), None);
    report.add_cell(&row, "winner repeats, decided pairs", None, Some(decided), None);
    report.add_cell(&row, "majority of seven comparisons", None, Some(predictable), None);
    plot = plot
        .reference_line(decided, "the winner repeats")
        .reference_line(predictable, "majority of seven comparisons")
        .reference_line(end, "paper, end");
    let caption = "Means over runs with 95% confidence intervals. Reference lines: how often the winner \
                   of a test pair wins again from new openings, and how often it wins the majority \
                   of seven new comparisons.";
    report.figures.push((format!("accuracy-{}", P::GAME), Box::new(plot), caption.to_owned()));
    add_findings(all, P::GAME, params.rounds, report);
    let bald = Mean::of(&all[0].at(params.rounds, "accuracy")).value;
    report.findings.push(format!(
        "{title}: BALD ends at {bald:.1}% (paper: {end:.0}%, from round {converged} on). When \
         the test pairs play again from new openings, the same player wins in {:.1}% and {:.1}% are drawn: \
         the winner repeats in {decided:.1}% of the decided pairs. The majority of seven new comparisons \
         predicts {predictable:.1}% of the winners.",
        100.0 * same,
        100.0 * ties
    ));
    Ok(())
}

/// Compares BALD with the other strategies, at the end and over all rounds.
fn add_findings(all: &[StrategyRuns], game: Game, rounds: u64, report: &mut Report) {
    let mean_over_rounds = |runs: &StrategyRuns| -> Vec<f64> {
        let mean = |run: &super::Run| {
            (1..=rounds).map(|round| run.at(round, "accuracy")).sum::<f64>() / rounds as f64
        };
        runs.runs.iter().map(mean).collect()
    };
    let is_bald = |runs: &&StrategyRuns| runs.strategy.starts_with("BALD");
    let baselines = || all.iter().filter(|runs| !is_bald(runs));
    let pairs =
        all.iter().filter(is_bald).flat_map(|bald| baselines().map(move |other| (bald, other)));
    for (bald, other) in pairs {
        let (a, b) = (bald.at(rounds, "accuracy"), other.at(rounds, "accuracy"));
        let text =
            compare_paired(game, (bald.strategy, &a), (other.strategy, &b), "accuracy at the end");
        report.findings.push(text);
        let (a, b) = (mean_over_rounds(bald), mean_over_rounds(other));
        let text = compare_paired(
            game,
            (bald.strategy, &a),
            (other.strategy, &b),
            "accuracy over all rounds",
        );
        report.findings.push(text);
    }
}
