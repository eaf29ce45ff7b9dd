//! Binkley, Seehart & Hagiwara (2007), Table 2: the best architecture at one ply against the test
//! player at one to seven plies (section 5.6). All networks of the last time period play, two per
//! run.
//!
//! Departures: see `departures` in [`ann`](super).

use super::{
    ArchitectureRuns, BEST_NET, GAMES_PER_PERIOD, PERIODS, ScaleParams, departures, scale_params,
    train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::{MIN_RUNS, Mean, SIGNIFICANT_Z};
use crate::{Experiment, ExperimentOutcome, Report, Scale};
use outflank_arena::{ContestConfig, ContestEvent, play_contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::model_file;
use outflank_models::Mlp;
use outflank_models::files::load;
use outflank_players::registry::{factory, policy_factory};
use outflank_report::text::format_count;
use outflank_runs::{Journal, stop_requested};

/// Published percentages for each depth: won, drawn and lost with Black, then with White.
const PUBLISHED: [[f64; 6]; 7] = [
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

/// Games of each network at each depth, half with each color.
const GAMES: u32 = 50;

/// Networks per run.
const NETS_PER_RUN: usize = 2;

/// The experiment `ann/table2`.
pub(crate) struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "ann/table2"
    }

    fn about(&self) -> &'static str {
        "the best network at one ply against the test player at one to seven plies"
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let params = scale_params(context.scale);
        let params = match context.scale {
            // The table is about fully trained networks: all games, but fewer measurements.
            Scale::Desk => ScaleParams { games: GAMES_PER_PERIOD * PERIODS, periods: 4, ..params },
            _ => params,
        };
        let Some(all) = train(context, &[BEST_NET], &params)? else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        let rounds = context.scale.choose(1, GAMES / 2, GAMES / 2);
        let depths = context.scale.choose(3, 7, 7);
        let nets = NETS_PER_RUN * params.runs;
        let lead = format!(
            "{nets} networks {BEST_NET} after {} training games, {} games of each network against the \
             weighted piece counter at each depth with noise of standard deviation 1; percentages of \
             the games with each color.",
            format_count(params.games),
            format_count(u64::from(2 * rounds))
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Binkley, Seehart & Hagiwara (2007), Table 2",
            lead,
        );
        for depth in 1..=depths {
            let row = if depth == 1 { "1 ply".to_owned() } else { format!("{depth} plies") };
            (context.log)(&format!("playing against {row}"));
            let counts = play(context, &all, depth, rounds)?;
            for (column, name) in COLUMNS.into_iter().enumerate() {
                let share = |run: &GameCounts| {
                    let color = run[column / 3];
                    100.0 * f64::from(color[column % 3]) / f64::from(color.iter().sum::<u32>())
                };
                let mean = Mean::of(&counts.iter().map(share).collect::<Vec<_>>());
                let paper = Some(PUBLISHED[depth - 1][column]);
                report.add_cell(&row, name, paper, Some(mean.value), Some(mean.half_width()));
            }
            report.findings.push(verdict(&row, &counts));
        }
        report.departures = departures(&params, context.scale);
        Ok(report.into())
    }
}

/// Won, drawn and lost games of a run's networks, with Black and with White.
type GameCounts = [[u32; 3]; 2];

/// States whether runs win significantly more games than they lose. The sample is the runs, because
/// the games of one network are correlated, as are the two networks of a run.
fn verdict(row: &str, counts: &[GameCounts]) -> String {
    let games_with = |run: &GameCounts, result: usize| f64::from(run[0][result] + run[1][result]);
    let difference = |run: &GameCounts| {
        let games: f64 = (0..3).map(|result| games_with(run, result)).sum();
        100.0 * (games_with(run, 0) - games_with(run, 2)) / games.max(1.0)
    };
    let mean = Mean::of(&counts.iter().map(difference).collect::<Vec<_>>());
    let z = mean.value / mean.error.max(1e-9);
    let verdict = match z {
        _ if mean.count < MIN_RUNS => "too few runs to compare",
        z if z > SIGNIFICANT_Z => "wins more than it loses",
        z if z < -SIGNIFICANT_Z => "loses more than it wins",
        _ => "no significant difference",
    };
    let sum = |result: usize| counts.iter().map(|run| games_with(run, result)).sum::<f64>();
    format!(
        "Against {row}: {} won, {} lost, a difference of {:+.1} ± {:.1}% of the games over {} runs: \
         {verdict} (z = {z:+.1}).",
        sum(0),
        sum(2),
        mean.value,
        mean.half_width(),
        mean.count
    )
}

/// Plays all games at a depth; returns the counts of each run.
fn play(
    context: &ExperimentContext,
    all: &[ArchitectureRuns],
    depth: usize,
    rounds: u32,
) -> Result<Vec<GameCounts>, ExperimentError> {
    let mut players = vec![factory::<Othello>(&format!("yoshioka@{depth}?noise=1"))?];
    for (run, folder) in all.iter().flat_map(|runs| &runs.folders).enumerate() {
        for number in 0..NETS_PER_RUN {
            let (model, _) = load(&model_file::<Mlp>(folder, number))?;
            let name = format!("run {} net {}", run + 1, number + 1);
            players.push(policy_factory(&name, model.policy(), 0.0));
        }
    }
    let pairs: Vec<(usize, usize)> = (1..players.len()).map(|net| (net, 0)).collect();
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds,
        seed: context.seed,
        threads: context.threads,
        remote: None,
    };
    let journal = Journal::open(&context.file(&format!("games-{depth}.tsv")))
        .map_err(outflank_arena::ContestError::from)?;
    let mut counts = vec![GameCounts::default(); (players.len() - 1) / NETS_PER_RUN];
    let complete = play_contest(&players, &pairs, &config, Some(journal), |event| {
        let ContestEvent::Games(games, _) = event else { return true };
        for game in games {
            let (net, color) = if game.black == 0 { (game.white, 1) } else { (game.black, 0) };
            let run = &mut counts[(net - 1) / NETS_PER_RUN];
            run[color][2 - game.half_points_of(net) as usize] += 1;
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
    fn significance_is_tested_over_runs() {
        // Differences of 20 of 100 games in each run, then of 60 and -20 in turn.
        let run = |won: u32, lost: u32| [[won, 0, lost], [won, 0, lost]];
        let steady =
            verdict("6 plies", &[run(30, 20), run(31, 19), run(30, 20), run(29, 21), run(30, 20)]);
        assert!(steady.contains("300 won, 200 lost, a difference of +20.0"), "{steady}");
        assert!(steady.contains("wins more than it loses"), "{steady}");
        let varying = [run(40, 10), run(20, 30), run(40, 10), run(20, 30), run(30, 20)];
        let text = verdict("6 plies", &varying);
        assert!(text.contains("300 won, 200 lost"), "{text}");
        assert!(text.contains("no significant difference"), "{text}");
        assert!(verdict("1 ply", &[run(9, 1); 4]).contains("too few runs"));
    }
}
