//! Opponents: what they are called in plain words, how strong they are, and how one is asked for a
//! move.
//!
//! A player is taken from the published list or from a run folder. What a client writes is never
//! handed to the roster as it is: a player there may be a program to start.

use crate::error::ApiError;
use crate::runs::Runs;
use outflank_games::{Game, Line};
use outflank_players::Entry;
use outflank_players::roster::{self, Roster, strengths};
use outflank_runs::rng::stream;
use serde_json::{Value, json};

/// A level in plain words.
struct Level {
    game: Game,
    player: &'static str,
    title: &'static str,
    about: &'static str,
}

/// A level of Othello.
const fn othello(player: &'static str, title: &'static str, about: &'static str) -> Level {
    Level { game: Game::Othello, player, title, about }
}

/// A level of checkers.
const fn checkers(player: &'static str, title: &'static str, about: &'static str) -> Level {
    Level { game: Game::Checkers, player, title, about }
}

/// From the weakest to the strongest.
const LEVELS: [Level; 14] = [
    othello("random", "First steps", "Plays any legal move."),
    othello("heuristic", "Newcomer", "Likes corners, sees one move ahead."),
    othello("heuristic@4", "Casual", "Likes corners, sees four moves ahead."),
    othello("ipref", "Club player", "Plays by feel, as experts chose; does not calculate."),
    othello("champion", "Strong club player", "Learned by itself; does not calculate."),
    othello("champion@2", "Tournament player", "Looks two moves ahead."),
    othello("champion@4e12", "Expert", "Looks four moves ahead; the last twelve without error."),
    othello("champion@6e14", "Master", "Looks six moves ahead; the last fourteen without error."),
    checkers("random", "First steps", "Plays any legal move."),
    checkers("material", "Newcomer", "Counts pieces, sees one move ahead."),
    checkers("material@2", "Casual", "Counts pieces, sees two moves ahead."),
    checkers("material@4", "Club player", "Counts pieces, sees four moves ahead."),
    checkers("material@6", "Strong club player", "Counts pieces, sees six moves ahead."),
    checkers("random@mcts1000", "Expert", "Plays a thousand games in its head for each move."),
];

/// The player that a newcomer meets.
const FIRST: [&str; 2] = ["heuristic@4", "material@2"];

/// Everybody whom one may play, by game, with ratings where they were measured.
#[must_use]
pub fn list(runs: &Runs) -> Value {
    let rated: Vec<_> = strengths().collect();
    let of = |game: Game| -> Value {
        let rating = |player: &str| {
            rated.iter().find(|s| s.game == game && s.name == player).and_then(|s| s.rating)
        };
        let told = |player: &str, title: &str, about: &str| {
            let rating = rating(player);
            json!({
                "player": player,
                "title": title,
                "about": about,
                "rating": rating.map(|r| r.0),
                "error": rating.map(|r| r.1),
                "first": FIRST.contains(&player),
            })
        };
        let levels: Vec<&Level> = LEVELS.iter().filter(|level| level.game == game).collect();
        let others = rated
            .iter()
            .filter(|s| s.game == game && !levels.iter().any(|level| level.player == s.name));
        let others: Vec<Value> = others.map(|s| told(s.name, s.name, "")).collect();
        let levels: Vec<Value> = levels.iter().map(|l| told(l.player, l.title, l.about)).collect();
        json!({ "levels": levels, "others": others })
    };
    let learned: Vec<Value> = runs
        .learned()
        .into_iter()
        .map(|name| json!({ "player": format!("run:{name}"), "title": name, "about": "A run of yours." }))
        .collect();
    json!({
        "othello": of(Game::Othello),
        "checkers": of(Game::Checkers),
        "runs": learned,
        "note": "Ratings are Elo with a mean of 1600 among our players, with 95% error bars; \
                 `outflank players` lists the same.",
    })
}

/// The player of this name, if a client may ask for it.
fn find<P: Roster>(player: &str, runs: &Runs) -> Result<Entry<P>, ApiError> {
    if let Some(name) = player.strip_prefix("run:") {
        let folder = runs.folder(name)?;
        let text = folder.join("model.toml");
        let file = if text.is_file() { text } else { folder.join("model.safetensors") };
        let model = P::load(&file, None).map_err(ApiError::bad)?;
        let unable = || ApiError::Bad(format!("the run '{name}' has not learned a player"));
        return Ok(roster::policy_entry(name, model.policy().ok_or_else(unable)?, 0.0));
    }
    match strengths().any(|strength| strength.game == P::GAME && strength.name == player) {
        true => roster::entry::<P>(player).map_err(ApiError::bad),
        false => Err(ApiError::Bad(format!(
            "there is no opponent '{player}' for {}; /api/players lists them",
            P::GAME
        ))),
    }
}

/// The move that a player makes; the same seed and game give the same move.
pub fn choose<P: Roster>(
    line: &Line<P>,
    player: &str,
    seed: u64,
    runs: &Runs,
) -> Result<P::Move, ApiError> {
    if line.position().is_over() {
        return Err(ApiError::Conflict("the game is over".to_owned()));
    }
    let entry = find::<P>(player, runs)?;
    let failed = |fault| ApiError::Failed(format!("{player} does not answer: {fault}"));
    let mut opponent = entry.make().map_err(failed)?;
    opponent.begin().map_err(failed)?;
    let mut rng = stream(seed, &["web", &line.moves().len().to_string()]);
    opponent.choose(line, &mut rng).map_err(failed)
}
