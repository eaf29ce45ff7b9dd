//! Liskowski, Jaśkowski and Krawiec, "Learning to play Othello with deep neural networks" (2018):
//! paper 3.
//!
//! Every exhibit asks a `School` for networks: it teaches each one once, measures it and keeps what it
//! found beside the weights, so that exhibits share networks and go on after a stop. Where nothing is
//! taught, an exhibit is of what is known, and says what it had to leave out.

mod departures;
pub mod fig3;
pub mod fig4;
pub mod fig5;
mod school;
mod suite;
pub mod table2;
pub mod table3;
pub mod table5;
pub mod table6;
pub mod table7;
pub mod table8;
pub mod table9;
mod winning;

use crate::lab::Lab;
use crate::{Cell, Report, Scale};
use outflank_arena::accuracy::Hits;
use outflank_records::ExampleSetKind;

/// The paper's training (section V-A2): examples of a step, rate, momentum and decay.
const BATCH: usize = 512;
const RATE: f64 = 0.1;
const MOMENTUM: f64 = 0.95;
const DECAY: f64 = 5e-4;

/// So many steps at the start the rate grows from nothing, on a graphics processor; the paper does not speak of it.
const WARMUP: u64 = 500;

/// The same on a CPU, where there are hardly more steps than that in all.
const SHORT_WARMUP: u64 = 200;

/// What becomes of these below the paper's scale: rates with and without normalisation, a momentum that looks
/// ahead, and the decay of those that learn too little to learn by heart.
const SHORT_RATE: f64 = 0.2;
const SHORT_RATE_BARE: f64 = 0.05;
const SHORT_MOMENTUM: f64 = 0.9;
const SHORT_DECAY: f64 = 5e-5;

/// Passes over a set with and without images (section V-A2).
const PASSES_IMAGES: f64 = 6.0;
const PASSES_PLAIN: f64 = 24.0;

/// How many batches these are, as printed there.
const BATCHES_IMAGES: u64 = 434_400;
const BATCHES_PLAIN: u64 = 171_600;

/// Passes of each network of a short bag at desk scale: ten of them in half an hour of one H200. In full each
/// makes as many as any network, in smaller steps.
const PASSES_BAGGED: f64 = 1.75;

/// Networks of a bag (section V-B3).
const BAG: u64 = 10;

/// The last year of games to learn from where later games are the test.
const LAST_YEAR: u16 = 2012;

/// A network to be taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub net: &'static str,
    /// What it sees.
    pub input: &'static str,
    /// What it learns from.
    pub set: ExampleSetKind,
    /// Whether the test is later games rather than other examples.
    pub by_game: bool,
    /// Which network of a bag.
    pub bag: Option<u64>,
    /// Whether it is taught in full where others share an equal, shorter budget.
    pub in_full: bool,
    /// Whether a quarter of that budget must do, in batches of a quarter: as many steps.
    pub quarter: bool,
}

impl Task {
    /// A network on the paper's favourite set.
    #[must_use]
    pub const fn new(net: &'static str) -> Task {
        Task {
            net,
            input: "pieces",
            set: ExampleSetKind::UniqueS,
            by_game: false,
            bag: None,
            in_full: false,
            quarter: false,
        }
    }

    /// The same with another input.
    #[must_use]
    pub const fn seeing(self, input: &'static str) -> Task {
        Task { input, ..self }
    }

    /// The same on another set.
    #[must_use]
    pub const fn on(self, set: ExampleSetKind) -> Task {
        Task { set, ..self }
    }

    /// The same, tested on later games.
    #[must_use]
    pub const fn by_game(self) -> Task {
        Task { by_game: true, ..self }
    }

    /// The same, taught in full.
    #[must_use]
    pub const fn in_full(self) -> Task {
        Task { in_full: true, ..self }
    }

    /// The same on a quarter of the budget: the networks of Table VI, of which one takes as long as all
    /// others together.
    #[must_use]
    pub const fn quarter(self) -> Task {
        Task { quarter: true, ..self }
    }

    /// The same as a member of a bag.
    #[must_use]
    pub const fn of_bag(self, number: u64) -> Task {
        Task { bag: Some(number), ..self }
    }

    /// The test that the paper reports: the rest of a set, or later games.
    #[must_use]
    pub fn test(self, set: ExampleSetKind) -> String {
        // Games after a year, or held out where all are of one year.
        if self.by_game { "games ".to_owned() } else { format!("{set} by example") }
    }
}

/// How the test was told apart, for a column's head.
fn split_name(by_game: bool) -> &'static str {
    if by_game { "by game" } else { "by example" }
}

/// How much of everything there is at a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    /// Games to read, all if not said.
    games: Option<usize>,
    /// Examples that every network sees; at the paper's scale it follows from the passes.
    seen: Option<u64>,
    /// Passes of a network that is taught in full all the same.
    in_full: Option<f64>,
    /// Passes of each network of a short bag, where they differ from those of all others.
    bagged: Option<f64>,
    batch: usize,
    /// Positions of each test.
    tested: usize,
    /// Rounds of two games against each opponent.
    rounds: u32,
    /// Networks of a bag.
    bag: u64,
    /// Only every so many rows of a table are made.
    every: usize,
}

impl Size {
    /// In batches of a quarter.
    fn small_steps(self) -> Size {
        Size { batch: self.batch / 4, ..self }
    }

    /// On a quarter of the budget: in batches of a quarter, so that there are as many steps.
    fn quartered(self) -> Size {
        match self.seen {
            Some(seen) => Size { seen: Some(seen / 4), ..self.small_steps() },
            None => self,
        }
    }
}

fn size(lab: &Lab) -> Size {
    let whole = Size {
        games: None,
        seen: None,
        in_full: None,
        bagged: None,
        batch: BATCH,
        tested: usize::MAX,
        rounds: 1000,
        bag: BAG,
        every: 1,
    };
    match (lab.scale, lab.device.is_accelerated()) {
        (Scale::Paper, _) => whole,
        // One pass over Unique-S, or as many examples of a smaller set.
        (Scale::Desk, true) => {
            let seen = Some(37_000_000);
            let (in_full, bagged) = (Some(PASSES_IMAGES), Some(PASSES_BAGGED));
            Size { seen, in_full, bagged, batch: 4096, tested: 400_000, ..whole }
        }
        // What a laptop can do in hours for all networks; it shows that they learn, not who is best.
        (Scale::Desk, false) => Size {
            games: Some(2000),
            seen: Some(40_000),
            in_full: None,
            bagged: None,
            batch: 64,
            tested: 2000,
            rounds: 25,
            bag: 3,
            every: 1,
        },
        (Scale::Smoke, _) => Size {
            games: Some(20),
            seen: Some(16),
            in_full: None,
            bagged: None,
            batch: 16,
            tested: 8,
            rounds: 1,
            bag: 2,
            every: 2,
        },
    }
}

/// How far a percentage of so many may be off, at 95%.
fn error_of(percent: f64, count: u64) -> f64 {
    Hits::from_percent(percent, count).error()
}

/// A percentage, and of how many.
type Figure = (f64, u64);

/// Adds a figure with its error, or that there is none.
fn tell<'a>(
    report: &'a mut Report,
    row: &str,
    column: impl Into<String>,
    paper: Option<f64>,
    figure: Option<Figure>,
) -> &'a mut Cell {
    let error = figure.map(|(percent, count)| error_of(percent, count));
    report.cell(row, column, paper, figure.map(|figure| figure.0), error)
}

/// What is said of one network beside another.
const ONE_OF_EACH: &str = "one network of each";

/// Says whether one figure lies above another by more than counting explains, and what the two are of.
fn above(better: &str, a: Figure, worse: &str, b: Figure, of: &str) -> String {
    let (difference, error) = apart(a, b);
    let verdict = match difference {
        d if d > error => "as in the paper",
        d if d < -error => "the other way round here",
        _ => "not told apart here",
    };
    format!(
        "{better} {:.2} above {worse} {:.2}: {verdict} ({difference:+.2} ± {error:.2}, {of}).",
        a.0, b.0
    )
}

/// How far one figure lies above another, and the half-width of the difference's 95% interval.
fn apart(a: Figure, b: Figure) -> (f64, f64) {
    (a.0 - b.0, error_of(a.0, a.1).hypot(error_of(b.0, b.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10,000 positions 60% are uncertain by 0.96, so two such figures by 1.36.
    #[test]
    fn orders_are_told_at_the_interval_that_is_printed() {
        let said = |a: f64, b: f64| above("a", (a, 10_000), "b", (b, 10_000), ONE_OF_EACH);
        let same = said(61.0, 60.0);
        assert!(same.contains("a 61.00 above b 60.00: not told apart here (+1.00 ± 1.3"), "{same}");
        for (a, b, verdict) in [
            (61.4, 60.0, "as in the paper"),
            (61.3, 60.0, "not told apart here"),
            (60.0, 61.4, "the other way round here"),
        ] {
            assert!(said(a, b).contains(verdict), "{}", said(a, b));
        }
    }

    /// Section V-A2: the batches are those of 75 and 95 in 100 of Unique and Unique-S.
    #[test]
    fn passes_and_batches_are_the_papers() {
        for (examples, share, passes, batches) in [
            (4_880_413.0, 0.75, PASSES_PLAIN, BATCHES_PLAIN),
            (39_019_056.0, 0.95, PASSES_IMAGES, BATCHES_IMAGES),
        ] {
            let batch: f64 = examples * share * passes / batches as f64;
            assert_eq!(batch.round() as usize, BATCH);
        }
    }
}
