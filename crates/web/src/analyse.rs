//! A whole game, looked at move by move: what the position was worth, what would have been better,
//! and what the difference cost.
//!
//! The game is gone through several times, each time deeper, so that the first picture is there at
//! once and gets sharper while one looks at it; the end of the game is solved. Positions are shared
//! out among threads, each result being sent as it comes.

use crate::game::Shown;
use crate::searches::{Lines, Stop};
use crate::think::{Thought, Worth, glance, judge_at};
use outflank_games::Line;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The plies looked ahead in each pass; the first only glances, from the second on the end of the
/// game is solved.
const PASSES: [u32; 7] = [1, 2, 4, 6, 8, 10, 12];

/// A difference below this many points is no mistake.
const TIE: f64 = 0.05;

/// Goes through a game until the time is over; every line sent is one move, and the last one says
/// that it is done.
pub fn analyse<P: Shown>(line: &Line<P>, time: Duration, threads: usize, out: &mut Lines) {
    let begun = Instant::now();
    let stop = out.stop();
    let steps: Vec<(P, P::Move)> = line.steps().collect();
    let mut solved = vec![false; steps.len()];
    let mut finished = 0;
    out.say(&json!({ "plies": steps.len(), "unit": P::UNIT }));
    for depth in PASSES {
        let pass_begun = Instant::now();
        let left: Vec<usize> = (0..steps.len()).rev().filter(|&ply| !solved[ply]).collect();
        let done = pass(&steps, &left, depth, threads, &stop, begun + time, |ply, thought| {
            solved[ply] = thought.exact;
            out.say(&told(&steps[ply], ply, thought));
        });
        if !done {
            break;
        }
        finished = depth;
        // The first two are always made. A further one takes some ten times as long as the one
        // before, and is begun while there is time for a good part of it.
        if depth > 1 && begun.elapsed() + 3 * pass_begun.elapsed() > time {
            break;
        }
    }
    out.say(&json!({
        "done": true,
        "depth": finished,
        "seconds": begun.elapsed().as_secs_f64(),
    }));
}

/// One pass over the plies that are left; whether all were reached in time.
fn pass<P: Shown>(
    steps: &[(P, P::Move)],
    plies: &[usize],
    depth: u32,
    threads: usize,
    stop: &Stop,
    until: Instant,
    mut each: impl FnMut(usize, &Thought<P::Move>),
) -> bool {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, plies.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while !stop.requested() && (depth <= 2 || Instant::now() < until) {
                    let Some(&ply) = plies.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    let position = &steps[ply].0;
                    let found = match depth {
                        1 => glance(position),
                        // The second pass, which solves the end, is made to its end.
                        2 => judge_at(position, depth, stop, None),
                        _ => judge_at(position, depth, stop, Some(until)),
                    };
                    let Some(thought) = found else { continue };
                    if sender.send((ply, thought)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut count = 0;
        for (ply, thought) in receiver {
            each(ply, &thought);
            count += 1;
        }
        count == plies.len()
    })
}

/// One move for the page. The worth is Black's.
fn told<P: Shown>(
    (position, played): &(P, P::Move),
    ply: usize,
    found: &Thought<P::Move>,
) -> Value {
    let side = position.to_move();
    let best = found.moves.first().map_or(0.0, |judged| judged.worth.points());
    let mine = found.moves.iter().find(|judged| judged.mv == *played);
    let mine_worth = mine.map_or(best, |judged| judged.worth.points());
    let better: Vec<Value> = found
        .moves
        .iter()
        .take_while(|judged| judged.worth.points() > mine_worth + TIE)
        .take(4)
        .map(|judged| {
            json!({
                "move": judged.mv.to_string(),
                "gain": judged.worth.points() - mine_worth,
                "line": judged.line.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    let decided = |worth: Worth| matches!(worth, Worth::Decided(_));
    let exact = found.exact || found.moves.iter().all(|judged| decided(judged.worth));
    json!({
        "ply": ply + 1,
        "side": side.to_string(),
        "played": played.to_string(),
        "best": found.moves.iter()
            .take_while(|judged| judged.worth.points() >= best - TIE)
            .map(|judged| judged.mv.to_string()).collect::<Vec<_>>(),
        "worth": f64::from(side.sign()) * mine_worth,
        "loss": (best - mine_worth).max(0.0),
        "better": better,
        "exact": exact,
        "depth": found.depth,
        "choices": found.moves.len(),
    })
}
