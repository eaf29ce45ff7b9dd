//! A whole game, looked at move by move, for the page: `desk::analysis` looks, and every line sent is
//! what it has found about one move so far.

use crate::searches::Lines;
use outflank_analysis::Shown;
use outflank_analysis::game_analysis::{GameAnalyzer, EXACT_FROM, Seen};
use outflank_games::Line;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Goes through a game until the time is over; the last line says that it is done.
pub fn analyse<P: BoardView>(line: &Line<P>, time: Duration, threads: usize, out: &mut Lines) {
    let begun = Instant::now();
    out.say(&json!({ "plies": line.moves().len(), "unit": P::UNIT }));
    let stop = out.stop();
    let depth = P::adviser().map_or(0, |adviser| {
        let analyst = GameAnalyzer::new(adviser, EXACT_FROM, threads);
        analyst.sharpen(line, time, stop.control(), |seen| out.say(&told(seen)))
    });
    let seconds = begun.elapsed().as_secs_f64();
    out.say(&json!({ "done": true, "depth": depth, "seconds": seconds }));
}

/// One move for the page. The worth is Black's.
fn told<M: ToString>(seen: &Seen<M>) -> Value {
    let written = |moves: &[M]| moves.iter().map(ToString::to_string).collect::<Vec<_>>();
    let better: Vec<Value> = seen
        .better
        .iter()
        .map(|better| {
            json!({
                "move": better.mv.to_string(),
                "gain": better.gain,
                "line": written(&better.line),
            })
        })
        .collect();
    json!({
        "ply": seen.ply,
        "side": seen.side.to_string(),
        "played": seen.played.to_string(),
        "best": written(&seen.best),
        "worth": seen.value_after(),
        "loss": seen.loss,
        "better": better,
        "exact": seen.exact,
        "depth": seen.depth,
        "choices": seen.choices,
    })
}
