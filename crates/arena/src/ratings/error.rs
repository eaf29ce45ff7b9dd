//! Errors of the rating model and the checks of its input.

use super::{ELO_PER_UNIT, EloParameter, MAX_GAMES, RatingConfig, list_groups, newton};

/// An error that prevents ratings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// A pair result names an unknown player.
    #[error(
        "pair result {index} names player {player}, but the league has {players} players, numbered from 0"
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
    SelfPlay {
        /// The index of the pair result.
        index: usize,
        /// The player.
        player: usize,
    },
    /// A count is negative, not a number, or too large.
    #[error("{location} has the count {count}; counts must be between 0 and 10^15")]
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
    /// Totals and the matrix of games are inconsistent.
    #[error("{0}")]
    InvalidTotals(String),
    /// Newton's method did not converge.
    #[error(
        "the ratings did not converge, probably because the numbers of games differ by many orders of magnitude"
    )]
    NotConverged,
}

/// Checks the ranges of the options.
pub(super) fn check_config(config: &RatingConfig) -> Result<(), RatingError> {
    let max = newton::MAX_DIFFERENCE * ELO_PER_UNIT;
    let check = |option, value: f64, min: f64, max: f64| {
        let valid = (min..=max).contains(&value);
        if valid { Ok(()) } else { Err(RatingError::InvalidOption { option, value, min, max }) }
    };
    if let EloParameter::Fixed(value) = config.draw_elo {
        check("draw_elo", value, 0.0, max)?;
    }
    if let EloParameter::Fixed(value) = config.advantage {
        check("advantage", value, -max, max)?;
    }
    check("prior", config.prior, 0.0, 1e6)?;
    check("mean", config.mean, -1e6, 1e6)
}

/// Checks the range of a count; `location` describes the count for the error.
pub(super) fn check_count(
    count: f64,
    location: impl FnOnce() -> String,
) -> Result<(), RatingError> {
    if (0.0..=MAX_GAMES).contains(&count) {
        return Ok(());
    }
    Err(RatingError::InvalidCount { location: location(), count })
}

/// Checks the number of games of each player.
pub(super) fn check_games(games: &[f64]) -> Result<(), RatingError> {
    (games.iter().enumerate())
        .try_for_each(|(player, &count)| check_count(count, || format!("player {player}")))
}
