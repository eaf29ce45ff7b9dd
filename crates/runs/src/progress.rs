//! Progress bar and messages on standard error.

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

/// A progress bar on standard error with throughput and estimated time left.
///
/// Hidden if standard error is not a terminal or the user chose `--quiet`. Cleared on drop.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Creates a bar labeled `label` for `total` units of work, such as `games`.
    #[must_use]
    pub fn new(label: &str, unit: &str, total: u64, quiet: bool) -> Progress {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = format!(
            "{label} {{bar:28}} {{human_pos}}/{{human_len}} {unit}  {{rate}}  {{eta}} left  {{msg}}"
        );
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let write_rate = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{}/s", format_rate(state.per_sec()));
            };
            bar.set_style(style.progress_chars("━━╌").with_key("rate", write_rate));
        }
        Progress { bar }
    }

    /// Advances the bar by `done` units.
    pub fn add(&self, done: u64) {
        self.bar.inc(done);
    }

    /// Sets the position of a resumed run. Units done earlier do not count toward the throughput.
    pub fn set_position(&self, done: u64) {
        self.bar.set_position(done);
        self.bar.reset_eta();
    }

    /// Sets the message shown after the bar.
    pub fn set_message(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Prints messages on standard error without garbling a progress bar shown at the same time.
#[derive(Clone, Debug)]
pub struct ProgressLog {
    bar: Arc<Mutex<Option<ProgressBar>>>,
    quiet: bool,
}

impl ProgressLog {
    /// Creates a log that prints nothing if `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> ProgressLog {
        ProgressLog { bar: Arc::default(), quiet }
    }

    /// Prints above this progress bar from now on.
    pub fn attach(&self, progress: &Progress) {
        let bar = Some(progress.bar.clone());
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    /// Prints a line.
    pub fn println(&self, text: &str) {
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

/// Formats a rate with three significant digits: `0.0123`, `1.23`, `123`, `12,300`.
fn format_rate(per_second: f64) -> String {
    if !per_second.is_finite() || per_second < 1e-6 {
        return "0".to_owned();
    }
    // Digits before the decimal point; zero or negative below one.
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
    fn rates_have_three_significant_digits() {
        for (rate, expected) in [
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
            assert_eq!(format_rate(rate), expected, "{rate}");
        }
    }
}
