//! Decisions as competitions between teams of features (Coulom, 2007).
//!
//! Each move of a decision is a team: the features of its afterstate with their counts. Only
//! differences within a decision matter, since common factors cancel. For each feature and decision
//! the most common count is therefore the reference, and only teams that differ from it are stored,
//! with the difference as exponent. This leaves the likelihood unchanged, shortens the lists (32
//! entries per team instead of 82 for the paper's tuples) and tightens the bound of each update.

use super::MmError;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Features;
use outflank_records::Decision;
use std::ops::Range;

/// Bytes per difference, which is stored both unsorted and sorted.
const BYTES_PER_DIFFERENCE: usize = 20;

/// Bytes per team: its decision, its strength, and its log-strength at several points.
const BYTES_PER_TEAM: usize = 100;

/// A feature that differs between moves of some decision.
#[derive(Clone, Debug)]
pub(super) struct ActiveFeature {
    /// Its index among all features.
    pub index: u32,
    /// Its exponents and the teams that have them.
    pub groups: Range<usize>,
    /// The sum of its exponents over winning teams.
    pub wins: f64,
}

/// The teams in which a feature has the same exponent.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The count minus the reference; never zero.
    pub exponent: i32,
    /// The range of these teams in the list of members.
    pub members: Range<usize>,
}

/// The reference count of a feature within a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// The most common count.
    MostCommon,
    /// Zero, as in the published formulas.
    Zero,
}

/// All competitions, indexed by feature.
#[derive(Clone, Debug, Default)]
pub(super) struct Teams {
    /// The first team of each decision, and the end of the last.
    starts: Vec<u32>,
    /// The decision of each team.
    decisions: Vec<u32>,
    /// The team that won each decision.
    winners: Vec<u32>,
    /// The features that make a difference, in ascending order.
    features: Vec<ActiveFeature>,
    groups: Vec<Group>,
    /// Teams, grouped by feature and exponent.
    members: Vec<u32>,
}

impl Teams {
    /// Builds the teams of all decisions that are choices, with the mover seen as Black.
    pub fn new<F: Features<Othello>>(
        features: &F,
        binary: bool,
        reference: Reference,
        decisions: &[Decision<Othello>],
    ) -> Result<Teams, MmError> {
        let mut builder = Builder::new(features.feature_count(), reference);
        for decision in decisions {
            builder.add_decision(features, binary, decision)?;
        }
        if builder.teams.decisions() == 0 {
            return Err(MmError::NoChoices);
        }
        Ok(builder.finish())
    }

    /// Estimates the peak memory in bytes of building teams and fitting them.
    pub fn bytes<F: Features<Othello>>(
        features: &F,
        binary: bool,
        reference: Reference,
        decisions: &[Decision<Othello>],
    ) -> usize {
        let mut builder = Builder::new(features.feature_count(), reference);
        for decision in decisions {
            // A sample has few enough moves to be indexed.
            let _ = builder.add_decision(features, binary, decision);
        }
        BYTES_PER_DIFFERENCE * builder.differences.0.len() + BYTES_PER_TEAM * builder.teams.len()
    }

    /// Builds teams from the winner and, for each team, its features; a repeated feature counts
    /// repeatedly.
    #[cfg(test)]
    pub fn from_lists(features: usize, lists: &[(usize, Vec<Vec<usize>>)]) -> Teams {
        let mut builder = Builder::new(features, Reference::MostCommon);
        for (winner, teams) in lists {
            builder.begin_decision(teams.len(), *winner).unwrap();
            for (team, members) in teams.iter().enumerate() {
                members.iter().for_each(|&feature| builder.add(feature, team, false));
            }
            builder.end_decision();
        }
        builder.finish()
    }

    /// The number of decisions.
    pub fn decisions(&self) -> usize {
        self.winners.len()
    }

    /// The number of teams.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Returns the teams of a decision.
    pub fn of_decision(&self, decision: usize) -> Range<usize> {
        self.starts[decision] as usize..self.starts[decision + 1] as usize
    }

    /// Returns the decision of a team.
    #[inline]
    pub fn decision(&self, team: usize) -> usize {
        self.decisions[team] as usize
    }

    /// Returns the winning team of a decision.
    pub fn winner(&self, decision: usize) -> usize {
        self.winners[decision] as usize
    }

    /// The features that make a difference.
    pub fn features(&self) -> &[ActiveFeature] {
        &self.features
    }

    /// Returns the groups of a feature.
    pub fn groups(&self, feature: &ActiveFeature) -> &[Group] {
        &self.groups[feature.groups.clone()]
    }

    /// Returns the teams of a group.
    #[inline]
    pub fn members(&self, group: &Group) -> &[u32] {
        &self.members[group.members.clone()]
    }
}

/// Builds teams decision by decision.
struct Builder {
    teams: Teams,
    /// For each feature its position among those of the current decision, from 1; 0 if absent.
    positions: Vec<u32>,
    /// The features of the current decision.
    present: Vec<u32>,
    /// The count of each feature in each team, feature by feature.
    counts: Vec<u16>,
    /// The number of teams of the current decision.
    size: usize,
    reference: Reference,
    /// Differences from the reference: feature, exponent and team.
    differences: (Vec<u32>, Vec<i32>, Vec<u32>),
}

impl Builder {
    fn new(features: usize, reference: Reference) -> Builder {
        Builder {
            teams: Teams { starts: vec![0], ..Teams::default() },
            positions: vec![0; features],
            present: Vec::new(),
            counts: Vec::new(),
            size: 0,
            reference,
            differences: Default::default(),
        }
    }

    /// Adds a decision if it is a choice.
    fn add_decision<F: Features<Othello>>(
        &mut self,
        features: &F,
        binary: bool,
        decision: &Decision<Othello>,
    ) -> Result<(), MmError> {
        let mover = decision.position.to_move();
        let moves = decision.position.moves().count();
        let winner = decision.position.moves().position(|mv| mv == decision.chosen);
        let Some(winner) = winner.filter(|_| moves > 1) else { return Ok(()) };
        self.begin_decision(moves, winner)?;
        for (team, mv) in decision.position.moves().enumerate() {
            let after = decision.position.play(mv);
            features.visit(&after, mover, |feature, _| self.add(feature, team, binary));
        }
        self.end_decision();
        Ok(())
    }

    fn begin_decision(&mut self, size: usize, winner: usize) -> Result<(), MmError> {
        let start = self.teams.len();
        let end = u32::try_from(start + size).map_err(|_| MmError::TooManyMoves)?;
        self.teams.decisions.resize(start + size, self.teams.winners.len() as u32);
        self.teams.winners.push((start + winner) as u32);
        self.teams.starts.push(end);
        self.size = size;
        Ok(())
    }

    #[inline]
    fn add(&mut self, feature: usize, team: usize, binary: bool) {
        let position = &mut self.positions[feature];
        if *position == 0 {
            self.present.push(feature as u32);
            *position = self.present.len() as u32;
            self.counts.resize(self.present.len() * self.size, 0);
        }
        let count = &mut self.counts[(*position as usize - 1) * self.size + team];
        *count = if binary { 1 } else { count.saturating_add(1) };
    }

    fn end_decision(&mut self) {
        let first = self.teams.len() - self.size;
        for (&feature, counts) in self.present.iter().zip(self.counts.chunks_exact(self.size)) {
            self.positions[feature as usize] = 0;
            let reference = match self.reference {
                Reference::Zero => 0,
                Reference::MostCommon => most_common(counts),
            };
            for (team, &count) in counts.iter().enumerate().filter(|&(_, &c)| c != reference) {
                self.differences.0.push(feature);
                self.differences.1.push(i32::from(count) - i32::from(reference));
                self.differences.2.push((first + team) as u32);
            }
        }
        self.present.clear();
        self.counts.clear();
    }

    /// Sorts the differences by feature and exponent. Within a group the order of teams is
    /// unchanged.
    fn finish(self) -> Teams {
        let (features, exponents, members) = self.differences;
        let mut teams = self.teams;
        let mut ends = vec![0usize; self.positions.len() + 1];
        features.iter().for_each(|&feature| ends[feature as usize + 1] += 1);
        for feature in 0..self.positions.len() {
            ends[feature + 1] += ends[feature];
        }
        let starts = ends.clone();
        let mut sorted = vec![(0i32, 0u32); members.len()];
        for ((&feature, &exponent), &team) in features.iter().zip(&exponents).zip(&members) {
            let next = &mut ends[feature as usize];
            sorted[*next] = (exponent, team);
            *next += 1;
        }
        drop((features, exponents, members));
        teams.members.reserve_exact(sorted.len());
        for feature in 0..self.positions.len() {
            let own = &sorted[starts[feature]..starts[feature + 1]];
            let first_group = teams.groups.len();
            let mut wins = 0.0;
            let mut exponent = own.iter().map(|&(exponent, _)| exponent).min();
            while let Some(this) = exponent {
                let from = teams.members.len();
                for &(_, team) in own.iter().filter(|&&(e, _)| e == this) {
                    teams.members.push(team);
                    if teams.winners[teams.decisions[team as usize] as usize] == team {
                        wins += f64::from(this);
                    }
                }
                teams.groups.push(Group { exponent: this, members: from..teams.members.len() });
                exponent = own.iter().map(|&(e, _)| e).filter(|&e| e > this).min();
            }
            if first_group < teams.groups.len() {
                let groups = first_group..teams.groups.len();
                teams.features.push(ActiveFeature { index: feature as u32, groups, wins });
            }
        }
        teams
    }
}

/// Returns the most common count; of several, the smallest.
fn most_common(counts: &[u16]) -> u16 {
    let mut best = (0, 0);
    let mut next = counts.iter().copied().min();
    while let Some(count) = next {
        let times = counts.iter().filter(|&&c| c == count).count();
        if times > best.0 {
            best = (times, count);
        }
        next = counts.iter().copied().filter(|&c| c > count).min();
    }
    best.1
}
