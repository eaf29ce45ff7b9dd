//! Renders an analyzed game as a self-contained HTML report. The page sends the analysis that it
//! has received.

use crate::error::ApiError;
use crate::game::GameRequest;
use outflank_analysis::AnalyzedMove;
use outflank_analysis::report::{self, GameReport};
use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use serde::Deserialize;

/// The note about the search settings below the result.
const SEARCH_SETTINGS: &str = "Values are estimates of the search unless they are marked as exact.";

/// The maximum length of a player's name.
const MAX_NAME_LENGTH: usize = 60;

/// A request for a report.
#[derive(Debug, Deserialize)]
pub struct ReportRequest {
    /// The game.
    #[serde(flatten)]
    pub game: GameRequest,
    /// The name of the Black player.
    #[serde(default)]
    pub black: String,
    /// The name of the White player.
    #[serde(default)]
    pub white: String,
    /// The analyzed moves.
    #[serde(default)]
    pub rows: Vec<AnalysisRow>,
}

/// An analyzed move in a request.
#[derive(Clone, Debug, Deserialize)]
pub struct AnalysisRow {
    /// The number of the move, from 1.
    pub ply: usize,
    /// The value after the move, for Black.
    pub value_after: f64,
    /// The loss of the move.
    pub loss: f64,
    /// Whether value and loss are exact.
    pub exact: bool,
    /// The best moves.
    pub best: Vec<String>,
}

impl AnalysisRow {
    /// Converts the row to an analyzed move. Illegal best moves are omitted.
    fn to_analyzed(&self, (position, played): (Othello, Square)) -> AnalyzedMove<Square> {
        let side = position.to_move();
        AnalyzedMove {
            ply: self.ply,
            side,
            played,
            best: self.best.iter().filter_map(|text| position.parse_move(text).ok()).collect(),
            better: Vec::new(),
            value: Some(self.value_after + f64::from(side.sign()) * self.loss),
            loss: Some(self.loss),
            exact: self.exact,
            depth: 0,
            selectivity: None,
            pv: Vec::new(),
            legal_moves: position.moves().count(),
        }
    }
}

/// Builds the HTML page.
pub fn build_page(request: &ReportRequest) -> Result<String, ApiError> {
    let line = request.game.parse_othello()?;
    let steps: Vec<(Othello, Square)> = line.steps().collect();
    let mut moves = Vec::with_capacity(request.rows.len());
    for row in &request.rows {
        let step = row.ply.checked_sub(1).and_then(|index| steps.get(index));
        let mismatch = || ApiError::BadRequest("the analysis belongs to another game".to_owned());
        moves.push(row.to_analyzed(*step.ok_or_else(mismatch)?));
    }
    moves.sort_by_key(|analyzed| analyzed.ply);
    moves.dedup_by_key(|analyzed| analyzed.ply);
    let name = |name: &str, side: &str| -> String {
        let name: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME_LENGTH).collect();
        if name.is_empty() { side.to_owned() } else { name }
    };
    let title = format!("{} – {}", name(&request.black, "Black"), name(&request.white, "White"));
    let games = [GameReport::new(title, None, line, moves)];
    Ok(report::page(&games, SEARCH_SETTINGS).to_html())
}
