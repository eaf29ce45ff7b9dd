//! An analysed game as one page that stands alone, from what the page has of it.

use crate::error::ApiError;
use crate::game::Sent;
use outflank_analysis::game_analysis::Seen;
use outflank_analysis::report::{self, GameReport};
use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use serde::Deserialize;

/// What stands below the result.
const HOW: &str = "Figures are estimates of the search where they do not say that they are exact.";

/// A game and what an analysis found, as the page has it.
#[derive(Debug, Deserialize)]
pub struct Analysed {
    /// The game.
    #[serde(flatten)]
    pub game: Sent,
    /// Who played Black, in the reader's words.
    #[serde(default)]
    pub black: String,
    /// Who played White.
    #[serde(default)]
    pub white: String,
    /// What was found about each move.
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// One move of an analysis.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Which move, from 1.
    pub ply: usize,
    /// Black's margin after it.
    pub worth: f64,
    /// What it cost.
    pub loss: f64,
    /// Whether that is certain.
    pub exact: bool,
    /// The best moves.
    pub best: Vec<String>,
}

impl Row {
    /// What was seen in a game; what came from outside is taken only as far as it is a move there.
    fn seen(&self, (position, played): (Othello, Square)) -> Seen<Square> {
        let side = position.to_move();
        Seen {
            ply: self.ply,
            side,
            played,
            best: self.best.iter().filter_map(|text| position.parse_move(text).ok()).collect(),
            better: Vec::new(),
            value: Some(self.worth + f64::from(side.sign()) * self.loss),
            loss: Some(self.loss),
            exact: self.exact,
            depth: 0,
            choices: position.moves().count(),
        }
    }
}

/// The page.
pub fn page(asked: &Analysed) -> Result<String, ApiError> {
    let line = asked.game.othello()?;
    let steps: Vec<(Othello, Square)> = line.steps().collect();
    let mut moves = Vec::with_capacity(asked.rows.len());
    for row in &asked.rows {
        let step = row.ply.checked_sub(1).and_then(|place| steps.get(place));
        let another = || ApiError::Bad("the analysis is of another game".to_owned());
        moves.push(row.seen(*step.ok_or_else(another)?));
    }
    moves.sort_by_key(|seen| seen.ply);
    moves.dedup_by_key(|seen| seen.ply);
    let name = |name: &str, side: &str| -> String {
        let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        if name.is_empty() { side.to_owned() } else { name }
    };
    let title = format!("{} – {}", name(&asked.black, "Black"), name(&asked.white, "White"));
    let looked = [GameReport::new(title, None, line, moves)];
    Ok(report::page(&looked, HOW).to_html())
}
