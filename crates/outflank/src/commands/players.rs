//! `outflank players`: the embedded players and their ratings.

use crate::Outcome;
use crate::cli::PlayersArgs;
use crate::errors::ensure_usage;
use crate::output::{format_count, print, print_json, table_width};
use anyhow::Result;
use outflank_analysis::levels;
use outflank_games::Game;
use outflank_models::files::save;
use outflank_players::player_ratings;
use outflank_players::registry::EMBEDDED_PLAYERS;
use outflank_report::{Align, Table};
use serde_json::json;
use std::path::Path;

/// Lists the embedded players, alone and with the searches that have ratings.
pub fn run(args: &PlayersArgs) -> Result<Outcome> {
    if let (Some(name), Some(to)) = (&args.model, &args.to) {
        return write(name, to, args.json);
    }
    let wanted = args.game.map(Game::from);
    let mut table = Table::new([
        ("player", Align::Left),
        ("game", Align::Left),
        ("kind", Align::Left),
        ("level", Align::Left),
        ("rating", Align::Right),
        ("±", Align::Right),
        ("description", Align::Left),
    ]);
    let mut players = Vec::new();
    for rated in player_ratings().filter(|s| wanted.is_none_or(|game| game == s.game)) {
        let model = rated.name.split('@').next().unwrap_or(rated.name);
        let embedded = EMBEDDED_PLAYERS.iter().find(|e| e.name == model && e.game == rated.game);
        let kind = match (embedded, rated.name.split_once('@')) {
            (Some(_), Some((_, search))) if search.starts_with("mcts") => "MCTS",
            (Some(_), Some(_)) => "alpha-beta",
            (Some(embedded), None) => embedded.kind,
            (None, _) => continue,
        };
        let level = levels::level_for_player(rated.game, rated.name);
        let about = match (embedded, level) {
            (Some(embedded), _) if rated.name == model => embedded.about,
            (_, Some(level)) => level.description,
            _ => "",
        };
        let level = level.map(|level| level.title);
        table.row([
            rated.name.to_owned(),
            rated.game.name().to_owned(),
            kind.to_owned(),
            level.unwrap_or_default().to_owned(),
            rated.rating.map_or("-".to_owned(), |r| format!("{}", r.0.round())),
            rated.rating.map_or("-".to_owned(), |r| format!("{}", r.1.round())),
            about.to_owned(),
        ]);
        players.push(json!({
            "name": rated.name,
            "game": rated.game.name(),
            "kind": kind,
            "level": level,
            "about": about,
            "rating": rated.rating.map(|r| r.0),
            "error": rated.rating.map(|r| r.1),
        }));
    }
    if args.json {
        print_json(&json!({ "players": players }))?;
    } else {
        print(&format!(
            "{}\nRatings are in Elo with mean 1600 over the players of a game; ± is the half-width of the 95% CI.\n\
             Value models can search: heuristic@6, heuristic@4e12. random@mcts2000 is MCTS with random playouts.\n\
             Play one with `outflank play --player PLAYER` or `--level LEVEL`.\n",
            table.to_text_within(table_width())
        ))?;
    }
    Ok(Outcome::Done)
}

/// Writes a model to a file.
fn write(name: &str, to: &Path, as_json: bool) -> Result<Outcome> {
    let (model, origin) = crate::model_source::load_named(name)?;
    ensure_usage!(!to.exists(), "{} exists; name another file with --to", to.display());
    save(to, &model, &origin)?;
    let (kind, weights) = (model.kind(), model.weight_count());
    if as_json {
        print_json(&json!({ "model": name, "kind": kind, "weights": weights, "file": to }))?;
    } else {
        let weights = format_count(weights as u64);
        print(&format!("{}: {name}, {kind}, {weights} weights\n", to.display()))?;
    }
    Ok(Outcome::Done)
}
