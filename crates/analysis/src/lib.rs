#![doc = include_str!("../README.md")]

mod analysis_engine;
mod board_view;
pub mod disc_scale;
pub mod endgames;
pub mod evaluate;
mod expert_predictions;
pub mod game_analysis;
mod game_text;
mod grade;
pub mod levels;
pub mod report;
mod search_interrupt;

pub use analysis_engine::{AnalysisEngine, SearchLimits};
pub use board_view::BoardView;
pub use disc_scale::DiscScale;
pub use evaluate::{Analyzable, EvaluatedMove, PositionEvaluation, evaluate_moves};
pub use expert_predictions::ExpertPrediction;
pub use game_analysis::{AnalyzedMove, BetterMove, GameAnalyzer};
pub use game_text::{GameText, GameTextError};
pub use grade::grade;
pub use search_interrupt::SearchInterrupt;
