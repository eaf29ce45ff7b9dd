//! Validation of the input: options, counts, totals, and that games connect all players.

use super::error::RatingError;
use super::{ELO_PER_UNIT, EloParameter, MAX_GAMES, RatingConfig, newton};

/// Maximum number of groups, and of players per group, that are listed by name.
const MAX_LISTED: usize = 12;

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

/// Formats groups of players, such as `a, b | c | d, e`, where `name` returns the name of a player.
pub(super) fn list_groups(groups: &[Vec<usize>], name: impl Fn(usize) -> String) -> String {
    let join = |mut items: Vec<String>, total: usize, separator: &str| {
        if total > items.len() {
            items.push(format!("and {} more", total - items.len()));
        }
        items.join(separator)
    };
    let listed = (groups.iter().take(MAX_LISTED))
        .map(|group| {
            let names = group.iter().take(MAX_LISTED).map(|&player| name(player)).collect();
            join(names, group.len(), ", ")
        })
        .collect();
    join(listed, groups.len(), " | ")
}

/// Checks that `pairs` connects all players, directly or through common opponents.
pub(super) fn check_connected(
    players: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Result<(), RatingError> {
    let mut parents: Vec<usize> = (0..players).collect();
    for (i, j) in pairs {
        let (i, j) = (find_root(&mut parents, i), find_root(&mut parents, j));
        // The smaller index is the root, so the groups do not depend on the order of the results.
        parents[i.max(j)] = i.min(j);
    }
    let mut group_of = vec![usize::MAX; players];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for player in 0..players {
        let root_player = find_root(&mut parents, player);
        if root_player == player {
            group_of[player] = groups.len();
            groups.push(Vec::new());
        }
        groups[group_of[root_player]].push(player);
    }
    if groups.len() > 1 { Err(RatingError::Disconnected { groups }) } else { Ok(()) }
}

/// Returns the root of a player's group (union-find with path halving).
fn find_root(parents: &mut [usize], mut player: usize) -> usize {
    while parents[player] != player {
        parents[player] = parents[parents[player]];
        player = parents[player];
    }
    player
}

/// Checks a symmetric matrix of games and returns its pairs `(i, j, games)` with i < j.
pub(super) fn check_matrix<Row: AsRef<[f64]>>(
    players: usize,
    games: &[Row],
) -> Result<Vec<(usize, usize, f64)>, RatingError> {
    let rows: Vec<&[f64]> = games.iter().map(AsRef::as_ref).collect();
    if rows.len() != players || rows.iter().any(|row| row.len() != players) {
        let shape = "the matrix of games must have one row and one column per player";
        return Err(RatingError::InvalidTotals(shape.into()));
    }
    let mut pairs = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            check_count(count, || format!("players {i} and {j}"))?;
            if count != rows[j][i] {
                return Err(RatingError::InvalidTotals(format!(
                    "the matrix of games is not symmetric: {count} games of player {i} against {j}, \
                     but {} of {j} against {i}",
                    rows[j][i]
                )));
            }
            if i == j && count > 0.0 {
                return Err(RatingError::InvalidTotals(format!(
                    "the matrix of games has {count} games of player {i} against itself; set the \
                     diagonal to 0"
                )));
            }
            if i < j && count > 0.0 {
                pairs.push((i, j, count));
            }
        }
    }
    Ok(pairs)
}

/// Checks that points match the games played, within 1% to allow for rounded totals.
pub(super) fn check_points(points: &[f64], games: &[f64]) -> Result<(), RatingError> {
    for (player, (&points, &games)) in points.iter().zip(games).enumerate() {
        check_count(points, || format!("player {player}"))?;
        if points > 1.01 * games {
            return Err(RatingError::InvalidTotals(format!(
                "player {player} has {points} points in {games} games, more than 1 point per game"
            )));
        }
    }
    let (total, expected) = (points.iter().sum::<f64>(), 0.5 * games.iter().sum::<f64>());
    if (total - expected).abs() > 0.01 * expected {
        return Err(RatingError::InvalidTotals(format!(
            "the points sum to {total}; with one point per game they must sum to {expected}"
        )));
    }
    Ok(())
}
