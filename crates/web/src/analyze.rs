//! Streams the analysis of a game as JSON lines, one for each move and iteration.

use crate::work_slots::LineSender;
use outflank_analysis::game_analysis::EXACT_FROM;
use outflank_analysis::{AnalyzedMove, BoardView, GameAnalyzer};
use outflank_games::Line;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Analyzes a game for at most this time. The first line has the number of plies and the unit of
/// values; the last line has `done`.
pub fn analyze<P: BoardView>(line: &Line<P>, time: Duration, threads: usize, out: &mut LineSender) {
    let start = Instant::now();
    out.send(&json!({ "plies": line.moves().len(), "unit": P::UNIT }));
    let stop = out.stop_signal();
    let depth = P::default_model().map_or(0, |model| {
        let analyzer = GameAnalyzer::new(model, EXACT_FROM, threads);
        analyzer.analyze_progressively(line, time, stop.control(), |analyzed| {
            out.send(&to_json(analyzed));
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    out.send(&json!({ "done": true, "depth": depth, "seconds": seconds }));
}

/// Converts an analyzed move to JSON; `value_after` is the value for Black.
fn to_json<M: ToString>(analyzed: &AnalyzedMove<M>) -> Value {
    let strings = |moves: &[M]| moves.iter().map(ToString::to_string).collect::<Vec<_>>();
    let better: Vec<Value> = analyzed
        .better
        .iter()
        .map(|better| {
            json!({
                "move": better.mv.to_string(),
                "gain": better.gain,
                "line": strings(&better.pv),
            })
        })
        .collect();
    json!({
        "ply": analyzed.ply,
        "side": analyzed.side.to_string(),
        "played": analyzed.played.to_string(),
        "best": strings(&analyzed.best),
        "value_after": analyzed.value_after(),
        "loss": analyzed.loss,
        "better": better,
        "exact": analyzed.exact,
        "depth": analyzed.depth,
        "legal_moves": analyzed.legal_moves,
    })
}
