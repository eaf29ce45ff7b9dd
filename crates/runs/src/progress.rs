//! How far a long piece of work has come, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Things worth a line of their own on standard error while work goes on; they do not tear a
/// progress line that is there at the same time.
#[derive(Clone, Debug)]
pub struct Notes {
    bar: Arc<Mutex<Option<ProgressBar>>>,
    quiet: bool,
}

impl Notes {
    /// Notes that are shown unless the user wants quiet.
    #[must_use]
    pub fn new(quiet: bool) -> Notes {
        Notes { bar: Arc::default(), quiet }
    }

    /// From now on this progress line is there.
    pub fn beside(&self, progress: &Progress) {
        let bar = Some(progress.bar.clone());
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    /// A line.
    pub fn tell(&self, text: &str) {
        if self.quiet {
            return;
        }
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
