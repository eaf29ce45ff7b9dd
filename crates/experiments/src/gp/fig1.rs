//! Figure 1: the accuracy on test pairs while a new pair is chosen each round (section 4.1).

use super::{
    Checkers, Find, GameOracle, Othello, ROUNDS, Runs, TestPairs, WAYS, ahead, contest, departures,
    deviation, learn, shown, size, tests, title,
};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::Mean;
use crate::{Experiment, Report};
use outflank_games::Game;
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_report::text::count;
use outflank_report::{Plot, Point, Series};

/// What the text says of a curve: the accuracy at the start, at the end, and from which round on.
fn printed(game: Game) -> (f64, f64, u64) {
    match game {
        Game::Othello => (45.0, 82.0, 65),
        Game::Checkers => (47.0, 84.0, 83),
    }
}

/// Figure 1.
pub struct Fig1;

impl Experiment for Fig1 {
    fn name(&self) -> &'static str {
        "gp/fig1"
    }

    fn about(&self) -> &'static str {
        "accuracy of Gaussian-process preferences by rounds, BALD beside random and uncertainty"
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let size = size(lab.scale);
        let lead = format!(
            "How often the winner of one of {} pairs of random heuristics is believed to be the \
             stronger, in %, while a new pair is compared each round; the mean of {} runs.",
            count(size.tests as u64),
            size.seeds
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 2, Figure 1", lead);
        let tests = (tests::<Othello>(lab)?, tests::<Checkers>(lab)?);
        let [othello, checkers] = learn(lab, Find::Pair, &WAYS, Some(&tests))?;
        one_game::<Othello>(lab, &othello, &tests.0, &mut report)?;
        one_game::<Checkers>(lab, &checkers, &tests.1, &mut report)?;
        report.departures = departures(lab.scale);
        Ok(report)
    }
}

fn one_game<P: RegisteredGame + NamedFeatures>(
    lab: &Lab,
    all: &[Runs],
    tests: &TestPairs,
    report: &mut Report,
) -> Result<(), ExperimentError> {
    let size = size(lab.scale);
    let (start, end, settled) = printed(P::GAME);
    let title = title(P::GAME);
    let mut plot =
        Plot::new(format!("Accuracy, {title}"), "round", "% of test pairs").y_range(40.0, 100.0);
    for runs in all {
        let row = format!("{title}, {}", runs.way);
        for round in shown(size.rounds) {
            let paper = match round {
                _ if runs.way != WAYS[0].name => None,
                0 => Some(start),
                ROUNDS => Some(end),
                _ => None,
            };
            let found = Mean::of(&runs.at(round, "accuracy"));
            let error = found.half_width();
            report
                .cell(&row, round.to_string(), paper, Some(found.value), Some(error))
                .decimals(0, 1);
        }
        let last = Mean::of(&runs.at(size.rounds, "accuracy"));
        report.cell(&row, "spread of runs at the end", None, Some(deviation(last)), None);
        let points = (0..=size.rounds).map(|round| {
            let found = Mean::of(&runs.at(round, "accuracy"));
            Point::with_error(round as f64, found.value, found.half_width())
        });
        plot = plot.series(Series::line(runs.way, points).band());
    }
    let games = GameOracle::<P>::new(contest(lab, lab.seed));
    let ceiling = tests.ceiling(&games)?;
    let (same, even) = (ceiling.same, ceiling.ties);
    let (decided, most) = (100.0 * ceiling.same_if_decided(), 100.0 * ceiling.majority);
    let row = format!("{title}, ceiling");
    report.cell(&row, "winner repeats", None, Some(100.0 * same), None);
    report.cell(&row, "winner repeats, of decided pairs", None, Some(decided), None);
    report.cell(&row, "known by seven comparisons", None, Some(most), None);
    plot = plot
        .level(decided, "the winner repeats")
        .level(most, "known by seven comparisons")
        .level(end, "the paper's end");
    let caption = "Means over runs with their 95% intervals; how often the winner of a test pair \
                   wins again from fresh openings, and how often the majority of seven fresh \
                   comparisons names it.";
    report.figures.push((format!("accuracy-{}", P::GAME), Box::new(plot), caption.to_owned()));
    findings(all, P::GAME, size.rounds, report);
    let bald = Mean::of(&all[0].at(size.rounds, "accuracy")).value;
    report.findings.push(format!(
        "{title}: BALD ends at {bald:.1}%; the paper's {end:.0}% from round {settled} on. The \
         winner of a pair wins again from fresh openings in {:.1}% of all test pairs and {:.1}% come \
         out even: {decided:.1}% of those decided. The majority of seven fresh comparisons names \
         {most:.1}% of the winners.",
        100.0 * same,
        100.0 * even
    ));
    Ok(())
}

/// Whether BALD is ahead, at the end and all the way.
fn findings(all: &[Runs], game: Game, rounds: u64, report: &mut Report) {
    let whole = |runs: &Runs| -> Vec<f64> {
        let mean = |run: &super::Run| {
            (1..=rounds).map(|round| run.at(round, "accuracy")).sum::<f64>() / rounds as f64
        };
        runs.runs.iter().map(mean).collect()
    };
    let is_bald = |runs: &&Runs| runs.way.starts_with("BALD");
    let others = || all.iter().filter(|runs| !is_bald(runs));
    let pairs =
        all.iter().filter(is_bald).flat_map(|bald| others().map(move |other| (bald, other)));
    for (bald, other) in pairs {
        let (a, b) = (bald.at(rounds, "accuracy"), other.at(rounds, "accuracy"));
        let text = ahead(game, (bald.way, &a), (other.way, &b), "accuracy at the end");
        report.findings.push(text);
        let (a, b) = (whole(bald), whole(other));
        let text = ahead(game, (bald.way, &a), (other.way, &b), "accuracy over all rounds");
        report.findings.push(text);
    }
}
