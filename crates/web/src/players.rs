//! Opponents: what they are called in plain words, how strong they are, and how one is asked for a
//! move.
//!
//! A player is taken from the published list or from a run folder. What a client writes is never
//! handed to the roster as it is: a player there may be a program to start.

use crate::error::ApiError;
use crate::runs::Runs;
use crate::searches::Stop;
use outflank_analysis::levels::{self, FIRST, Level};
use outflank_games::{Game, Line};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{Entry, Fault, strength, strengths};
use outflank_runs::rng::stream;
use serde_json::{Value, json};

/// Everybody whom one may play, by game, with ratings where they were measured.
#[must_use]
pub fn list(runs: &Runs) -> Value {
    let of = |game: Game| -> Value {
        let told = |player: &str, title: &str, about: &str| {
            let rating = strength(game, player).and_then(|strength| strength.rating);
            json!({
                "player": player,
                "title": title,
                "about": about,
                "rating": rating.map(|r| r.0),
                "error": rating.map(|r| r.1),
                "first": title == FIRST,
            })
        };
        let levels: Vec<&Level> = levels::levels(game).collect();
        let others = strengths()
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
fn find<P: RegisteredGame>(player: &str, runs: &Runs) -> Result<Entry<P>, ApiError> {
    if let Some(name) = player.strip_prefix("run:") {
        let file = registry::run_model_path(&runs.folder(name)?);
        let model = P::load(&file, None).map_err(ApiError::bad)?;
        let unable = || ApiError::Bad(format!("the run '{name}' has not learned a player"));
        return Ok(registry::policy_factory(name, model.policy().ok_or_else(unable)?, 0.0));
    }
    match strength(P::GAME, player).is_some() {
        true => registry::factory::<P>(player).map_err(ApiError::bad),
        false => Err(ApiError::Bad(format!(
            "there is no opponent '{player}' for {}; /api/players lists them",
            P::GAME
        ))),
    }
}

/// The move that a player makes; the same seed and game give the same move. When nobody waits for it any
/// more, it stops thinking.
pub fn choose<P: RegisteredGame>(
    line: &Line<P>,
    player: &str,
    seed: u64,
    runs: &Runs,
    stop: &Stop,
) -> Result<P::Move, ApiError> {
    if line.position().is_over() {
        return Err(ApiError::Conflict("the game is over".to_owned()));
    }
    let entry = find::<P>(player, runs)?;
    let failed = |fault: Fault| ApiError::Failed(format!("{player} does not answer: {fault}"));
    let mut opponent = entry.make().map_err(failed)?;
    opponent.new_game().map_err(failed)?;
    opponent.set_control(stop.control());
    let mut rng = stream(seed, &["web", &line.moves().len().to_string()]);
    opponent.choose(line, &mut rng).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Othello;

    #[test]
    fn nobody_thinks_for_someone_who_has_gone() {
        let runs = Runs::new("no such folder".into());
        let line = Line::<Othello>::default();
        for player in ["champion@6e14", "champion@8e16", "random@mcts1000"] {
            let (here, gone) = (Stop::default(), Stop::default());
            gone.control().stop();
            assert!(choose(&line, player, 1, &runs, &gone).is_err(), "{player}");
            if player == "random@mcts1000" {
                assert!(choose(&line, player, 1, &runs, &here).is_ok());
            }
        }
    }
}
