//! Durations on the command line: `90s`, `10m`, `2h`, `1h30m`.

use std::time::Duration;

/// The longest duration, to catch typos.
const LONGEST: f64 = 1e8;

/// Parses a duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a duration; write 90s, 10m, 2h or 1h30m");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let number: f64 = rest[..digits].trim().parse().map_err(|_| wrong())?;
        let unit = match rest.as_bytes()[digits] {
            b's' => 1.0,
            b'm' => 60.0,
            b'h' => 3600.0,
            b'd' => 86_400.0,
            _ => return Err(wrong()),
        };
        seconds += unit * number;
        rest = rest[digits + 1..].trim_start();
    }
    if !(0.0..=LONGEST).contains(&seconds) {
        return Err(format!("'{text}' is out of range; give 0s or more"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, seconds) in
            [("90s", 90.0), ("10m", 600.0), ("2h", 7200.0), ("1h30m", 5400.0), ("0.5m", 30.0)]
        {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
        for text in ["", "10", "m", "-1s", "nans", "1x", "10 minutes", "1e300h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
