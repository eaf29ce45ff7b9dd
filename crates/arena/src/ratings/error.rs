//! Errors of the rating fit.

use super::validation::list_groups;

/// An error of the rating fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// A pair result names an unknown player.
    #[error(
        "pair result {index} names player {player}, but the league has {players} players, numbered \
         from 0"
    )]
    UnknownPlayer {
        /// The index of the pair result.
        index: usize,
        /// The player.
        player: usize,
        /// The number of players.
        players: usize,
    },
    /// A player is paired with itself.
    #[error("pair result {index} pairs player {player} with itself; leave out such games")]
    SelfPairing {
        /// The index of the pair result.
        index: usize,
        /// The player.
        player: usize,
    },
    /// A count is negative, not a number, or too large.
    #[error(
        "invalid number of games or points of {location}: {count}; it must be between 0 and 10^15"
    )]
    InvalidCount {
        /// The location of the count.
        location: String,
        /// The count.
        count: f64,
    },
    /// An option lies outside its range.
    #[error("{option} is {value}; it must be between {min} and {max}")]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
    },
    /// Some players never met the others, neither directly nor through common opponents.
    #[error(
        "the players form groups that never met, not even through common opponents: {}; play games \
         between the groups, or rate each group separately",
        list_groups(groups, |player| player.to_string())
    )]
    Disconnected {
        /// The players of each group, in ascending order.
        groups: Vec<Vec<usize>>,
    },
    /// The totals or the matrix of games are invalid.
    #[error("{0}")]
    InvalidTotals(String),
    /// Newton's method did not converge.
    #[error(
        "the ratings did not converge, probably because the numbers of games differ by many orders \
         of magnitude; rate the players with few games separately"
    )]
    NotConverged,
}
