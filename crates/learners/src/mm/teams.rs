//! Decisions as competitions between teams of features.
//!
//! Each move of a decision is a team: the features of the position it leads to, each with how many
//! times it is there. Only differences within a decision matter, since what all its teams share
//! cancels in the quotient. So for each feature and decision the number that most teams have is
//! taken as the reference, and only the teams that differ from it are kept, with an exponent that
//! says by how much. This leaves the likelihood as it is, makes the lists several times shorter
//! (32 entries a team instead of 82 for paper 0's tuples) and the bound of each update sharper.

use super::MmError;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Features;
use outflank_records::Decision;
use std::ops::Range;

/// The bytes of a difference twice over, unsorted and sorted.
const DIFFERENCE: usize = 20;

/// The bytes of a team: its decision, its strength, its place at a few points.
const TEAM: usize = 100;

/// A feature that can make a difference.
#[derive(Clone, Debug)]
pub(super) struct Player {
    /// Its number among all features.
    pub feature: u32,
    /// Its exponents and the teams that have them.
    pub groups: Range<usize>,
    /// The sum of its exponents over the teams that won.
    pub wins: f64,
}

/// The teams in which a feature has the same exponent.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many more times than in the reference they have the feature; never zero.
    pub exponent: i32,
    /// Where they stand in the list of members.
    pub members: Range<usize>,
}

/// What the teams of a decision are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// For each feature the number that most teams have.
    MostCommon,
    /// No feature at all, as the paper's formulas stand.
    Nothing,
}

/// All competitions, seen from the features.
#[derive(Clone, Debug, Default)]
pub(super) struct Teams {
    /// Where the teams of each decision begin, and where the last ends.
    starts: Vec<u32>,
    /// The decision of each team.
    decisions: Vec<u32>,
    /// The team that won each decision.
    winners: Vec<u32>,
    /// The features that can make a difference, in their order.
    players: Vec<Player>,
    groups: Vec<Group>,
    /// Teams, group by group.
    members: Vec<u32>,
}

impl Teams {
    /// The teams of all decisions that are choices, the mover seen as Black; when `binary`, a
    /// feature is there or not, however often it occurs.
    pub fn new<F: Features<Othello>>(
        features: &F,
        binary: bool,
        reference: Reference,
        decisions: &[Decision<Othello>],
    ) -> Result<Teams, MmError> {
        let mut builder = Builder::new(features.count(), reference);
        for decision in decisions {
            builder.add_decision(features, binary, decision)?;
        }
        if builder.teams.decisions() == 0 {
            return Err(MmError::NoChoices);
        }
        Ok(builder.finish())
    }

    /// About how many bytes the teams of decisions and a fit to them take, at the worst while they
    /// are sorted.
    pub fn bytes<F: Features<Othello>>(
        features: &F,
        binary: bool,
        reference: Reference,
        decisions: &[Decision<Othello>],
    ) -> usize {
        let mut builder = Builder::new(features.count(), reference);
        for decision in decisions {
            // So few decisions have no more moves than can be numbered.
            let _ = builder.add_decision(features, binary, decision);
        }
        DIFFERENCE * builder.differences.0.len() + TEAM * builder.teams.len()
    }

    /// The teams of decisions given as the winner and, for each team, its features, a feature
    /// counting as often as it stands there.
    #[cfg(test)]
    pub fn from_lists(features: usize, lists: &[(usize, Vec<Vec<usize>>)]) -> Teams {
        let mut builder = Builder::new(features, Reference::MostCommon);
        for (winner, teams) in lists {
            builder.begin(teams.len(), *winner).unwrap();
            for (team, members) in teams.iter().enumerate() {
                members.iter().for_each(|&feature| builder.add(feature, team, false));
            }
            builder.end();
        }
        builder.finish()
    }

    /// How many decisions there are.
    pub fn decisions(&self) -> usize {
        self.winners.len()
    }

    /// How many teams there are.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// The teams of a decision.
    pub fn of_decision(&self, decision: usize) -> Range<usize> {
        self.starts[decision] as usize..self.starts[decision + 1] as usize
    }

    /// The decision of a team.
    #[inline]
    pub fn decision(&self, team: usize) -> usize {
        self.decisions[team] as usize
    }

    /// The team that won a decision.
    pub fn winner(&self, decision: usize) -> usize {
        self.winners[decision] as usize
    }

    /// The features that can make a difference.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The exponents that a feature has.
    pub fn groups(&self, player: &Player) -> &[Group] {
        &self.groups[player.groups.clone()]
    }

    /// The teams of a group.
    #[inline]
    pub fn members(&self, group: &Group) -> &[u32] {
        &self.members[group.members.clone()]
    }
}

/// Teams in the making.
struct Builder {
    teams: Teams,
    /// For each feature its place among those of the decision at hand, from 1.
    places: Vec<u32>,
    /// The features of the decision at hand.
    present: Vec<u32>,
    /// How many times each team has each of them, feature by feature.
    counts: Vec<u16>,
    /// How many teams the decision at hand has.
    size: usize,
    reference: Reference,
    /// Differences from the reference, decision by decision: feature, exponent and team.
    differences: (Vec<u32>, Vec<i32>, Vec<u32>),
}

impl Builder {
    fn new(features: usize, reference: Reference) -> Builder {
        Builder {
            teams: Teams { starts: vec![0], ..Teams::default() },
            places: vec![0; features],
            present: Vec::new(),
            counts: Vec::new(),
            size: 0,
            reference,
            differences: Default::default(),
        }
    }

    /// Adds a decision if it was a choice.
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
        self.begin(moves, winner)?;
        for (team, mv) in decision.position.moves().enumerate() {
            let after = decision.position.play(mv);
            features.visit(&after, mover, |feature, _| self.add(feature, team, binary));
        }
        self.end();
        Ok(())
    }

    fn begin(&mut self, size: usize, winner: usize) -> Result<(), MmError> {
        let start = self.teams.len();
        let end = u32::try_from(start + size).map_err(|_| MmError::TooMany)?;
        self.teams.decisions.resize(start + size, self.teams.winners.len() as u32);
        self.teams.winners.push((start + winner) as u32);
        self.teams.starts.push(end);
        self.size = size;
        Ok(())
    }

    #[inline]
    fn add(&mut self, feature: usize, team: usize, binary: bool) {
        let place = &mut self.places[feature];
        if *place == 0 {
            self.present.push(feature as u32);
            *place = self.present.len() as u32;
            self.counts.resize(self.present.len() * self.size, 0);
        }
        let count = &mut self.counts[(*place as usize - 1) * self.size + team];
        *count = if binary { 1 } else { count.saturating_add(1) };
    }

    fn end(&mut self) {
        let first = self.teams.len() - self.size;
        for (&feature, counts) in self.present.iter().zip(self.counts.chunks_exact(self.size)) {
            self.places[feature as usize] = 0;
            let reference = match self.reference {
                Reference::Nothing => 0,
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

    /// Sorts the differences by feature and exponent; within a group the teams keep their order.
    fn finish(self) -> Teams {
        let (features, exponents, members) = self.differences;
        let mut teams = self.teams;
        let mut ends = vec![0usize; self.places.len() + 1];
        features.iter().for_each(|&feature| ends[feature as usize + 1] += 1);
        for feature in 0..self.places.len() {
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
        for feature in 0..self.places.len() {
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
                teams.players.push(Player { feature: feature as u32, groups, wins });
            }
        }
        teams
    }
}

/// The number that occurs most, the smallest of several.
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
