//! Axis scales, ticks and tick labels.

/// Maximum absolute value of a drawable number. Larger ones could overflow in axis arithmetic.
const MAX_MAGNITUDE: f64 = 1e100;

/// Returns whether a number can be drawn.
pub(super) fn is_drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= MAX_MAGNITUDE
}

/// A mapping from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    integer_ticks: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Creates a scale that maps `range` to the pixels `from` to `to`. An empty range is widened,
    /// and an invalid one becomes 0..1.
    pub(super) fn new(range: (f64, f64), log: bool, from: f64, to: f64) -> Self {
        let (mut low, mut high) = range;
        if !(is_drawable(low) && is_drawable(high) && low <= high && (!log || low > 0.0)) {
            (low, high) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if high - low <= 1e-12 * (high.abs() + low.abs()) {
            let margin = if high == 0.0 { 1.0 } else { 0.1 * high.abs() };
            (low, high) = if log { (0.9 * low, 1.1 * high) } else { (low - margin, high + margin) };
        }
        Self { low, high, log, integer_ticks: false, from, to }
    }

    /// Restricts ticks to integers.
    pub(super) fn with_integer_ticks(mut self) -> Self {
        self.integer_ticks = true;
        self
    }

    /// Extends the range to the next ticks, for a tick spacing in pixels.
    pub(super) fn rounded(mut self, spacing: f64) -> Self {
        if !self.log {
            let step = self.step(spacing);
            self.low = step * libm::floor(self.low / step + 1e-9);
            self.high = step * libm::ceil(self.high / step - 1e-9);
        }
        self
    }

    /// Returns the pixel of a value.
    pub(super) fn to_pixel(self, value: f64) -> f64 {
        let share = if self.log {
            let log = |value: f64| libm::log10(value.max(f64::MIN_POSITIVE));
            (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Returns the pixel of a value, clamped to the range.
    pub(super) fn to_pixel_clamped(self, value: f64) -> f64 {
        self.to_pixel(value).clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// Returns ticks at round values with their labels, about `spacing` pixels apart or more.
    pub(super) fn ticks(&self, spacing: f64) -> Vec<(f64, String)> {
        let mut values = if self.log { self.decades(spacing) } else { Vec::new() };
        let step = self.step(spacing);
        if values.len() < 2 {
            let (first, last) =
                (libm::ceil(self.low / step - 1e-9), libm::floor(self.high / step + 1e-9));
            let count = (last - first).clamp(0.0, 100.0) as usize;
            values = (0..=count).map(|k| (first + k as f64) * step).collect();
            let labels = labels(&values, step);
            return values.into_iter().zip(labels).collect();
        }
        values.into_iter().map(|value| (value, labels(&[value], value).concat())).collect()
    }

    /// Returns the tick step for a spacing in pixels: 1, 2, 2.5 or 5 times a power of ten.
    fn step(&self, spacing: f64) -> f64 {
        let max_ticks =
            libm::floor((self.to - self.from).abs() / spacing.max(1.0)).clamp(1.0, 20.0);
        let min_step = (self.high - self.low) / max_ticks;
        let unit = libm::exp10(libm::floor(libm::log10(min_step)));
        let fits = [1.0, 2.0, 2.5, 5.0].into_iter().find(|round| round * unit >= min_step * 0.999);
        let step = fits.unwrap_or(10.0) * unit;
        match (self.integer_ticks, step) {
            (true, step) if step < 1.0 => 1.0,
            (true, 2.5) => 5.0,
            _ => step,
        }
    }

    /// Returns powers of ten, with multiples of 2 and 5 if the spacing allows.
    fn decades(&self, spacing: f64) -> Vec<f64> {
        let (first, last) =
            (libm::floor(libm::log10(self.low)), libm::ceil(libm::log10(self.high)));
        let per_decade = (self.to - self.from).abs()
            / (libm::log10(self.high) - libm::log10(self.low)).max(1e-9);
        let factors: &[f64] = if per_decade > 3.5 * spacing { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let stride = libm::ceil(spacing / per_decade).max(1.0);
        let mut values = Vec::new();
        let mut power = first;
        while power <= last && values.len() < 100 {
            values.extend(factors.iter().map(|factor| factor * libm::exp10(power)));
            power += stride;
        }
        values.retain(|value| (self.low * 0.999..=self.high * 1.001).contains(value));
        values
    }
}

/// Formats tick labels with common decimals and unit.
fn labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let (unit, suffix) = match largest {
        x if x >= 1e15 => return values.iter().map(|value| format!("{value:e}")).collect(),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let step = step / unit;
    let decimals = (0..=6).find(|&decimals| {
        let scaled = step * libm::exp10(f64::from(decimals));
        (scaled - libm::rint(scaled)).abs() < 1e-6 * scaled
    });
    let label = |value: &f64| match (decimals, *value == 0.0) {
        (_, true) => "0".to_owned(),
        (Some(decimals), _) => {
            let text = crate::text::number(value / unit, decimals as usize);
            format!("{}{suffix}", text.replace('-', "−"))
        }
        (None, _) => format!("{value:.1e}").replace('-', "−"),
    };
    values.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(low: f64, high: f64, log: bool, pixels: f64) -> Vec<String> {
        let scale = Scale::new((low, high), log, 0.0, pixels);
        scale.ticks(50.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(shown(0.0, 1.0, false, 300.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(shown(-3.0, 7.0, false, 260.0), ["−2", "0", "2", "4", "6"]);
        assert_eq!(shown(0.0, 2e6, false, 260.0), ["0", "0.5M", "1.0M", "1.5M", "2.0M"]);
        assert_eq!(shown(0.0, 50_000.0, false, 310.0), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(shown(1.0, 1e6, true, 900.0).len(), 7);
        assert_eq!(shown(1.0, 100.0, true, 900.0), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(shown(3.0, 3.0, false, 200.0).len(), 3);
    }

    #[test]
    fn integer_ticks() {
        let shown = |low: f64, high: f64| -> Vec<String> {
            let scale = Scale::new((low, high), false, 0.0, 500.0).with_integer_ticks();
            scale.ticks(50.0).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(shown(1.0, 6.0), ["1", "2", "3", "4", "5", "6"]);
        assert_eq!(shown(1.0, 1.0), ["1"]);
        assert_eq!(shown(0.0, 25.0), ["0", "5", "10", "15", "20", "25"]);
    }

    #[test]
    fn any_range_results_in_a_scale() {
        let extreme = [f64::NAN, f64::INFINITY, -1e300, 0.0, 1e-300, 5.0, 1e99];
        for low in extreme {
            for high in extreme {
                for log in [false, true] {
                    let scale = Scale::new((low, high), log, 0.0, 500.0).rounded(40.0);
                    let ticks = scale.ticks(40.0);
                    assert!(ticks.len() <= 101);
                    assert!(ticks.iter().all(|(value, _)| scale.to_pixel(*value).is_finite()));
                }
            }
        }
    }
}
