//! Table 2: the best architecture at one ply against the test player at one to seven plies (section
//! 5.6). All networks of the last time period play, two from each run.

use super::{BEST, PERIOD, PERIODS, Runs, Size, departures, learn, size};
use crate::lab::{ExperimentError, Lab};
use crate::{Experiment, Report, Scale};
use outflank_arena::{Terms, contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::model_file;
use outflank_models::Net;
use outflank_models::files::load;
use outflank_players::roster::{entry, policy_entry};
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
        let nets = 2 * size.runs;
        let lead = format!(
            "{nets} networks {BEST} after {} games of learning, {} games of each against the \
             weighted squares at each depth with noise of deviation 1; percentages of the games with \
             each colour.",
            size.games,
            2 * rounds
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 4, Table 2", lead);
        for depth in 1..=depths {
            let row = if depth == 1 { "1 ply".to_owned() } else { format!("{depth} plies") };
            (lab.say)(&format!("playing against {row}"));
            let counts = meet(lab, &all, depth, rounds)?;
            for (colour, counts) in counts.iter().enumerate() {
                let games = counts.iter().sum::<u32>().max(1);
                for (kind, &count) in counts.iter().enumerate() {
                    let column = 3 * colour + kind;
                    let share = f64::from(count) / f64::from(games);
                    let error = 196.0 * (share * (1.0 - share) / f64::from(games)).sqrt();
                    let paper = Some(PRINTED[depth - 1][column]);
                    report.cell(&row, COLUMNS[column], paper, Some(100.0 * share), Some(error));
                }
            }
            let of = |kind: usize| counts.iter().map(|counts| counts[kind]).sum::<u32>();
            let (won, lost) = (of(0), of(2));
            let errors = (f64::from(won) - f64::from(lost)) / f64::from((won + lost).max(1)).sqrt();
            let verdict = if won > lost { "wins more than it loses" } else { "does not win more" };
            report.findings.push(format!(
                "Against {row} the average network {verdict}: {won} to {lost} ({errors:+.1} \
                 standard errors of even play)."
            ));
        }
        report.departures = departures(&size, lab.scale);
        Ok(report)
    }
}

/// Won, drawn and lost games of all networks with Black and with White.
fn meet(
    lab: &Lab,
    all: &[Runs],
    depth: usize,
    rounds: u32,
) -> Result<[[u32; 3]; 2], ExperimentError> {
    let mut entries = vec![entry::<Othello>(&format!("yoshioka@{depth}?noise=1"))?];
    for (run, folder) in all.iter().flat_map(|runs| &runs.folders).enumerate() {
        for place in 0..2 {
            let (model, _) = load(&model_file::<Net>(folder, place))?;
            let name = format!("run {} net {}", run + 1, place + 1);
            entries.push(policy_entry(&name, model.policy(), 0.0));
        }
    }
    let pairs: Vec<(usize, usize)> = (1..entries.len()).map(|net| (net, 0)).collect();
    let terms = Terms {
        openings: vec![Line::default()],
        rounds,
        seed: lab.seed,
        threads: lab.threads,
        elsewhere: None,
    };
    let journal = Journal::open(&lab.keep(&format!("games-{depth}.tsv")))
        .map_err(outflank_arena::ContestError::from)?;
    let mut counts = [[0; 3]; 2];
    let complete = contest(&entries, &pairs, &terms, Some(journal), |games, _| {
        for game in games {
            let (net, colour) = if game.black == 0 { (game.white, 1) } else { (game.black, 0) };
            counts[colour][2 - game.half_points_of(net) as usize] += 1;
        }
        true
    })?;
    if !complete || stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    Ok(counts)
}
