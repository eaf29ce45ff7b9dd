//! The analysis of one game in iterations of increasing depth, with the values so far on the terminal.

use crate::cli::AnalyzeArgs;
use outflank_analysis::{AnalysisRange, AnalyzedMove, GameAnalyzer};
use outflank_games::Line;
use outflank_games::othello::{Othello, Square};
use outflank_players::SearchControl;
use outflank_runs::stop_requested;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time between two looks at stop requests.
const POLL: Duration = Duration::from_millis(50);

/// The minimum time between two drawings.
const REDRAW: Duration = Duration::from_millis(250);

/// The number of moves in a line.
const MOVES_PER_LINE: usize = 6;

/// Analyzes a game up to the depth of the arguments. Returns the analyzed moves; after a stop request
/// these are the values so far, of the moves that have one.
pub(super) fn run(
    analyzer: &GameAnalyzer<Othello>,
    line: &Line<Othello>,
    args: &AnalyzeArgs,
) -> Vec<AnalyzedMove<Square>> {
    let mut moves: Vec<Option<AnalyzedMove<Square>>> = vec![None; line.moves().len()];
    let mut view = LiveView::new(args.quiet);
    let control = Arc::new(SearchControl::unlimited());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if stop_requested() {
                    control.stop();
                }
                std::thread::sleep(POLL);
            }
        });
        let range = AnalysisRange {
            time: None,
            max_depth: args.search_depth(),
            extend_exact: false,
            known_depths: &[],
        };
        analyzer.analyze_progressively(line, range, &control, |analyzed| {
            if let Some(slot) = moves.get_mut(analyzed.ply - 1) {
                *slot = Some(analyzed.clone());
            }
            view.update(&moves);
        });
        is_done.store(true, Ordering::Relaxed);
    });
    view.clear();
    moves.into_iter().flatten().collect()
}

/// The values so far on standard error, if it is a terminal.
struct LiveView {
    is_visible: bool,
    lines: usize,
    drawn: Instant,
}

impl LiveView {
    fn new(quiet: bool) -> LiveView {
        let is_visible = !quiet && std::io::stderr().is_terminal();
        LiveView { is_visible, lines: 0, drawn: Instant::now() }
    }

    fn update(&mut self, moves: &[Option<AnalyzedMove<Square>>]) {
        if !self.is_visible || self.drawn.elapsed() < REDRAW {
            return;
        }
        let text = format_moves(moves);
        self.clear();
        // A terminal that is gone does not end the analysis.
        let _ = std::io::stderr().write_all(text.as_bytes());
        self.lines = text.lines().count();
        self.drawn = Instant::now();
    }

    /// Removes what was drawn.
    fn clear(&mut self) {
        if self.lines > 0 {
            let _ = write!(std::io::stderr(), "\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}

/// Formats the moves with their values for Black and the signs of mistakes.
fn format_moves(moves: &[Option<AnalyzedMove<Square>>]) -> String {
    let depths = || moves.iter().flatten().filter(|one| !one.exact).map(|one| one.depth);
    let exact = moves.iter().flatten().filter(|one| one.exact).count();
    let mut text = format!(
        "depth {} to {}, {exact} moves exact; Ctrl-C keeps the values so far\n",
        depths().min().unwrap_or(0),
        depths().max().unwrap_or(0)
    );
    for row in moves.chunks(MOVES_PER_LINE) {
        for analyzed in row {
            let cell = analyzed.as_ref().map_or(String::new(), |one| {
                let value =
                    one.value_after().map_or("?".to_owned(), |value| format!("{value:+.0}"));
                let sign = match one.loss.map(outflank_analysis::grade) {
                    Some("inaccuracy") => "?!",
                    Some("mistake") => "?",
                    Some("blunder") => "??",
                    _ => "",
                };
                format!("{}.{} {value}{sign}", one.ply, one.played)
            });
            let _ = write!(text, "{cell:<13}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Othello;

    #[test]
    fn live_values_fit_a_small_terminal() {
        let analyzer = GameAnalyzer::selective(1.5, 0, 1).unwrap();
        let mut line = Line::<Othello>::default();
        for mv in ["f5", "d6", "c3"] {
            line.push(mv.parse().unwrap()).unwrap();
        }
        let found = analyzer.analyze(&line, 2, |_| true).unwrap();
        let moves: Vec<_> =
            found.into_iter().map(Some).chain(std::iter::repeat_n(None, 57)).collect();
        let text = format_moves(&moves);
        assert_eq!(text.lines().count(), 11);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.contains("1.f5") && text.contains("3.c3"), "{text}");
    }
}
