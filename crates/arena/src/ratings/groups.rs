//! Whether the results of a league can be compared at all, and whether totals make sense.

use super::{RatingError, check_count};

/// Groups or players beyond this many are counted, not named.
const NAMED: usize = 12;

/// Lists groups of players, such as `a, b | c | d, e`, with `name` giving each player's name.
pub fn list_groups(groups: &[Vec<usize>], name: impl Fn(usize) -> String) -> String {
    let shorten = |mut parts: Vec<String>, total: usize, joint: &str| {
        if total > parts.len() {
            parts.push(format!("and {} more", total - parts.len()));
        }
        parts.join(joint)
    };
    let listed = (groups.iter().take(NAMED))
        .map(|group| {
            let names = group.iter().take(NAMED).map(|&player| name(player)).collect();
            shorten(names, group.len(), ", ")
        })
        .collect();
    shorten(listed, groups.len(), " | ")
}

/// Checks that every player met every other, directly or through others.
pub(super) fn check_connected(
    players: usize,
    met: impl Iterator<Item = (usize, usize)>,
) -> Result<(), RatingError> {
    let mut parents: Vec<usize> = (0..players).collect();
    for (i, j) in met {
        let (i, j) = (root(&mut parents, i), root(&mut parents, j));
        // The smaller number leads, so the groups do not depend on the order of the meetings.
        parents[i.max(j)] = i.min(j);
    }
    let mut place = vec![usize::MAX; players];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for player in 0..players {
        let leader = root(&mut parents, player);
        if leader == player {
            place[player] = groups.len();
            groups.push(Vec::new());
        }
        groups[place[leader]].push(player);
    }
    if groups.len() > 1 { Err(RatingError::Disconnected { groups }) } else { Ok(()) }
}

fn root(parents: &mut [usize], mut player: usize) -> usize {
    while parents[player] != player {
        parents[player] = parents[parents[player]];
        player = parents[player];
    }
    player
}

/// Checks a symmetric matrix of games and returns its pairs: `(i, j, games)` with i < j.
pub(super) fn check_matrix<Row: AsRef<[f64]>>(
    players: usize,
    games: &[Row],
) -> Result<Vec<(usize, usize, f64)>, RatingError> {
    let rows: Vec<&[f64]> = games.iter().map(AsRef::as_ref).collect();
    if rows.len() != players || rows.iter().any(|row| row.len() != players) {
        let shape = "the matrix of games must have one row and one column for each player's points";
        return Err(RatingError::BadTotals(shape.into()));
    }
    let mut pairs = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            check_count(count, || format!("the pair of players {i} and {j}"))?;
            if count != rows[j][i] {
                return Err(RatingError::BadTotals(format!(
                    "players {i} and {j} met {count} times one way and {} the other; give the \
                     same number both ways",
                    rows[j][i]
                )));
            }
            if i == j && count > 0.0 {
                return Err(RatingError::SelfPlay { meeting: i, player: i });
            }
            if i < j && count > 0.0 {
                pairs.push((i, j, count));
            }
        }
    }
    Ok(pairs)
}

/// Checks that points fit the games played, within 1% for totals that were rounded.
pub(super) fn check_points(points: &[f64], games: &[f64]) -> Result<(), RatingError> {
    for (player, (&points, &games)) in points.iter().zip(games).enumerate() {
        check_count(points, || format!("the points of player {player}"))?;
        if points > 1.01 * games {
            return Err(RatingError::BadTotals(format!(
                "player {player} has {points} points from {games} games; a game gives at most 1"
            )));
        }
    }
    let (given, due) = (points.iter().sum::<f64>(), 0.5 * games.iter().sum::<f64>());
    if (given - due).abs() > 0.01 * due {
        return Err(RatingError::BadTotals(format!(
            "the points add up to {given}, but {due} games give {due} points"
        )));
    }
    Ok(())
}
