//! Which games of many to take.

use crate::About;
use outflank_runs::{RngExt, rng};

/// Which games to take; the default takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Played in these years, both included.
    pub years: Option<(u16, u16)>,
    /// Played by someone whose name has this in it, in either case; after a `=`, whose whole name
    /// this is.
    pub by: Option<String>,
    /// Played in a tournament whose name has this in it, in either case; after a `=`, whose whole
    /// name this is.
    pub tournament: Option<String>,
    /// So many of those, drawn at random without favour and kept in their order; all of them where
    /// there are not more.
    pub sample: Option<usize>,
}

impl Selection {
    /// Whether a game is one of those wished for, before the draw.
    #[must_use]
    pub fn matches(&self, about: &About) -> bool {
        let in_years = self
            .years
            .is_none_or(|(from, to)| about.year().is_some_and(|year| (from..=to).contains(&year)));
        in_years
            && self.by.as_ref().is_none_or(|by| named(&about.black, by) || named(&about.white, by))
            && self.tournament.as_ref().is_none_or(|name| named(&about.event, name))
    }

    /// Draws the sample: the same for the same seed and number of items, in their order.
    #[must_use]
    pub fn draw<T>(&self, items: Vec<T>, seed: u64) -> Vec<T> {
        let Some(sample) = self.sample.filter(|&sample| sample < items.len()) else { return items };
        let mut rng = rng::stream(seed, &["records", "sample"]);
        let (mut left, mut wanted) = (items.len(), sample);
        let mut drawn = Vec::with_capacity(sample);
        for item in items {
            // Each item is taken with the probability that the rest of the sample has among the
            // rest of the items, which makes every sample equally likely.
            if (rng.below(u32::try_from(left).unwrap_or(u32::MAX)) as usize) < wanted {
                drawn.push(item);
                wanted -= 1;
            }
            left -= 1;
        }
        drawn
    }

    /// The wish in words, to follow "none of the games was".
    #[must_use]
    pub fn describe(&self) -> String {
        let mut words = String::from("played");
        match self.years {
            Some((from, to)) if from == to => words += &format!(" in {from}"),
            Some((from, to)) => words += &format!(" between {from} and {to}"),
            None => {}
        }
        if let Some(by) = &self.by {
            words += &format!(" by a player called '{}'", by.trim_start_matches('='));
        }
        if let Some(name) = &self.tournament {
            words += &format!(" in a tournament called '{}'", name.trim_start_matches('='));
        }
        words
    }
}

/// Whether a name is as wished.
fn named(name: &str, wished: &str) -> bool {
    let name = name.to_lowercase();
    match wished.strip_prefix('=') {
        Some(whole) => name == whole.to_lowercase(),
        None => name.contains(&wished.to_lowercase()),
    }
}
