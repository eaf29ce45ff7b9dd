//! Generates distinct openings or games, resuming from a journal.
//!
//! Each attempt has its own RNG stream, so the result does not depend on the number of threads or
//! on interruptions. Every attempt is written to a journal, whether it succeeded or not.

use crate::labeling::{LabelConfig, Labeler};
use crate::{EarlyEndReason, play_game};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_players::{Mcts, Player, PlayerError, PlayerFactory, Random, Searchable};
use outflank_records::{GameInfo, Ply, Record, transcript};
use outflank_runs::files::FileError;
use outflank_runs::{Journal, parallel_in_order, rng, stop_requested};
use std::collections::HashSet;

/// Generating stops after this many consecutive attempts without a new result.
const MAX_UNSUCCESSFUL_ATTEMPTS: u64 = 20_000;

/// An error while generating games or openings.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// The journal could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A player failed.
    #[error("{0}")]
    Player(String),
    /// A game of the journal cannot be read.
    #[error("game {number} of the journal is invalid: '{text}'. Start a new run with --out.")]
    Journal {
        /// The number of the game, from 1; duplicates are not counted.
        number: usize,
        /// The text of the game.
        text: String,
    },
}

/// Progress of generating games or openings, restored from its journal.
#[derive(Clone, Debug, Default)]
pub struct GenerationState {
    /// Distinct results in the order of their attempts.
    pub found: Vec<String>,
    /// Attempts, including those without a new result.
    pub attempts: u64,
    seen: HashSet<String>,
    /// Consecutive attempts without a new result.
    unsuccessful: u64,
}

impl GenerationState {
    /// Restores the results of earlier attempts, one per journal line.
    #[must_use]
    pub fn from_lines(lines: Vec<String>) -> GenerationState {
        let mut state = GenerationState::default();
        lines.into_iter().for_each(|line| state.add(line));
        state
    }

    fn add(&mut self, text: String) {
        self.attempts += 1;
        if text.is_empty() || !self.seen.insert(text.clone()) {
            self.unsuccessful += 1;
        } else {
            self.found.push(text);
            self.unsuccessful = 0;
        }
    }

    /// Makes attempts in order until `count` results are found, the user requests a stop, or
    /// [`MAX_UNSUCCESSFUL_ATTEMPTS`] is reached. `progress` receives the number of results after
    /// each attempt.
    fn run<S>(
        &mut self,
        count: usize,
        threads: usize,
        journal: &mut Journal,
        new_player: impl Fn() -> S + Sync,
        attempt: impl Fn(&mut S, usize) -> Result<String, String> + Sync,
        mut progress: impl FnMut(usize),
    ) -> Result<(), GenerationError> {
        let first = self.attempts as usize;
        let mut failed = None;
        if self.found.len() < count {
            parallel_in_order(
                usize::MAX - first,
                threads,
                new_player,
                |player, job| attempt(player, first + job),
                |_, text| {
                    let written = text.map_err(GenerationError::Player).and_then(|text| {
                        journal.append(&[&text])?;
                        Ok(text)
                    });
                    match written {
                        Ok(text) => self.add(text),
                        Err(error) => {
                            failed = Some(error);
                            return false;
                        }
                    }
                    progress(self.found.len());
                    self.found.len() < count
                        && self.unsuccessful < MAX_UNSUCCESSFUL_ATTEMPTS
                        && !stop_requested()
                },
            );
        }
        journal.sync()?;
        match failed {
            Some(error) => Err(error),
            None => {
                self.found.truncate(count);
                Ok(())
            }
        }
    }
}

/// Options of [`generate_openings`].
#[derive(Clone, Copy, Debug)]
pub struct OpeningGenerationConfig {
    /// Number of distinct positions.
    pub count: usize,
    /// Plies from the starting position.
    pub plies: u32,
    /// MCTS simulations per move.
    pub simulations: u32,
    /// Seed of all RNG streams.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Generates openings: positions after the first plies of games played by MCTS (Runarsson & Lucas
/// (2014), section VIII-E).
pub fn generate_openings<P: Searchable>(
    config: OpeningGenerationConfig,
    journal: &mut Journal,
    state: &mut GenerationState,
    progress: impl FnMut(usize),
) -> Result<(), GenerationError> {
    let new_player = || Mcts::<P>::new(config.simulations);
    let attempt =
        |player: &mut Mcts<P>, number: usize| Ok(generate_opening(player, config, number));
    state.run(config.count, config.threads, journal, new_player, attempt, progress)
}

/// Plays the first plies of a game and returns the position; empty if the game ended before.
fn generate_opening<P: Searchable>(
    player: &mut Mcts<P>,
    config: OpeningGenerationConfig,
    number: usize,
) -> String {
    let mut rng = rng::stream(config.seed, &["openings", &number.to_string()]);
    let mut line = Line::<P>::default();
    for _ in 0..config.plies {
        match player.choose(&line, &mut rng) {
            Ok(mv) if line.push(mv).is_ok() => {}
            _ => return String::new(),
        }
    }
    if line.position().is_over() { String::new() } else { line.position().to_string() }
}

/// Options of [`generate_games`].
#[derive(Clone, Copy, Debug)]
pub struct GameGenerationConfig {
    /// Number of distinct games.
    pub count: usize,
    /// Random plies at the start of each game.
    pub random_plies: u32,
    /// Seed of all RNG streams.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Generates games of a player against itself from random openings: transcripts, or
/// [labeled games](outflank_records::labels) if `labels` is given.
pub fn generate_games(
    player: &PlayerFactory<Othello>,
    config: GameGenerationConfig,
    labels: Option<&LabelConfig>,
    journal: &mut Journal,
    state: &mut GenerationState,
    progress: impl FnMut(usize),
) -> Result<(), GenerationError> {
    let new_players = || {
        let players = player.make().and_then(|black| Ok((black, player.make()?)));
        players.map(|(black, white)| (black, white, labels.map(Labeler::new)))
    };
    state.run(
        config.count,
        config.threads,
        journal,
        new_players,
        |workers, number| {
            let (black, white, labeler) =
                workers.as_mut().map_err(|error: &mut PlayerError| error.to_string())?;
            let game = generate_game(&player.name, [&mut **black, &mut **white], config, number)?;
            match labeler {
                Some(labeler) if !game.is_empty() => label_game(labeler, &game, config),
                _ => Ok(game),
            }
        },
        progress,
    )
}

/// Plays one game and returns its transcript; empty if it ended in the opening.
fn generate_game(
    name: &str,
    [black, white]: [&mut dyn Player<Othello>; 2],
    config: GameGenerationConfig,
    number: usize,
) -> Result<String, String> {
    let mut rng = rng::stream(config.seed, &["generate", &number.to_string()]);
    let mut opening = Line::<Othello>::default();
    for _ in 0..config.random_plies {
        match Random.choose(&opening, &mut rng) {
            Ok(mv) if opening.push(mv).is_ok() => {}
            _ => return Ok(String::new()),
        }
    }
    let played = play_game(black, white, &opening, &mut rng);
    match played.early_end.map(|end| end.reason) {
        Some(EarlyEndReason::Resigned) => Err(format!(
            "player {name} resigned a game; use a player that plays every game to its end"
        )),
        Some(EarlyEndReason::Failed(error)) => Err(error),
        None => Ok(played.line.moves().iter().map(ToString::to_string).collect()),
    }
}

/// Labels the positions of a game after its random plies.
fn label_game(
    labeler: &mut Labeler,
    game: &str,
    config: GameGenerationConfig,
) -> Result<String, String> {
    let game = transcript::game(game.as_bytes()).map_err(|error| error.to_string())?;
    Ok(labeler.label(game, config.random_plies as usize).to_line())
}

/// Converts generated games to records; the first `random_plies` moves are marked as random.
pub fn generated_records(
    name: &str,
    random_plies: usize,
    games: &[String],
) -> Result<Vec<Record<Othello>>, GenerationError> {
    let record = |(index, text): (usize, &String)| {
        let invalid = || GenerationError::Journal { number: index + 1, text: text.clone() };
        let game = transcript::game(text.as_bytes()).map_err(|_| invalid())?;
        let info = GameInfo {
            black: name.to_owned(),
            white: name.to_owned(),
            event: "Outflank".to_owned(),
            result: game.end().tournament_score(),
            ..GameInfo::default()
        };
        let mut record = Record::new(*game.start(), info);
        for (number, ply) in game.plies().iter().enumerate() {
            record.push(Ply { random: number < random_plies, ..*ply }).map_err(|_| invalid())?;
        }
        Ok(record)
    };
    games.iter().enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_empty_results_count_as_attempts_only() {
        let lines = ["a", "", "b", "a", "a"].map(str::to_owned).to_vec();
        let state = GenerationState::from_lines(lines);
        assert_eq!(state.found, ["a", "b"]);
        assert_eq!((state.attempts, state.unsuccessful), (5, 2));
    }

    #[test]
    fn an_interrupted_generation_continues_with_the_same_openings() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            OpeningGenerationConfig { count: 12, plies: 4, simulations: 5, seed: 3, threads: 2 };
        let generate = |name: &str, count: usize| {
            let (mut journal, lines) = Journal::open(&folder.path().join(name)).unwrap();
            let mut state = GenerationState::from_lines(lines);
            let config = OpeningGenerationConfig { count, ..config };
            generate_openings::<Othello>(config, &mut journal, &mut state, |_| {}).unwrap();
            state.found
        };
        let uninterrupted = generate("uninterrupted", 12);
        assert_eq!(uninterrupted.len(), 12);
        assert_eq!(generate("resumed", 5), uninterrupted[..5]);
        assert_eq!(generate("resumed", 12), uninterrupted);
    }

    #[test]
    fn opening_plies_of_generated_games_are_marked_as_random() {
        let records = generated_records("name", 2, &["f5d6c3".to_owned()]).unwrap();
        let random: Vec<bool> = records[0].plies().iter().map(|ply| ply.random).collect();
        assert_eq!(random, [true, true, false]);
        assert!(generated_records("name", 0, &["f5f5".to_owned()]).is_err());
    }
}
