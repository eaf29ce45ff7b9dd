//! The opponents of the page and their moves.
//!
//! A player comes from the list of rated players or from a run folder. Text from a client is never
//! parsed as a player specification, because a specification can start programs.

use crate::error::ApiError;
use crate::runs::Runs;
use crate::work_slots::StopSignal;
use outflank_analysis::levels::{self, DEFAULT_LEVEL, Level};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Position};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{PlayerError, PlayerFactory, player_rating, player_ratings};
use outflank_runs::rng::stream;
use serde_json::{Value, json};

/// Returns the opponents of each game with their ratings, as JSON.
#[must_use]
pub fn list(runs: &Runs) -> Value {
    let opponents = |game: Game| -> Value {
        let to_json = |player: &str, title: &str, description: &str| {
            let rating = player_rating(game, player).and_then(|player_rating| player_rating.rating);
            json!({
                "player": player,
                "title": title,
                "description": description,
                "rating": rating.map(|r| r.0),
                "error": rating.map(|r| r.1),
                "default": title == DEFAULT_LEVEL,
            })
        };
        let levels: Vec<&Level> = levels::levels(game).collect();
        let others = player_ratings()
            .filter(|s| s.game == game && !levels.iter().any(|level| level.player == s.name));
        let others: Vec<Value> = others.map(|s| to_json(s.name, s.name, "")).collect();
        let levels: Vec<Value> =
            levels.iter().map(|l| to_json(l.player, l.title, l.description)).collect();
        json!({ "levels": levels, "others": others })
    };
    let trained: Vec<Value> = runs
        .with_model()
        .into_iter()
        .map(|name| {
            json!({ "player": format!("run:{name}"), "title": name, "description": "Trained in a run." })
        })
        .collect();
    json!({
        "othello": opponents(Othello::GAME),
        "checkers": opponents(Checkers::GAME),
        "runs": trained,
        "note": "Ratings are Elo with a mean of 1600 over all players; ± is a 95% confidence \
                 interval. `outflank players` prints the same list.",
    })
}

/// Finds the factory of a rated player or, for `run:NAME`, of the model of a run.
fn find<P: RegisteredGame>(player: &str, runs: &Runs) -> Result<PlayerFactory<P>, ApiError> {
    if let Some(name) = player.strip_prefix("run:") {
        let file = registry::run_model_path(&runs.folder(name)?);
        let model = P::load(&file, None).map_err(ApiError::bad_request)?;
        let no_policy = || ApiError::BadRequest(format!("run '{name}' has no model that plays"));
        return Ok(registry::policy_factory(name, model.policy().ok_or_else(no_policy)?, 0.0));
    }
    match player_rating(P::GAME, player).is_some() {
        true => registry::factory::<P>(player).map_err(ApiError::bad_request),
        false => Err(ApiError::BadRequest(format!(
            "unknown opponent '{player}' for {}. /api/players lists the opponents.",
            P::GAME
        ))),
    }
}

/// Chooses a player's move, which depends only on the game and the seed. Fails if `stop` is set.
pub fn choose<P: RegisteredGame>(
    line: &Line<P>,
    player: &str,
    seed: u64,
    runs: &Runs,
    stop: &StopSignal,
) -> Result<P::Move, ApiError> {
    if line.position().is_over() {
        return Err(ApiError::Conflict("the game is over".to_owned()));
    }
    let factory = find::<P>(player, runs)?;
    let failed =
        |error: PlayerError| ApiError::Internal(format!("player {player} failed: {error}"));
    let mut opponent = factory.make().map_err(failed)?;
    opponent.new_game().map_err(failed)?;
    opponent.set_control(stop.control());
    let mut rng = stream(seed, &["web", &line.moves().len().to_string()]);
    opponent.choose(line, &mut rng).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_signal_ends_the_search() {
        let runs = Runs::new("no such folder".into());
        let line = Line::<Othello>::default();
        for player in ["champion@6e14", "champion@8e16", "random@mcts1000"] {
            let (unset, set) = (StopSignal::default(), StopSignal::default());
            set.control().stop();
            assert!(choose(&line, player, 1, &runs, &set).is_err(), "{player}");
            if player == "random@mcts1000" {
                assert!(choose(&line, player, 1, &runs, &unset).is_ok());
            }
        }
    }
}
