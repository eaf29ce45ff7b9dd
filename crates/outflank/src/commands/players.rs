//! `outflank players`: what there is to play against.

use crate::Outcome;
use crate::cli::PlayersArgs;
use crate::output::{grouped, print, print_json, room};
use anyhow::{Result, bail};
use outflank_analysis::levels;
use outflank_games::Game;
use outflank_models::files::save;
use outflank_players::player_ratings;
use outflank_players::registry::EMBEDDED_PLAYERS;
use outflank_report::{Align, Table};
use serde_json::json;
use std::path::Path;

/// Lists the embedded players, alone and with the searches that were rated.
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
        ("what it is", Align::Left),
    ]);
    let mut players = Vec::new();
    for strength in player_ratings().filter(|s| wanted.is_none_or(|game| game == s.game)) {
        let model = strength.name.split('@').next().unwrap_or(strength.name);
        let known = EMBEDDED_PLAYERS.iter().find(|e| e.name == model && e.game == strength.game);
        let kind = match (known, strength.name.split_once('@')) {
            (Some(_), Some((_, search))) if search.starts_with("mcts") => "tree search",
            (Some(_), Some(_)) => "alpha-beta",
            (Some(known), None) => known.kind,
            (None, _) => continue,
        };
        let level = levels::level_for_player(strength.game, strength.name);
        let about = match (known, level) {
            (Some(known), _) if strength.name == model => known.about,
            (_, Some(level)) => level.description,
            _ => "",
        };
        let level = level.map(|level| level.title);
        table.row([
            strength.name.to_owned(),
            strength.game.name().to_owned(),
            kind.to_owned(),
            level.unwrap_or_default().to_owned(),
            strength.rating.map_or("-".to_owned(), |r| format!("{}", r.0.round())),
            strength.rating.map_or("-".to_owned(), |r| format!("{}", r.1.round())),
            about.to_owned(),
        ]);
        players.push(json!({
            "name": strength.name,
            "game": strength.game.name(),
            "kind": kind,
            "level": level,
            "about": about,
            "rating": strength.rating.map(|r| r.0),
            "error": strength.rating.map(|r| r.1),
        }));
    }
    if args.json {
        print_json(&json!({ "players": players }))?;
    } else {
        print(&format!(
            "{}\nRatings are Elo with a mean of 1600 among the players of a game, ± is their 95% interval. \
             Each player may search deeper: heuristic@6, heuristic@4e12, random@mcts2000. Play one with \
             `outflank play --player PLAYER` or `--level WORDS`.\n",
            table.to_text_within(room())
        ))?;
    }
    Ok(Outcome::Done)
}

/// Writes a model for other programs.
fn write(name: &str, to: &Path, as_json: bool) -> Result<Outcome> {
    let (model, origin) = crate::models::named(name)?;
    if to.exists() {
        bail!("{} exists; give another name with --to", to.display());
    }
    save(to, &model, &origin)?;
    let (kind, weights) = (model.kind(), model.weights());
    if as_json {
        print_json(&json!({ "model": name, "kind": kind, "weights": weights, "file": to }))?;
    } else {
        let weights = grouped(weights as u64);
        print(&format!("{}: {name}, {kind}, {weights} weights\n", to.display()))?;
    }
    Ok(Outcome::Done)
}
