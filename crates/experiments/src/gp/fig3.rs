//! Figure 3: what is expected of the pair that BALD chooses, and how uncertain that is, while each
//! round looks for an opponent for the best (section 4.3). The paper has Othello only.

use super::{Find, Runs, WAYS, departures, learn, shown, size, title};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::Mean;
use crate::{Experiment, Report};
use outflank_games::Game;
use outflank_report::{Plot, Point, Series};

/// Figure 3.
pub struct Fig3;

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "gp/fig3"
    }

    fn about(&self) -> &'static str {
        "mean and variance of the pair that BALD chooses, by rounds"
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let size = size(lab.scale);
        let lead = format!(
            "The mean and the variance of the worth of the pair that BALD chooses, when it is \
             chosen; the mean of {} runs.",
            size.seeds
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 2, Figure 3", lead);
        let [othello, checkers] = learn(lab, Find::Opponent, &WAYS[..1], None)?;
        for (game, all) in [(Game::Othello, othello), (Game::Checkers, checkers)] {
            all.iter().for_each(|runs| one_game(lab, game, runs, &mut report));
        }
        report.departures = departures(lab.scale);
        report.departures.push(
            "The paper's figure is a drawing without printed numbers, of Othello alone; its text \
             says that the variance falls and that the mean's size grows."
                .to_owned(),
        );
        Ok(report)
    }
}

fn one_game(lab: &Lab, game: Game, runs: &Runs, report: &mut Report) {
    let size = size(lab.scale);
    let title = title(game);
    // What was expected of the beginning's pairs is nothing, so curves begin with the first round.
    let at = |round: u64, name: &str, size_only: bool| -> Vec<f64> {
        let values = runs.at(round, name).into_iter();
        values.map(|value| if size_only { value.abs() } else { value }).collect()
    };
    for (name, of, size_only) in
        [("mean", "mean", false), ("mean's size", "mean", true), ("variance", "variance", false)]
    {
        let row = format!("{title}, {name}");
        for round in shown(size.rounds).into_iter().filter(|&round| round > 0) {
            let found = Mean::of(&at(round, of, size_only));
            let error = Some(found.half_width());
            report.cell(&row, round.to_string(), None, Some(found.value), error);
        }
        let points = (1..=size.rounds).map(|round| {
            let found = Mean::of(&at(round, of, size_only));
            Point::with_error(round as f64, found.value, found.half_width())
        });
        let plot = Plot::new(format!("The chosen pair's {name}, {title}"), "round", name)
            .series(Series::line(name, points).band());
        let stem = format!("{}-{}", name.replace([' ', '\''], "-"), game);
        report.figures.push((stem, Box::new(plot), "Means over runs.".to_owned()));
    }
    let tenth = (size.rounds / 10).max(1);
    let over = |from: u64, name: &str, size_only: bool| {
        let values = (from..from + tenth).flat_map(|round| at(round, name, size_only));
        Mean::of(&values.collect::<Vec<f64>>()).value
    };
    let last = size.rounds - tenth + 1;
    report.findings.push(format!(
        "{title}: from the first tenth of the rounds to the last the variance goes from {:.2} to \
         {:.2} and the mean's size from {:.2} to {:.2}.",
        over(1, "variance", false),
        over(last, "variance", false),
        over(1, "mean", true),
        over(last, "mean", true),
    ));
}
