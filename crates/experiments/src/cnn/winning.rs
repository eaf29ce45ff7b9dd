//! Networks as players (section VI): from the 1,000 openings, White to move, both colours.

use super::school::School;
use super::suite::Suite;
use super::{Figure, Task};
use crate::lab::ExperimentError;
use outflank_arena::{ContestConfig, contest};
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_learners::cnn::EnsemblePolicy;
use outflank_models::embedded;
use outflank_players::PlayerFactory;
use outflank_players::registry::{RegistryError, entry, policy_factory};
use outflank_runs::{files, stop_requested, toml_error_message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The strongest published player at one ply, a fourteenth opponent.
pub const COCMAES: &str = "JaskowskiSzubert2015CoCMAES-4+2x2";

/// The best preference learner among the thirteen.
pub const IPREF_N: &str = "RunnarsonLucas2014IPrefN";

/// Points in per cent, and of how many games.
pub type Won = Figure;

/// What is known of a network's games.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    won: BTreeMap<String, Won>,
    /// Of games with the embedded champion, which one it was; older files do not say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    champion: BTreeMap<String, String>,
}

/// Which champion this program has: the beginning of its file's checksum.
fn champion() -> &'static str {
    static CHAMPION: OnceLock<String> = OnceLock::new();
    CHAMPION.get_or_init(|| files::checksum(embedded::CHAMPION_FILE)[..16].to_owned())
}

/// Our search at a depth: as Edax's levels, exact from twice as many empty squares.
pub fn search(depth: u32) -> String {
    format!("champion@{depth}e{}", 2 * depth)
}

/// Edax at a level, if the user named its command.
pub fn edax(school: &School<'_>, level: u32) -> Option<String> {
    let command = school.lab().edax.as_ref()?;
    Some(format!("{command}?level={level}&name=Edax-{level}"))
}

/// A published player, if it is there.
pub fn published(school: &School<'_>, name: &str) -> Option<String> {
    school.lab().published(name).map(|path| path.display().to_string())
}

/// A network's, or a bag's, player and what was found out about it.
pub struct Contender<'a> {
    school: &'a School<'a>,
    tasks: Vec<Task>,
    /// Whether there is a player at all: nothing is known of one whose networks are not.
    is_there: bool,
    predictor: Option<Arc<EnsemblePolicy>>,
    known: Known,
}

impl<'a> Contender<'a> {
    /// The player of these networks together.
    pub fn new(school: &'a School<'a>, tasks: &[Task]) -> Result<Contender<'a>, ExperimentError> {
        let mut is_there = true;
        for &task in tasks {
            // Should it be taught anew, its games go.
            is_there &= school.study(task)?.is_some();
        }
        let (tasks, known) = (tasks.to_vec(), Known::default());
        let mut contender = Contender { school, tasks, is_there, predictor: None, known };
        let path = contender.path();
        if is_there && path.is_file() {
            let bytes = files::read(&path, 1 << 20)?;
            let text = String::from_utf8_lossy(&bytes);
            contender.known = toml::from_str(&text).map_err(|error| {
                let (shown, fault) = (path.display(), toml_error_message(&text, &error));
                ExperimentError::Learn(format!("{shown}: {fault}; delete it to play anew"))
            })?;
        }
        Ok(contender)
    }

    fn path(&self) -> std::path::PathBuf {
        let first = self.tasks.first().copied().unwrap_or(Task::new("conv8-bn"));
        self.school.folder(first).join(format!("won-{}.toml", self.tasks.len()))
    }

    /// The model of the player, if it can be asked.
    fn predictor(&mut self) -> Result<Option<Arc<EnsemblePolicy>>, ExperimentError> {
        if self.predictor.is_none() {
            self.predictor = self.school.predictor(&self.tasks)?;
        }
        Ok(self.predictor.clone())
    }

    /// Its points against a player, if they are known or can be played for. In the moves from `stage.0` to
    /// `stage.1` it is replaced by another player, if so wished (section VI-E).
    pub fn against(
        &mut self,
        opponent: &str,
        stage: Option<(u32, u32, &str)>,
    ) -> Result<Option<Won>, ExperimentError> {
        if !self.is_there {
            return Ok(None);
        }
        let (lab, rounds) = (self.school.lab(), self.school.size().rounds);
        let name = Path::new(opponent).file_stem().unwrap_or_default().to_string_lossy();
        let name = if opponent.contains('?') { opponent.to_owned() } else { name.into_owned() };
        let key = match stage {
            Some((from, to, other)) => format!("{name}, {from}-{to} by {other}, {rounds} rounds"),
            None => format!("{name}, {rounds} rounds"),
        };
        let players = [Some(opponent), stage.map(|(_, _, other)| other)];
        let with_champion = players.into_iter().flatten().any(|name| name.starts_with("champion"));
        let is_other = |then: &String| with_champion && then != champion();
        if let Some(&won) = self.known.won.get(&key) {
            if !self.known.champion.get(&key).is_some_and(is_other) {
                return Ok(Some(won));
            }
            (lab.say)(&format!("{key}: that was another champion; its games do not count"));
        }
        let Some(predictor) = self.predictor()? else { return Ok(None) };
        (lab.say)(&format!("playing against {key}"));
        let mut own: PlayerFactory<Othello> = policy_factory("network", predictor.clone(), 0.0);
        if let Some((from, to, other)) = stage {
            let (inner, other) = (own.clone(), factory::<Othello>(other)?);
            own = own.combined_with(&other.clone(), move || {
                let staged = outflank_players::Staged::new(inner.make()?, other.make()?, from, to);
                Ok(Box::new(staged))
            });
        }
        let entries = [own, factory::<Othello>(opponent)?];
        for entry in &entries {
            entry.make().and_then(|mut player| player.new_game()).map_err(RegistryError::from)?;
        }
        let (openings, _) = lab.openings(Side::White)?;
        let terms =
            ContestConfig { openings, rounds, seed: lab.seed, threads: lab.threads, remote: None };
        let (mut points, mut games) = (0u64, 0u64);
        let mut fault = None;
        let complete = contest(&entries, &[(0, 1)], &terms, None, |played, _| {
            games += played.len() as u64;
            points += played.iter().map(|game| u64::from(game.half_points_of(0))).sum::<u64>();
            let failed = played.iter().find_map(|game| game.played.forfeit.as_ref());
            fault = failed.map(|(_, what)| what.clone());
            fault.is_none()
        })?;
        if let Some(what) = fault {
            // Who fails loses the game, but that says nothing about how well the other plays.
            let said = format!("a game against {name} broke off: {what}; none of its games count");
            return Err(ExperimentError::Learn(said));
        }
        predictor.take_error().map_err(|error| ExperimentError::Learn(error.to_string()))?;
        if !complete || stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let won = (50.0 * points as f64 / games.max(1) as f64, games);
        if with_champion {
            self.known.champion.insert(key.clone(), champion().to_owned());
        }
        self.known.won.insert(key, won);
        let text =
            toml::to_string(&self.known).map_err(|e| ExperimentError::Learn(e.to_string()))?;
        files::write(&self.path(), text.as_bytes())?;
        Ok(Some(won))
    }

    /// Its mean against these, if its points against each are there.
    pub fn against_all(&mut self, suite: &Suite) -> Result<Option<Won>, ExperimentError> {
        let (mut sum, mut games, mut count) = (0.0, 0, 0);
        for opponent in &suite.players {
            let Some(won) = self.against(opponent, None)? else { return Ok(None) };
            (sum, games, count) = (sum + won.0, games + won.1, count + 1);
        }
        Ok(Some((sum / f64::from(count.max(1)), games)))
    }
}
