//! What experts would play, as the embedded network that learned from their games says.

use outflank_games::othello::{Othello, Square};
use outflank_models::embedded;

/// How likely an expert is to make each move here, likeliest first; `None` only if the program was
/// built without its move predictor. The first answer takes some tenths of a second, while the network is
/// unpacked, and each later one some hundredths.
pub(crate) fn experts(position: &Othello) -> Option<Vec<(Square, f64)>> {
    Some(embedded::experts()?.odds(position))
}
