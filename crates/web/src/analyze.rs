//! Streams the analysis of a game as JSON lines, one for each move and iteration.

use crate::work_slots::LineSender;
use outflank_analysis::evaluate::DEFAULT_THRESHOLD;
use outflank_analysis::game_analysis::EXACT_FROM;
use outflank_analysis::{AnalysisRange, AnalyzedMove, BoardView, GameAnalyzer};
use outflank_games::Line;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Analyzes a game for at most this time, from the depths that the client knows. The first line has
/// the number of plies and the unit of values; the last line has `done`.
pub fn analyze<P: BoardView>(
    line: &Line<P>,
    time: Duration,
    known_depths: &[u32],
    threads: usize,
    out: &mut LineSender,
) {
    let start = Instant::now();
    out.send(&json!({ "plies": line.moves().len(), "unit": P::UNIT }));
    let stop = out.stop_signal();
    let analyzer = GameAnalyzer::selective(DEFAULT_THRESHOLD, EXACT_FROM, threads)
        .or_else(|| P::default_model().map(|model| GameAnalyzer::new(model, EXACT_FROM, threads)));
    let range =
        AnalysisRange { time: Some(time), max_depth: u32::MAX, extend_exact: true, known_depths };
    let positions: Vec<P> = line.steps().map(|(position, _)| position).collect();
    // An iteration goes from the last move to the first, so the reply to a move is known before the move.
    let mut lines: Vec<Vec<P::Move>> = vec![Vec::new(); positions.len() + 1];
    let depth = analyzer.map_or(0, |analyzer| {
        analyzer.analyze_progressively(line, range, stop.control(), |analyzed| {
            let reply = lines.get(analyzed.ply).map_or(&[][..], Vec::as_slice);
            let note = positions.get(analyzed.ply - 1).and_then(|at| at.explain(analyzed, reply));
            out.send(&to_json::<P>(analyzed, note));
            if let Some(line) = lines.get_mut(analyzed.ply - 1) {
                line.clone_from(&analyzed.pv);
            }
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    out.send(&json!({ "done": true, "depth": depth, "seconds": seconds }));
}

/// Converts an analyzed move to JSON; `value_after` is the value for Black.
fn to_json<P: BoardView>(analyzed: &AnalyzedMove<P::Move>, note: Option<String>) -> Value {
    let strings = |moves: &[P::Move]| moves.iter().map(ToString::to_string).collect::<Vec<_>>();
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
        "line": strings(&analyzed.pv),
        "value": analyzed.value,
        "value_after": analyzed.value_after(),
        "loss": analyzed.loss,
        "grade": analyzed.loss.map(P::grade),
        "better": better,
        "exact": analyzed.exact,
        "depth": analyzed.depth,
        "selectivity": analyzed.selectivity,
        "legal_moves": analyzed.legal_moves,
        "note": note,
    })
}
