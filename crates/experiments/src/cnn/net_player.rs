//! Networks as players (section VI): matches from the 1,000 openings with White to move, both
//! colors.

use super::opponents::OpponentSuite;
use super::trained_nets::TrainedNetCache;
use super::{NetSpec, Percentage};
use crate::context::ExperimentError;
use outflank_arena::{ContestConfig, ContestEvent, EarlyEnd, EarlyEndReason, play_contest};
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_learners::cnn::EnsemblePolicy;
use outflank_models::embedded;
use outflank_players::registry::{RegistryError, factory, policy_factory};
use outflank_players::{PlayerFactory, PlySwitch};
use outflank_runs::{files, stop_requested, toml_error_message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// File name of the strongest published player at one ply.
pub const COCMAES: &str = "JaskowskiSzubert2015CoCMAES-4+2x2";

/// File name of the best preference learner among the thirteen opponents.
pub const IPREF_N: &str = "RunnarsonLucas2014IPrefN";

/// Points in percent, and the number of games.
pub type Score = Percentage;

/// Stored match scores of a player, by opponent.
#[derive(Default, Serialize, Deserialize)]
struct StoredScores {
    #[serde(rename = "won")]
    scores: BTreeMap<String, Score>,
    /// Checksum of the embedded champion, for matches that involve it; missing in older files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    champion: BTreeMap<String, String>,
}

/// Returns the first digits of the checksum of the embedded champion.
fn champion_checksum() -> &'static str {
    static CHAMPION: OnceLock<String> = OnceLock::new();
    CHAMPION.get_or_init(|| files::checksum(embedded::CHAMPION_FILE)[..16].to_owned())
}

/// Returns the specification of our search at a depth. Like Edax at this level, it solves positions
/// exactly from twice as many empty squares.
pub fn search(depth: u32) -> String {
    format!("champion@{depth}e{}", 2 * depth)
}

/// Returns the specification of Edax at a level, if the user gave its command.
pub fn edax(nets: &TrainedNetCache<'_>, level: u32) -> Option<String> {
    let command = nets.context().edax.as_ref()?;
    Some(format!("{command}?level={level}&name=Edax-{level}"))
}

/// Returns the specification of a published player, if it is available.
pub fn published_player(nets: &TrainedNetCache<'_>, name: &str) -> Option<String> {
    nets.context().published_player(name).map(|path| path.display().to_string())
}

/// A player that makes the network's moves in a range of plies.
pub struct PlyReplacement<'a> {
    /// The plies, counted from 1.
    pub plies: RangeInclusive<u32>,
    /// The specification of the player.
    pub player: &'a str,
}

/// A network or an ensemble as a player, with its stored match scores.
pub struct NetPlayer<'a> {
    nets: &'a TrainedNetCache<'a>,
    specs: Vec<NetSpec>,
    /// Whether all networks are trained.
    is_available: bool,
    predictor: Option<Arc<EnsemblePolicy>>,
    stored: StoredScores,
}

impl<'a> NetPlayer<'a> {
    /// Creates the player of these networks.
    pub fn new(
        nets: &'a TrainedNetCache<'a>,
        specs: &[NetSpec],
    ) -> Result<NetPlayer<'a>, ExperimentError> {
        let mut is_available = true;
        for &spec in specs {
            // This must precede reading the scores: retraining a network deletes them.
            is_available &= nets.train_or_load(spec)?.is_some();
        }
        let (specs, stored) = (specs.to_vec(), StoredScores::default());
        let mut player = NetPlayer { nets, specs, is_available, predictor: None, stored };
        let path = player.path();
        if is_available && path.is_file() {
            let bytes = files::read(&path, 1 << 20)?;
            let text = String::from_utf8_lossy(&bytes);
            player.stored = toml::from_str(&text).map_err(|error| {
                let (path, error) = (path.display(), toml_error_message(&text, &error));
                let text = format!("{path}: {error}. Delete the file to play the games again.");
                ExperimentError::Training(text)
            })?;
        }
        Ok(player)
    }

    fn path(&self) -> std::path::PathBuf {
        let first = self.specs.first().copied().unwrap_or(NetSpec::new("conv8-bn"));
        self.nets.folder(first).join(format!("won-{}.toml", self.specs.len()))
    }

    /// Returns the model, if its weights are available.
    fn predictor(&mut self) -> Result<Option<Arc<EnsemblePolicy>>, ExperimentError> {
        if self.predictor.is_none() {
            self.predictor = self.nets.predictor(&self.specs)?;
        }
        Ok(self.predictor.clone())
    }

    /// Returns the stored score against an opponent, or the score of a new match if the weights are
    /// available. With `replacement`, another player makes the network's moves in a range of plies
    /// (section VI-E).
    pub fn score_against(
        &mut self,
        opponent: &str,
        replacement: Option<PlyReplacement<'_>>,
    ) -> Result<Option<Score>, ExperimentError> {
        if !self.is_available {
            return Ok(None);
        }
        let (context, rounds) = (self.nets.context(), self.nets.params().rounds);
        let name = Path::new(opponent).file_stem().unwrap_or_default().to_string_lossy();
        let name = if opponent.contains('?') { opponent.to_owned() } else { name.into_owned() };
        let key = match &replacement {
            Some(PlyReplacement { plies, player }) => {
                format!("{name}, {}-{} by {player}, {rounds} rounds", plies.start(), plies.end())
            }
            None => format!("{name}, {rounds} rounds"),
        };
        let players = [Some(opponent), replacement.as_ref().map(|replacement| replacement.player)];
        let with_champion = players.into_iter().flatten().any(|name| name.starts_with("champion"));
        let has_other_champion = |stored: &String| with_champion && stored != champion_checksum();
        if let Some(&score) = self.stored.scores.get(&key) {
            if !self.stored.champion.get(&key).is_some_and(has_other_champion) {
                return Ok(Some(score));
            }
            (context.log)(&format!("{key}: played with another champion; playing again"));
        }
        let Some(predictor) = self.predictor()? else { return Ok(None) };
        (context.log)(&format!("playing against {key}"));
        let score = self.play(opponent, replacement, &predictor)?;
        if with_champion {
            self.stored.champion.insert(key.clone(), champion_checksum().to_owned());
        }
        self.stored.scores.insert(key, score);
        let text = toml::to_string(&self.stored).map_err(ExperimentError::training)?;
        files::write(&self.path(), text.as_bytes())?;
        Ok(Some(score))
    }

    /// Plays a match and returns the score of the network.
    fn play(
        &self,
        opponent: &str,
        replacement: Option<PlyReplacement<'_>>,
        predictor: &Arc<EnsemblePolicy>,
    ) -> Result<Score, ExperimentError> {
        let (context, rounds) = (self.nets.context(), self.nets.params().rounds);
        let mut own: PlayerFactory<Othello> = policy_factory("network", predictor.clone(), 0.0);
        if let Some(PlyReplacement { plies, player }) = replacement {
            let (inner, other) = (own.clone(), factory::<Othello>(player)?);
            own = own.combined_with(&other.clone(), move || {
                Ok(Box::new(PlySwitch::new(inner.make()?, other.make()?, plies.clone())))
            });
        }
        let players = [own, factory::<Othello>(opponent)?];
        for player in &players {
            player.make().and_then(|mut player| player.new_game()).map_err(RegistryError::from)?;
        }
        let (openings, _) = context.openings(Side::White)?;
        let config = ContestConfig {
            openings,
            rounds,
            seed: context.seed,
            threads: context.threads,
            remote: None,
        };
        let (mut points, mut games) = (0u64, 0u64);
        let mut forfeit = None;
        let complete = play_contest(&players, &[(0, 1)], &config, None, |event| {
            let ContestEvent::Games(played, _) = event else { return true };
            games += played.len() as u64;
            points += played.iter().map(|game| u64::from(game.half_points_of(0))).sum::<u64>();
            forfeit = played.iter().find_map(|game| match &game.played.early_end {
                Some(EarlyEnd { reason: EarlyEndReason::Failed(error), .. }) => Some(error.clone()),
                _ => None,
            });
            forfeit.is_none()
        })?;
        if let Some(what) = forfeit {
            // A forfeit says nothing about playing strength.
            let text =
                format!("a game against {opponent} was forfeited: {what}. No score is stored.");
            return Err(ExperimentError::Training(text));
        }
        predictor.take_error().map_err(ExperimentError::training)?;
        if !complete || stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        Ok((50.0 * points as f64 / games.max(1) as f64, games))
    }

    /// Returns the mean score against the suite, if the scores against all opponents are available.
    pub fn mean_score(&mut self, suite: &OpponentSuite) -> Result<Option<Score>, ExperimentError> {
        let (mut sum, mut games, mut count) = (0.0, 0, 0);
        for opponent in &suite.players {
            let Some(score) = self.score_against(opponent, None)? else { return Ok(None) };
            (sum, games, count) = (sum + score.0, games + score.1, count + 1);
        }
        Ok(Some((sum / f64::from(count.max(1)), games)))
    }
}
