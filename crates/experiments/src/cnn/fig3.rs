//! Liskowski, Jaśkowski & Krawiec (2018), Figure 3: top-1 and top-3 accuracy of Conv8+BN by move
//! number and by number of legal moves.
//!
//! Departures: see `departures.rs`; only legal moves are ranked; the plots by example and by game
//! may show differently trained networks.

use super::table5::BEST;
use super::trained_nets::{TrainedNetCache, training_text_for_report};
use super::{LAST_TRAINING_YEAR, NetSpec, split_name};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::accuracy::BinomialCount;
use outflank_learners::cnn::{for_each_prediction, rank, sample_evenly};
use outflank_models::nets::Input;
use outflank_records::ExampleSetKind;
use outflank_report::text::format_count;
use outflank_report::{HeatMap, Plot, Point, Series};
use outflank_runs::stop_requested;

/// First move number of the plot. A move's number is the number of discs after it, from 5 to 64;
/// move 5 is omitted, because it is always the same up to symmetry.
const FIRST_MOVE: usize = 6;
/// Last move number of the plot.
const LAST_MOVE: usize = 64;

/// Largest number of legal moves in the plot; the few positions with more are counted there.
const MAX_LEGAL_MOVES: usize = 24;

/// Minimum number of positions of a cell of the heat map.
const MIN_POSITIONS: u32 = 20;

/// The test positions by example and by game.
const TESTS: [&str; 2] = ["test examples of Unique-S", "positions of test games"];

/// The experiment `cnn/fig3`.
pub(crate) struct Fig3;

/// Number of positions, and how often the played move is ranked first or among the first three.
#[derive(Clone, Copy, Default)]
struct RankCounts {
    count: u32,
    top1: u32,
    top3: u32,
}

impl RankCounts {
    fn add(&mut self, rank: usize) {
        self.count += 1;
        self.top1 += u32::from(rank == 0);
        self.top3 += u32::from(rank < 3);
    }

    fn hits(self, top3: bool) -> BinomialCount {
        let hits = if top3 { self.top3 } else { self.top1 };
        BinomialCount { successes: f64::from(hits), count: u64::from(self.count) }
    }
}

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "cnn/fig3"
    }

    fn about(&self) -> &'static str {
        "top-1 and top-3 accuracy of Conv8+BN by move number and number of legal moves"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        // The network with full training saw games after 2012, so the test by game uses Conv8+BN with
        // the short budget.
        let specs = [BEST, NetSpec::new(BEST.net).by_game()];
        let mut counts = Vec::new();
        let mut tests = Vec::new();
        for (spec, what) in specs.into_iter().zip(TESTS) {
            let Some((grid, positions)) = count_ranks(&nets, spec)? else { continue };
            let split = split_name(spec.by_game);
            tests.push(format!(" {split}, on {} {what}", format_count(positions)));
            counts.push((split, grid));
        }
        let lead = format!(
            "Conv8+BN{}. As in the paper, the first move of a game has number 5.",
            tests.join(", and")
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Figure 3",
            lead,
        );
        for (split, grid) in &counts {
            for (top3, title) in [(false, "top-1"), (true, "top-3")] {
                plot(&mut report, grid, top3, &format!("{title}, {split}"), split);
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.push(
            "Only legal moves are ranked, in both splits; symmetric moves do not share the credit."
                .to_owned(),
        );
        let training_texts = [nets.training_text(specs[0])?, nets.training_text(specs[1])?];
        if counts.len() == 2 && training_texts[0] != training_texts[1] {
            report.departures.push(format!(
                "The network tested by example was also trained on games after {LAST_TRAINING_YEAR}. The \
                 plots by game therefore show a second network. Training by game: {}. By example: {}.",
                training_text_for_report(&training_texts[1]),
                training_text_for_report(&training_texts[0])
            ));
        }
        Ok(nets.outcome(report))
    }
}

/// Rank counts by move number and number of legal moves.
type RankCountGrid = Vec<[RankCounts; MAX_LEGAL_MOVES + 1]>;

/// Counts the ranks of the played moves in the test positions of a network, and the positions;
/// `None` if the weights are not available.
fn count_ranks(
    nets: &TrainedNetCache<'_>,
    spec: NetSpec,
) -> Result<Option<(RankCountGrid, u64)>, ExperimentError> {
    let Some(predictor) = nets.predictor(&[spec])? else { return Ok(None) };
    let dataset = nets.dataset(spec, Input::PIECES)?;
    let name = spec.test_name_prefix(ExampleSetKind::UniqueS);
    let test = dataset.tests.iter().find(|test| test.name.starts_with(&name));
    let examples = test.map_or_else(Vec::new, |test| {
        sample_evenly(&test.examples, nets.params().test_positions.max(400))
    });
    let mut grid = vec![[RankCounts::default(); MAX_LEGAL_MOVES + 1]; LAST_MOVE + 1];
    let predict = &mut |words: &[u64]| predictor.logits(words);
    let should_continue = |_| !stop_requested();
    let complete = for_each_prediction(
        predict,
        Input::PIECES,
        &examples,
        false,
        should_continue,
        rank,
        |item, rank| {
            let board = item.example.board();
            let number = (board.own | board.other).count_ones() as usize + 1;
            let moves = board.moves().count_ones() as usize;
            grid[number.min(LAST_MOVE)][moves.min(MAX_LEGAL_MOVES)].add(rank);
        },
    )
    .map_err(ExperimentError::training)?;
    if complete { Ok(Some((grid, examples.len() as u64))) } else { Err(ExperimentError::Stopped) }
}

/// Adds the heat map, and the accuracy by move number over all positions.
fn plot(report: &mut Report, grid: &RankCountGrid, top3: bool, title: &str, split: &str) {
    let cell =
        |counts: &RankCounts| (counts.count >= MIN_POSITIONS).then(|| counts.hits(top3).percent());
    let rows: Vec<Vec<Option<f64>>> = (1..=MAX_LEGAL_MOVES)
        .map(|moves| (FIRST_MOVE..=LAST_MOVE).map(|number| cell(&grid[number][moves])).collect())
        .collect();
    let heat = HeatMap::new(title, "move number", "legal moves", rows)
        .starting_at(FIRST_MOVE as f64, 1.0)
        .range(0.0, 100.0);
    let stem = format!("{}-{}", if top3 { "top3" } else { "top1" }, split.replace(' ', "-"));
    let caption =
        format!("Accuracy in percent; cells with fewer than {MIN_POSITIONS} positions are empty.");
    report.figures.push((stem.clone(), Box::new(heat), caption));
    let mut points = Vec::new();
    for (number, row) in grid.iter().enumerate().take(LAST_MOVE + 1).skip(FIRST_MOVE) {
        let mut sum = RankCounts::default();
        for counts in row {
            sum.count += counts.count;
            sum.top1 += counts.top1;
            sum.top3 += counts.top3;
        }
        if sum.count == 0 {
            continue;
        }
        let hits = sum.hits(top3);
        let (percent, (low, high)) = (hits.percent(), hits.interval());
        report.add_cell(title, format!("{number}"), None, Some(percent), Some(hits.half_width()));
        points.push(Point::with_interval(number as f64, percent, low, high));
    }
    let plot = Plot::new(title, "move number", "accuracy, %")
        .series(Series::line(title, points).band())
        .y_range(0.0, 100.0);
    let caption = "Over all numbers of legal moves; 95% confidence intervals (Wilson).".to_owned();
    report.figures.push((format!("{stem}-by-move"), Box::new(plot), caption));
}
