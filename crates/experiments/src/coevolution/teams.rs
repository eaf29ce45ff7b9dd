//! Figures 5, 6 and 7: the tournament between teams (section 5.2). The best players of all runs of
//! a method at the same time of their learning are a team; every member plays every member of
//! every other team with both colours, without random moves.

use super::{Course, Runs, SECOND_HALF, departures, learn, nominal, size};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::{Track, compare};
use crate::{Experiment, Report};
use outflank_arena::{ContestConfig, contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::training::model_at;
use outflank_models::NTupleNetwork;
use outflank_models::files::load;
use outflank_players::{PlayerFactory, Greedy};
use outflank_report::{Plot, Point, Series};
use outflank_runs::stop_requested;

/// One of the figures: its teams, and the orders that the text reads off it.
pub struct Teams {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    courses: &'static [Course],
    /// Which team ends above which.
    orders: &'static [(usize, usize)],
}

const TDL: Course = Course::new("tdl", "s", "12x6");

const fn ctdl(operators: &'static str) -> Course {
    Course::new("ctdl", operators, "12x6")
}

/// Figure 5: methods that train by self-play.
pub const FIG5: Teams = Teams {
    name: "coevolution/fig5",
    about: "tournament between teams: methods that train with themselves",
    title: "Paper 1, Figure 5",
    courses: &[TDL, Course::new("ptdl", "s", "12x6"), ctdl("s"), ctdl("sx"), ctdl("sxm_t")],
    orders: &[(0, 1), (3, 2), (4, 3), (4, 2)],
};

/// Figure 6: methods that train with the population or the archive.
pub const FIG6: Teams = Teams {
    name: "coevolution/fig6",
    about: "tournament between teams: methods that train with others",
    title: "Paper 1, Figure 6",
    courses: &[
        ctdl("p"),
        ctdl("px"),
        ctdl("pxm_t"),
        ctdl("a"),
        ctdl("ax"),
        ctdl("axm_t"),
        ctdl("asxm_t"),
    ],
    orders: &[(1, 2), (4, 5), (6, 2), (6, 5), (6, 4), (1, 4)],
};

/// Figure 7: the best of both against the one that an external player judges.
pub const FIG7: Teams = Teams {
    name: "coevolution/fig7",
    about: "tournament between teams: the best methods and ETDL",
    title: "Paper 1, Figure 7",
    courses: &[ctdl("sxm_t"), ctdl("px"), ctdl("asxm_t"), Course::new("etdl", "sxm_t", "12x6")],
    orders: &[(0, 3), (1, 3), (2, 3)],
};

impl Experiment for Teams {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let all = learn(lab, self.courses)?;
        let size = size(lab.scale);
        let members = size.runs;
        let lead = format!(
            "The share of points of each team in a round robin between {} teams of {members}, one \
             member from each run, at {} times of their learning.",
            all.len(),
            size.points
        );
        let mut report = Report::new(self.name, lab.scale, self.title, lead);
        let mut results = vec![Track::default(); all.len()];
        for point in 1..=size.points {
            (lab.say)(&format!("tournament {point} of {}", size.points));
            for (team, scores) in tournament(lab, &all, point)?.into_iter().enumerate() {
                results[team].push(scores);
            }
        }
        let mut plot = Plot::new(self.title, "games", "% of points against the other teams");
        for (runs, team) in all.iter().zip(&results) {
            let name = runs.course.title();
            let mut points = Vec::new();
            for point in 1..=size.points {
                let mean = team.at(point as usize - 1);
                let (value, error) = (mean.value, mean.half_width());
                let games = nominal(lab, point);
                let column = outflank_report::text::count(games);
                report.cell(&name, column, None, Some(value), Some(error));
                points.push(Point::with_error(games as f64, value, error));
            }
            let half = team.second_half();
            report.cell(&name, SECOND_HALF, None, Some(half.value), Some(half.half_width()));
            plot = plot.series(Series::line(name, points).band());
        }
        let caption = "Means over the members of a team with their 95% intervals; 50% is the mean \
                       of all teams.";
        report.figures.push(("teams".to_owned(), Box::new(plot), caption.to_owned()));
        report.departures = departures(lab.scale);
        for &(better, worse) in self.orders {
            let (a, b) = (all[better].course.title(), all[worse].course.title());
            report.findings.push(compare(&a, &results[better], &b, &results[worse]));
        }
        Ok(report)
    }
}

/// Plays the tournament at a measurement; gives the percentage of points of every member of every
/// team.
fn tournament(lab: &Lab, all: &[Runs], point: u64) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let mut entries: Vec<PlayerFactory<Othello>> = Vec::new();
    let mut team_of = Vec::new();
    for (team, runs) in all.iter().enumerate() {
        for (run, folder) in runs.folders.iter().enumerate() {
            // A generation may span several measurements; the player before is still the best.
            let kept = (1..=point).rev().chain(point + 1..=size(lab.scale).points);
            let path =
                kept.map(|number| model_at::<NTupleNetwork>(folder, number)).find(|path| path.is_file());
            let path = path.unwrap_or_else(|| model_at::<NTupleNetwork>(folder, point));
            let policy = load(&path)?.0.policy();
            entries.push(PlayerFactory::new(format!("{} {}", runs.course.title(), run + 1), move || {
                Ok(Box::new(Greedy::new(policy.clone())))
            }));
            team_of.push(team);
        }
    }
    let pairs: Vec<(usize, usize)> = (0..entries.len())
        .flat_map(|a| (a + 1..entries.len()).map(move |b| (a, b)))
        .filter(|&(a, b)| team_of[a] != team_of[b])
        .collect();
    let seed = lab.seed.wrapping_add(point);
    let terms = ContestConfig {
        openings: vec![Line::default()],
        rounds: 1,
        seed,
        threads: lab.threads,
        remote: None,
    };
    let mut half_points = vec![(0u32, 0u32); entries.len()];
    let complete = contest(&entries, &pairs, &terms, None, |games, _| {
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
