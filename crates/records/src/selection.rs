//! Selection of games by metadata, and random samples.

use crate::GameInfo;
use crate::record::name_matches;
use outflank_games::Side;
use outflank_runs::{RngExt, rng};

/// A filter for games, and the size of a sample. The default selects all games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// First and last year, both included.
    pub years: Option<(u16, u16)>,
    /// A case-insensitive substring of a player's name, or the full name after a `=`.
    pub by: Option<String>,
    /// A case-insensitive substring of the tournament's name, or the full name after a `=`.
    pub tournament: Option<String>,
    /// The size of a uniform random sample of the matching games; all games if there are fewer.
    pub sample: Option<usize>,
}

impl Selection {
    /// Returns whether a game matches. The sample is taken later, by [`Selection::sample_from`].
    #[must_use]
    pub fn matches(&self, info: &GameInfo) -> bool {
        let in_years = self
            .years
            .is_none_or(|(from, to)| info.year().is_some_and(|year| (from..=to).contains(&year)));
        let by_player =
            |name: &String| name_matches(&info.black, name) || name_matches(&info.white, name);
        in_years
            && self.by.as_ref().is_none_or(by_player)
            && self.tournament.as_ref().is_none_or(|name| name_matches(&info.event, name))
    }

    /// Returns the side of the selected player, Black if both players match; `None` if none does or no
    /// player is selected.
    #[must_use]
    pub fn player_side(&self, info: &GameInfo) -> Option<Side> {
        let name = self.by.as_ref()?;
        match (name_matches(&info.black, name), name_matches(&info.white, name)) {
            (true, _) => Some(Side::Black),
            (false, true) => Some(Side::White),
            (false, false) => None,
        }
    }

    /// Takes a random sample and keeps the order of the items.
    ///
    /// The sampled indices depend only on the seed and the number of items.
    #[must_use]
    pub fn sample_from<T>(&self, items: Vec<T>, seed: u64) -> Vec<T> {
        let Some(size) = self.sample.filter(|&size| size < items.len()) else { return items };
        let mut rng = rng::stream(seed, &["records", "sample"]);
        let (mut remaining, mut needed) = (items.len(), size);
        let mut sampled = Vec::with_capacity(size);
        for item in items {
            // Selection sampling: taking each item with probability needed / remaining makes all
            // samples equally likely.
            if (rng.below(u32::try_from(remaining).unwrap_or(u32::MAX)) as usize) < needed {
                sampled.push(item);
                needed -= 1;
            }
            remaining -= 1;
        }
        sampled
    }

    /// Describes the filter for an error message: `played in 1991 by a player called 'Tan'`.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = String::from("played");
        match self.years {
            Some((from, to)) if from == to => text += &format!(" in {from}"),
            Some((from, to)) => text += &format!(" between {from} and {to}"),
            None => {}
        }
        if let Some(by) = &self.by {
            text += &format!(" by a player called '{}'", by.trim_start_matches('='));
        }
        if let Some(name) = &self.tournament {
            text += &format!(" in a tournament called '{}'", name.trim_start_matches('='));
        }
        text
    }
}
