//! Krawiec and Szubert, "Learning n-tuple networks for Othello by coevolutionary gradient search"
//! (2011): paper 1.

pub mod curves;
pub mod presets;
pub mod teams;

use crate::Scale;
use crate::lab::{ExperimentError, Lab};
use crate::many::{learn_all, learn_one, seed_of};
use outflank_games::othello::Othello;
use outflank_learners::coevolution::{Coevolution, Fitness, CoevolutionConfig};
use outflank_learners::training::{OpponentEvaluator, TrainingPlan, Measurement};
use outflank_models::files::Origin;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_players::PlayerFactory;
use outflank_players::registry::factories;
use outflank_report::text::count;
use std::path::PathBuf;

/// Games of a run (section 4), runs of a method, and measurements of a run (section 4.4).
const GAMES: u64 = 2_000_000;
const RUNS: usize = 24;
const POINTS: u64 = 50;

/// Games of a measurement and the probability of a random move in them (sections 4.4 and 5.1).
const MEASURED_GAMES: u32 = 1000;
const RANDOM: f64 = 0.1;

/// The column of means over the second half of the measurements.
const SECOND_HALF: &str = "second half";

/// A method on networks of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The method, such as `ctdl`.
    pub method: &'static str,
    /// Its operators, such as `sxm_t`.
    pub operators: &'static str,
    /// The shape, such as `12x6`.
    pub shape: &'static str,
}

impl Course {
    /// A method on networks of a shape.
    #[must_use]
    pub const fn new(method: &'static str, operators: &'static str, shape: &'static str) -> Course {
        Course { method, operators, shape }
    }

    /// As the paper writes the method.
    #[must_use]
    pub fn title(&self) -> String {
        presets::title(self.method, self.operators)
    }
}

/// All runs of one method.
pub struct Runs {
    /// Which.
    pub course: Course,
    /// The measurements of each run.
    pub curves: Vec<Vec<Measurement>>,
    /// Where each run keeps its models.
    pub folders: Vec<PathBuf>,
}

/// How much of everything a scale has.
struct Size {
    games: u64,
    runs: usize,
    points: u64,
    measured_games: u32,
}

fn size(scale: Scale) -> Size {
    Size {
        games: scale.choose(240, GAMES / 2, GAMES),
        runs: scale.choose(2, 5, RUNS),
        points: scale.choose(2, 10, POINTS),
        measured_games: scale.choose(10, MEASURED_GAMES, MEASURED_GAMES),
    }
}

/// What the budget of games is at each measurement, in words for tables.
fn nominal(lab: &Lab, point: u64) -> u64 {
    let size = size(lab.scale);
    size.games * point / size.points
}

/// The settings of a method; at smoke scale a generation is made small enough for a budget of
/// seconds, with all of its pieces in place.
fn settings(course: &Course, scale: Scale) -> Result<CoevolutionConfig, ExperimentError> {
    let settings = presets::settings(course.method, Some(course.operators), course.shape)
        .map_err(|error| ExperimentError::Learn(error.to_string()))?;
    // As the authors' program reads its paper; see the departures.
    let settings = CoevolutionConfig { snake: Snake::Wrapping, topology: NeighborChoice::Crowded, ..settings };
    if scale != Scale::Smoke {
        return Ok(settings);
    }
    Ok(CoevolutionConfig {
        population: settings.population.min(4),
        self_games: settings.self_games.min(4),
        population_opponents: settings.population_opponents.min(2),
        population_games: settings.population_games.min(2),
        archive_opponents: settings.archive_opponents.min(2),
        archive_games: settings.archive_games.min(2),
        hall_of_fame: settings.hall_of_fame.min(3),
        heuristic_games: match settings.fitness {
            Fitness::Heuristic => 2,
            _ => 0,
        },
        tournament: settings.tournament.min(2),
        ..settings
    })
}

/// Learns every run of every method, as many at a time as there are threads. What was learned
/// before, in whole or in part, is taken up again.
fn learn(lab: &Lab, courses: &[Course]) -> Result<Vec<Runs>, ExperimentError> {
    let size = size(lab.scale);
    let against = factories::<Othello>(&["heuristic".to_owned()], RANDOM)?;
    let all = learn_all(lab, courses.len(), size.runs, &[], |course, run| {
        one_run(lab, courses[course], run, &against)
    })?;
    let runs = courses.iter().zip(all).map(|(&course, runs)| {
        let (curves, folders) = runs.into_iter().unzip();
        Runs { course, curves, folders }
    });
    Ok(runs.collect())
}

fn one_run(
    lab: &Lab,
    course: Course,
    run: usize,
    against: &[PlayerFactory<Othello>],
) -> Result<(Vec<Measurement>, PathBuf), ExperimentError> {
    let failed = |text: String| ExperimentError::Learn(format!("{}: {text}", course.title()));
    let Course { method, operators, shape } = course;
    let size = size(lab.scale);
    let seed = seed_of(lab, run);
    let extent = format!("{}x{}", size.games, size.points);
    let folder = lab.learned(&format!("{method}-{operators}-{shape}-{extent}-seed-{seed}"));
    let mut learner = Coevolution::new(settings(&course, lab.scale)?, seed, 1)
        .map_err(|error| failed(error.to_string()))?;
    let plan = TrainingPlan {
        games: size.games,
        measurements: size.points,
        unit: "games",
        measure_start: false,
        origin: Origin {
            method: format!("{method}-{operators}"),
            seed: Some(seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: format!("shape {shape}, {} games", size.games),
        },
        keep_models: true,
    };
    let gauge = OpponentEvaluator {
        opponents: against.to_vec(),
        games: size.measured_games,
        random: RANDOM,
        seed,
        threads: 1,
    };
    let trained = learn_one(&mut learner, &gauge, &plan, &folder, &course.title())?;
    Ok((trained.curve, folder))
}

/// Where every exhibit of this paper departs from it.
fn departures(scale: Scale) -> Vec<String> {
    let size = size(scale);
    let mut all = vec![
        "The paper's figures are drawings without printed numbers: only what its text says can be \
         compared. Which curves they show is taken from the text."
            .to_owned(),
        "Snakes and topology mutation are those of the authors' program, not of their text: walks \
         leap over the edge of the board and a square visited again does not count, so that tuples \
         may be shorter; a square that mutates moves to the free neighbour with most others of the \
         tuple beside it. Snakes of distinct squares that keep to the board (snake = \"clean\") are \
         not told apart from them under TDL: 62.2 ± 3.4 and 60.9 ± 11.7% over the second half of \
         eight runs of 300,000 games each."
            .to_owned(),
        "In a training game with another network the learner learns from all chosen moves of the \
         game, with its own evaluation; opponents are as they were when the generation began. \
         While there is no champion yet, games with the archive are played with itself."
            .to_owned(),
        "A hall of fame judges by one game with each of the 49 peers and 50 with champions drawn \
         with replacement: 99 games, where the text says 100."
            .to_owned(),
        "PTDL has no fitness; its best individual is appointed by a round robin that costs the \
         budget nothing."
            .to_owned(),
    ];
    if scale != Scale::Paper {
        all.push(format!(
            "{} runs of {} games for each method, measured {} times; the paper has {RUNS} of \
             {}, measured {POINTS} times.",
            size.runs,
            count(size.games),
            size.points,
            count(GAMES)
        ));
    }
    if scale == Scale::Smoke {
        all.push("Generations are tiny: this scale shows only that everything runs.".to_owned());
    }
    all
}
