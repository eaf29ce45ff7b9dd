//! Table 2: the best architecture at one ply against the test player at one to seven plies (section
//! 5.6). All networks of the last time period play, two from each run.

use super::{BEST, PERIOD, PERIODS, Runs, Size, departures, learn, size};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::{ENOUGH, Mean};
use crate::{Experiment, Report, Scale};
use outflank_arena::{ContestConfig, contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::model_file;
use outflank_models::Mlp;
use outflank_models::files::load;
use outflank_players::registry::{entry, policy_factory};
use outflank_report::text::count;
use outflank_runs::{Journal, stop_requested};

/// Percentages as printed, for each depth: won, drawn and lost with Black, then with White.
const PRINTED: [[f64; 6]; 7] = [
    [91.4, 1.6, 7.0, 80.2, 0.6, 19.2],
    [81.4, 1.2, 17.4, 80.6, 1.4, 18.0],
    [75.0, 1.0, 24.0, 74.4, 1.8, 23.8],
    [67.6, 3.6, 28.8, 59.0, 1.8, 39.2],
    [66.4, 0.4, 33.2, 73.8, 1.6, 24.6],
    [50.6, 1.4, 48.0, 60.8, 1.2, 38.0],
    [39.8, 2.2, 58.0, 50.2, 3.2, 46.6],
];

const COLUMNS: [&str; 6] =
    ["black won", "black drawn", "black lost", "white won", "white drawn", "white lost"];

/// Games of each network at each depth, half with each colour.
const GAMES: u32 = 50;

/// Networks of a run.
const NETS: usize = 2;

/// The table.
pub struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "ann/table2"
    }

    fn about(&self) -> &'static str {
        "the best network at one ply against the test player at one to seven plies"
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let size = match lab.scale {
            // What the table shows is the end of learning: fewer measurements, but all the games.
            Scale::Desk => Size { games: PERIOD * PERIODS, periods: 4, ..size(lab.scale) },
            _ => size(lab.scale),
        };
        let all = learn(lab, &[BEST], &size)?;
        let rounds = lab.scale.choose(1, GAMES / 2, GAMES / 2);
        let depths = lab.scale.choose(3, 7, 7);
        let nets = NETS * size.runs;
        let lead = format!(
            "{nets} networks {BEST} after {} games of learning, {} games of each against the \
             weighted squares at each depth with noise of deviation 1; percentages of the games with \
             each colour.",
            count(size.games),
            count(u64::from(2 * rounds))
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 4, Table 2", lead);
        for depth in 1..=depths {
            let row = if depth == 1 { "1 ply".to_owned() } else { format!("{depth} plies") };
            (lab.say)(&format!("playing against {row}"));
            let counts = meet(lab, &all, depth, rounds)?;
            for (column, name) in COLUMNS.into_iter().enumerate() {
                let share = |run: &Counts| {
                    let colour = run[column / 3];
                    100.0 * f64::from(colour[column % 3]) / f64::from(colour.iter().sum::<u32>())
                };
                let found = Mean::of(&counts.iter().map(share).collect::<Vec<_>>());
                let paper = Some(PRINTED[depth - 1][column]);
                report.cell(&row, name, paper, Some(found.value), Some(found.half_width()));
            }
            report.findings.push(verdict(&row, &counts));
        }
        report.departures = departures(&size, lab.scale);
        Ok(report)
    }
}

/// Won, drawn and lost games of a run's networks with Black and with White.
type Counts = [[u32; 3]; 2];

/// Whether the average run wins more games than it loses, by its own spread: games of one network are
/// much alike, and so are the two networks of a run.
fn verdict(row: &str, counts: &[Counts]) -> String {
    let of = |run: &Counts, kind: usize| f64::from(run[0][kind] + run[1][kind]);
    let lead = |run: &Counts| {
        let games: f64 = (0..3).map(|kind| of(run, kind)).sum();
        100.0 * (of(run, 0) - of(run, 2)) / games.max(1.0)
    };
    let mean = Mean::of(&counts.iter().map(lead).collect::<Vec<_>>());
    let errors = mean.value / mean.error.max(1e-9);
    let verdict = match errors {
        _ if mean.count < ENOUGH => "too few runs to tell",
        errors if errors > 2.0 => "it wins more than it loses",
        errors if errors < -2.0 => "it loses more than it wins",
        _ => "not told apart from even",
    };
    let sum = |kind: usize| counts.iter().map(|run| of(run, kind)).sum::<f64>();
    format!(
        "The average network against {row}: {} won, {} lost, a lead of {:+.1} ± {:.1} per cent of \
         games over {} runs: {verdict} ({errors:+.1} standard errors).",
        sum(0),
        sum(2),
        mean.value,
        mean.half_width(),
        mean.count
    )
}

/// Plays them all, run by run.
fn meet(
    lab: &Lab,
    all: &[Runs],
    depth: usize,
    rounds: u32,
) -> Result<Vec<Counts>, ExperimentError> {
    let mut entries = vec![factory::<Othello>(&format!("yoshioka@{depth}?noise=1"))?];
    for (run, folder) in all.iter().flat_map(|runs| &runs.folders).enumerate() {
        for place in 0..NETS {
            let (model, _) = load(&model_file::<Mlp>(folder, place))?;
            let name = format!("run {} net {}", run + 1, place + 1);
            entries.push(policy_factory(&name, model.policy(), 0.0));
        }
    }
    let pairs: Vec<(usize, usize)> = (1..entries.len()).map(|net| (net, 0)).collect();
    let terms = ContestConfig {
        openings: vec![Line::default()],
        rounds,
        seed: lab.seed,
        threads: lab.threads,
        remote: None,
    };
    let journal = Journal::open(&lab.keep(&format!("games-{depth}.tsv")))
        .map_err(outflank_arena::ContestError::from)?;
    let mut counts = vec![Counts::default(); (entries.len() - 1) / NETS];
    let complete = contest(&entries, &pairs, &terms, Some(journal), |games, _| {
        for game in games {
            let (net, colour) = if game.black == 0 { (game.white, 1) } else { (game.black, 0) };
            let run = &mut counts[(net - 1) / NETS];
            run[colour][2 - game.half_points_of(net) as usize] += 1;
        }
        true
    })?;
    if !complete || stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_judged_by_the_spread_of_runs() {
        // Leads of 20 of 100 games in each run, then of 60 and -20 by turns.
        let run = |won: u32, lost: u32| [[won, 0, lost], [won, 0, lost]];
        let steady =
            verdict("6 plies", &[run(30, 20), run(31, 19), run(30, 20), run(29, 21), run(30, 20)]);
        assert!(steady.contains("300 won, 200 lost, a lead of +20.0"), "{steady}");
        assert!(steady.contains("it wins more than it loses"), "{steady}");
        let swinging = [run(40, 10), run(20, 30), run(40, 10), run(20, 30), run(30, 20)];
        let said = verdict("6 plies", &swinging);
        assert!(said.contains("300 won, 200 lost") && said.contains("not told apart"), "{said}");
        assert!(verdict("1 ply", &[run(9, 1); 4]).contains("too few runs"));
    }
}
