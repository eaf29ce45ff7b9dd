//! Figure 3: how often the expert's move is the first or among the first three choices of Conv8+BN, by
//! the number of the move and the number of legal moves.

use super::school::School;
use super::table5::BEST;
use super::{Task, split_name};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_arena::accuracy::Hits;
use outflank_learners::cnn::{for_each_prediction, rank, spread};
use outflank_models::nets::Input;
use outflank_records::ExampleSetKind;
use outflank_report::text::count;
use outflank_report::{HeatMap, Plot, Point, Series};
use outflank_runs::stop_requested;

/// Moves have numbers 5 to 64 in the figure, as discs have; the fifth is always the same.
const FIRST: usize = 6;
const LAST: usize = 64;

/// Positions with more legal moves are too few to say anything.
const MOST_MOVES: usize = 24;

/// A cell of the figure is coloured when so many positions are in it.
const ENOUGH: u32 = 20;

/// What the network is asked about by example and by game.
const TESTS: [&str; 2] =
    ["positions of the test part of Unique-S", "of games that it did not learn from"];

/// The figure.
pub struct Fig3;

/// Positions and those with the move on top and among the first three.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: u32,
    first: u32,
    three: u32,
}

impl Counts {
    fn add(&mut self, rank: usize) {
        self.all += 1;
        self.first += u32::from(rank == 0);
        self.three += u32::from(rank < 3);
    }

    fn hits(self, three: bool) -> Hits {
        let hits = if three { self.three } else { self.first };
        Hits { hits: f64::from(hits), count: u64::from(self.all) }
    }
}

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "cnn/fig3"
    }

    fn about(&self) -> &'static str {
        "accuracy of Conv8+BN by the number of the move and of legal moves"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        // The one in full learned from the later games too; that of Table V did not.
        let tasks = [BEST, Task::new(BEST.net).by_game()];
        let mut counted = Vec::new();
        let mut tests = Vec::new();
        for (task, what) in tasks.into_iter().zip(TESTS) {
            let Some((grid, positions)) = count_ranks(&school, task)? else { continue };
            let split = split_name(task.by_game);
            tests.push(format!(" {split}, on {} {what}", count(positions)));
            counted.push((split, grid));
        }
        let lead = format!(
            "Conv8+BN{}; in the figure's way of counting the first move of a game has number 5.",
            tests.join(", and")
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Figure 3", lead);
        for (split, grid) in &counted {
            for (three, title) in [(false, "first choice"), (true, "first three choices")] {
                draw(&mut report, grid, three, &format!("{title}, {split}"), split);
            }
        }
        school.close(&mut report);
        report.departures.push(
            "The best legal moves are counted, in both splits; twins of a move do not share a hit here."
                .to_owned(),
        );
        let ways = [school.way(tasks[0])?, school.way(tasks[1])?];
        if counted.len() == ways.len() && ways[0] != ways[1] {
            report.departures.push(format!(
                "The figure by game is of another network, since the one by example learned from the later \
                 games too: it learned by {}; that by example by {}.",
                ways[1], ways[0]
            ));
        }
        Ok(report)
    }
}

/// Ranks by the number of the move and of legal moves.
type Grid = Vec<[Counts; MOST_MOVES + 1]>;

/// Asks a task's network about its test, if it can be asked; and how many positions there were.
fn count_ranks(school: &School<'_>, task: Task) -> Result<Option<(Grid, u64)>, ExperimentError> {
    let Some(predictor) = school.predictor(&[task])? else { return Ok(None) };
    let lessons = school.lessons(task, Input::PIECES)?;
    let name = task.test(ExampleSetKind::UniqueS);
    let test = lessons.tests.iter().find(|test| test.name.starts_with(&name));
    let examples =
        test.map_or_else(Vec::new, |test| spread(&test.examples, school.size().tested.max(400)));
    let mut grid = vec![[Counts::default(); MOST_MOVES + 1]; LAST + 1];
    let answer = &mut |words: &[u64]| predictor.logits(words);
    let go_on = |_| !stop_requested();
    let all = for_each_prediction(answer, Input::PIECES, &examples, false, go_on, rank, |item, rank| {
        let board = item.example.board();
        let number = (board.own | board.other).count_ones() as usize + 1;
        let moves = board.moves().count_ones() as usize;
        grid[number.min(LAST)][moves.min(MOST_MOVES)].add(rank);
    })
    .map_err(|error| ExperimentError::Learn(error.to_string()))?;
    if all { Ok(Some((grid, examples.len() as u64))) } else { Err(ExperimentError::Stopped) }
}

fn draw(report: &mut Report, grid: &Grid, three: bool, title: &str, split: &str) {
    let cell = |counts: &Counts| (counts.all >= ENOUGH).then(|| counts.hits(three).percent());
    let rows: Vec<Vec<Option<f64>>> = (1..=MOST_MOVES)
        .map(|moves| (FIRST..=LAST).map(|number| cell(&grid[number][moves])).collect())
        .collect();
    let heat = HeatMap::new(title, "number of the move", "legal moves", rows)
        .starting_at(FIRST as f64, 1.0)
        .range(0.0, 100.0);
    let stem = format!("{}-{}", if three { "top3" } else { "top1" }, split.replace(' ', "-"));
    let caption = format!("Per cent of positions; cells of fewer than {ENOUGH} are left empty.");
    report.figures.push((stem.clone(), Box::new(heat), caption));
    let mut points = Vec::new();
    for (number, row) in grid.iter().enumerate().take(LAST + 1).skip(FIRST) {
        let mut sum = Counts::default();
        for counts in row {
            sum.all += counts.all;
            sum.first += counts.first;
            sum.three += counts.three;
        }
        if sum.all == 0 {
            continue;
        }
        let hits = sum.hits(three);
        let (percent, (low, high)) = (hits.percent(), hits.interval());
        report.cell(title, format!("{number}"), None, Some(percent), Some(hits.error()));
        points.push(Point::with_interval(number as f64, percent, low, high));
    }
    let plot = Plot::new(title, "number of the move", "% of moves predicted")
        .series(Series::line(title, points).band())
        .y_range(0.0, 100.0);
    let caption = "Over all numbers of legal moves, 95% intervals by Wilson.".to_owned();
    report.figures.push((format!("{stem}-by-move"), Box::new(plot), caption));
}
