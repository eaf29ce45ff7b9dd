//! How far a long piece of work has come, on a terminal only.

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
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
            "{what} {{bar:28}} {{human_pos}}/{{human_len}} {unit}  {{rate}}  {{eta}} left  {{msg}}"
        );
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let write_rate = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{}/s", rate(state.per_sec()));
            };
            bar.set_style(style.progress_chars("━━╌").with_key("rate", write_rate));
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

/// A rate with three digits that mean something: `0.0123`, `1.23`, `123`, `12,300`.
fn rate(per_second: f64) -> String {
    if !per_second.is_finite() || per_second < 1e-6 {
        return "0".to_owned();
    }
    // How many digits stand before the point; none or fewer for what is below one.
    let digits = per_second.log10().floor() as i32 + 1;
    match usize::try_from(3 - digits) {
        Ok(decimals) => format!("{per_second:.decimals$}"),
        Err(_) => {
            let unit = 10f64.powi(digits - 3);
            HumanCount(((per_second / unit).round() * unit) as u64).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_three_digits() {
        for (number, wanted) in [
            (0.0, "0"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (0.012_345_6, "0.0123"),
            (0.5, "0.500"),
            (1.234_56, "1.23"),
            (12.345_6, "12.3"),
            (123.456, "123"),
            (1234.56, "1,230"),
            (12_345_678.9, "12,300,000"),
        ] {
            assert_eq!(rate(number), wanted, "{number}");
        }
    }
}
