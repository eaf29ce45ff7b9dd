//! Figure 2: the benchmark score of the best heuristic so far, while each round looks for an
//! opponent for it (section 4.2).

use super::{
    BENCHMARK, Find, PLAIN, ROUNDS, Runs, WAYS, ahead, departures, deviation, learn, shown, size,
    title,
};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::Mean;
use crate::{Experiment, Report};
use outflank_games::Game;
use outflank_report::{Plot, Point, Series};

/// The best score and the round in which it was found.
fn printed(game: Game) -> (f64, u64) {
    match game {
        Game::Othello => (47.0, 57),
        Game::Checkers => (48.0, 82),
    }
}

/// Figure 2.
pub struct Fig2;

impl Experiment for Fig2 {
    fn name(&self) -> &'static str {
        "gp/fig2"
    }

    fn about(&self) -> &'static str {
        "benchmark score of the best heuristic by rounds, and against fresh heuristics at the end"
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let size = size(lab.scale);
        let lead = format!(
            "Points of the best heuristic so far in a game against each of {} random heuristics, \
             while each round looks for an opponent for it; the mean of {} runs. At the end it \
             plays as many fresh ones, which it was not chosen by.",
            size.benchmark, size.seeds
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 2, Figure 2", lead);
        let [othello, checkers] = learn(lab, Find::Opponent, &PLAIN, None)?;
        one_game(lab, Game::Othello, &othello, &mut report);
        one_game(lab, Game::Checkers, &checkers, &mut report);
        report.departures = departures(lab.scale);
        report.departures.push(
            "The opponents of the benchmark play from openings of two random moves, every other \
             one with Black; the best of many scores is partly luck, which the fresh heuristics \
             show."
                .to_owned(),
        );
        Ok(report)
    }
}

fn one_game(lab: &Lab, game: Game, all: &[Runs], report: &mut Report) {
    let size = size(lab.scale);
    let (top, found_at) = printed(game);
    let title = title(game);
    let mut plot = Plot::new(format!("Score of the best, {title}"), "round", "points")
        .y_range(0.0, size.benchmark as f64);
    let mut ends = Vec::new();
    for runs in all {
        let row = format!("{title}, {}", runs.way);
        for round in shown(size.rounds) {
            let is_theirs =
                runs.way == WAYS[0].name && round == ROUNDS && size.benchmark == BENCHMARK;
            let found = Mean::of(&runs.at(round, "best"));
            let error = Some(found.half_width());
            let paper = is_theirs.then_some(top);
            report.cell(&row, round.to_string(), paper, Some(found.value), error).decimals(0, 1);
        }
        let fresh: Vec<f64> = runs.runs.iter().filter_map(|run| run.fresh).collect();
        let end = Mean::of(&fresh);
        let error = Some(end.half_width());
        report.cell(&row, "fresh heuristics", None, Some(end.value), error);
        let last = Mean::of(&runs.at(size.rounds, "best"));
        report.cell(&row, "spread of runs at the end", None, Some(deviation(last)), None);
        let points = (0..=size.rounds).map(|round| {
            let found = Mean::of(&runs.at(round, "best"));
            Point::with_error(round as f64, found.value, found.half_width())
        });
        plot = plot.series(Series::line(runs.way, points).band());
        report.findings.push(format!(
            "{title}, {}: {:.1} of {} at the end, {:.1} against fresh heuristics; the paper's BALD \
             {top:.0} from round {found_at} on.",
            runs.way, last.value, size.benchmark, end.value
        ));
        ends.push((runs.way, fresh));
    }
    let caption = "Means over runs with their 95% intervals.";
    report.figures.push((format!("score-{}", game), Box::new(plot), caption.to_owned()));
    if let Some(((bald, theirs), others)) = ends.split_first() {
        for (other, scores) in others {
            let text = ahead(game, (bald, theirs), (other, scores), "score against fresh ones");
            report.findings.push(text);
        }
    }
}
