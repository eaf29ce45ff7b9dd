//! Krawiec & Szubert (2011), Figures 5, 6 and 7: tournament between teams (section 5.2).
//!
//! A team consists of the best players of all runs of a method at the same measurement. Every
//! member plays every member of every other team with both colors, without random moves.
//!
//! Departures: see `departures` in [`coevolution`](super).

use super::{MethodRuns, MethodVariant, SECOND_HALF, departures, games_at, scale_params, train};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::{RunScores, compare_ranking};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::{ContestConfig, ContestEvent, play_contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::numbered_model_file;
use outflank_models::NTupleNetwork;
use outflank_models::files::load;
use outflank_players::{Greedy, PlayerFactory};
use outflank_report::{Plot, Point, Series};
use outflank_runs::stop_requested;

/// One of Figures 5, 6 and 7: its teams, and the rankings in the text.
pub(crate) struct Teams {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    variants: &'static [MethodVariant],
    /// Pairs of teams of which the first ranks above the second.
    rankings: &'static [(usize, usize)],
}

const TDL: MethodVariant = MethodVariant::new("tdl", "s", "12x6");

const fn ctdl(operators: &'static str) -> MethodVariant {
    MethodVariant::new("ctdl", operators, "12x6")
}

/// Figure 5: methods that train by self-play.
pub(crate) const FIG5: Teams = Teams {
    name: "coevolution/fig5",
    about: "tournament between teams: methods that train by self-play",
    title: "Krawiec & Szubert (2011), Figure 5",
    variants: &[TDL, MethodVariant::new("ptdl", "s", "12x6"), ctdl("s"), ctdl("sx"), ctdl("sxm_t")],
    rankings: &[(0, 1), (3, 2), (4, 3), (4, 2)],
};

/// Figure 6: methods that train against the population or the archive.
pub(crate) const FIG6: Teams = Teams {
    name: "coevolution/fig6",
    about: "tournament between teams: methods that train against the population or the archive",
    title: "Krawiec & Szubert (2011), Figure 6",
    variants: &[
        ctdl("p"),
        ctdl("px"),
        ctdl("pxm_t"),
        ctdl("a"),
        ctdl("ax"),
        ctdl("axm_t"),
        ctdl("asxm_t"),
    ],
    rankings: &[(1, 2), (4, 5), (6, 2), (6, 5), (6, 4), (1, 4)],
};

/// Figure 7: the best methods of Figures 5 and 6, and ETDL, whose fitness uses an external player.
pub(crate) const FIG7: Teams = Teams {
    name: "coevolution/fig7",
    about: "tournament between teams: the best methods and ETDL",
    title: "Krawiec & Szubert (2011), Figure 7",
    variants: &[
        ctdl("sxm_t"),
        ctdl("px"),
        ctdl("asxm_t"),
        MethodVariant::new("etdl", "sxm_t", "12x6"),
    ],
    rankings: &[(0, 3), (1, 3), (2, 3)],
};

impl Experiment for Teams {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let Some(all) = train(context, self.variants)? else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        let params = scale_params(context.scale);
        let members = params.runs;
        let lead = format!(
            "Percentage of points of each team in a round robin of {} teams with {members} members, one \
             per run, at {} measurements during training.",
            all.len(),
            params.measurements
        );
        let mut report = Report::new(self.name, context.scale, self.title, lead);
        let mut results = vec![RunScores::default(); all.len()];
        for measurement in 1..=params.measurements {
            (context.log)(&format!("tournament {measurement} of {}", params.measurements));
            for (team, scores) in tournament(context, &all, measurement)?.into_iter().enumerate() {
                results[team].push(scores);
            }
        }
        let mut plot = Plot::new(self.title, "games", "% of points against the other teams");
        for (runs, team) in all.iter().zip(&results) {
            let name = runs.variant.title();
            let mut points = Vec::new();
            for measurement in 1..=params.measurements {
                let mean = team.at(measurement as usize - 1);
                let (value, error) = (mean.value, mean.half_width());
                let games = games_at(context, measurement);
                let column = outflank_report::text::format_count(games);
                report.add_cell(&name, column, None, Some(value), Some(error));
                points.push(Point::with_error(games as f64, value, error));
            }
            let half = team.second_half();
            report.add_cell(&name, SECOND_HALF, None, Some(half.value), Some(half.half_width()));
            plot = plot.series(Series::line(name, points).band());
        }
        let caption = "Means over the members of a team with 95% confidence intervals; the mean of all \
                       teams is 50%.";
        report.figures.push(("teams".to_owned(), Box::new(plot), caption.to_owned()));
        report.departures = departures(context.scale);
        for &(better, worse) in self.rankings {
            let (a, b) = (all[better].variant.title(), all[worse].variant.title());
            report.findings.push(compare_ranking(&a, &results[better], &b, &results[worse]));
        }
        Ok(report.into())
    }
}

/// Plays the tournament at a measurement; returns the percentage of points of every member of every
/// team.
fn tournament(
    context: &ExperimentContext,
    all: &[MethodRuns],
    measurement: u64,
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let mut players: Vec<PlayerFactory<Othello>> = Vec::new();
    let mut team_of = Vec::new();
    for (team, runs) in all.iter().enumerate() {
        for (run, folder) in runs.folders.iter().enumerate() {
            // A generation may span several measurements. Then the player of the previous one is
            // still the best.
            let last = scale_params(context.scale).measurements;
            let candidates = (1..=measurement).rev().chain(measurement + 1..=last);
            let path = candidates
                .map(|number| numbered_model_file::<NTupleNetwork>(folder, number))
                .find(|path| path.is_file());
            let path =
                path.unwrap_or_else(|| numbered_model_file::<NTupleNetwork>(folder, measurement));
            let policy = load(&path)?.0.policy();
            players.push(PlayerFactory::new(
                format!("{} {}", runs.variant.title(), run + 1),
                move || Ok(Box::new(Greedy::new(policy.clone()))),
            ));
            team_of.push(team);
        }
    }
    let pairs: Vec<(usize, usize)> = (0..players.len())
        .flat_map(|a| (a + 1..players.len()).map(move |b| (a, b)))
        .filter(|&(a, b)| team_of[a] != team_of[b])
        .collect();
    let seed = context.seed.wrapping_add(measurement);
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: 1,
        seed,
        threads: context.threads,
        remote: None,
    };
    let mut half_points = vec![(0u32, 0u32); players.len()];
    let complete = play_contest(&players, &pairs, &config, None, |event| {
        let ContestEvent::Games(games, _) = event else { return true };
        for game in games {
            for player in [game.black, game.white] {
                half_points[player].0 += game.half_points_of(player);
                half_points[player].1 += 2;
            }
        }
        true
    })?;
    if !complete || stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    let mut scores = vec![Vec::new(); all.len()];
    for (&team, &(won, played)) in team_of.iter().zip(&half_points) {
        scores[team].push(100.0 * f64::from(won) / f64::from(played.max(1)));
    }
    Ok(scores)
}
