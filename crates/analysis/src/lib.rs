#![doc = include_str!("../README.md")]

mod analysis_engine;
mod board_view;
pub mod book;
pub mod disc_scale;
pub mod endgames;
pub mod evaluate;
mod expert_predictions;
mod explain;
pub mod game_analysis;
mod game_text;
mod grade;
pub mod levels;
mod position_search;
pub mod profile;
pub mod report;
mod search_interrupt;
pub mod summary;

pub use analysis_engine::{AnalysisEngine, SearchLimits};
pub use board_view::BoardView;
pub use disc_scale::DiscScale;
pub use evaluate::{Analyzable, EvaluatedMove, PositionEvaluation, evaluate_moves};
pub use expert_predictions::ExpertPrediction;
pub use explain::{Reason, explain, reasons};
pub use game_analysis::{AnalysisRange, AnalyzedMove, BetterMove, GameAnalyzer};
pub use game_text::{GameText, GameTextError};
pub use grade::{grade, is_inaccuracy_or_worse};
pub use position_search::{PositionSearch, PositionSearchLimits};
pub use search_interrupt::SearchInterrupt;
pub use summary::LossSummary;
