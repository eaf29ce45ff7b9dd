//! How far a long piece of work has come, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A line on standard error with a bar, a rate and an estimate of the time left. Silent when
/// standard error is not a terminal or the user wants quiet.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A new line for `total` pieces of work, such as `games`.
    #[must_use]
    pub fn new(what: &str, unit: &str, total: u64, quiet: bool) -> Progress {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = format!(
            "{what} {{bar:28}} {{human_pos}}/{{human_len}} {unit}  {{per_sec}}  {{eta}} left  {{msg}}"
        );
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("━━╌"));
        }
        Progress { bar }
    }

    /// So many more pieces are done.
    pub fn add(&self, done: u64) {
        self.bar.inc(done);
    }

    /// Pieces that were done before this start, which say nothing about the speed.
    pub fn skip(&self, done: u64) {
        self.bar.set_position(done);
        self.bar.reset_eta();
    }

    /// A few words behind the bar.
    pub fn say(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
