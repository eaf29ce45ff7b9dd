//! Text formatting: escaping, display width, word wrap and numbers.

use unicode_width::UnicodeWidthStr;

/// Placeholder for a missing number.
pub const MISSING: &str = "–";

/// Escapes text for HTML and XML, in elements and quoted attributes. Characters that XML forbids,
/// or that could reorder the surrounding text, become U+FFFD.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c => out.push(sanitize_char(c)),
        }
    }
    out
}

/// Makes text safe for one line of a terminal: control characters become U+FFFD, and line breaks
/// and tabs become spaces.
#[must_use]
pub(crate) fn sanitize(text: &str) -> String {
    text.chars()
        .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { sanitize_char(c) })
        .collect()
}

/// Replaces control characters, bidirectional controls, separators and noncharacters.
fn sanitize_char(c: char) -> char {
    let is_bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}');
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
    let is_noncharacter = matches!(c, '\u{fffe}' | '\u{ffff}');
    let forbidden = c.is_control() || is_bidi || is_separator || is_noncharacter;
    if forbidden { '\u{fffd}' } else { c }
}

/// Returns the number of terminal columns of a text.
#[must_use]
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Breaks text into lines of at most `width` columns at spaces. Longer words are broken anywhere.
pub(crate) fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && display_width(&line) + 1 + display_width(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            let mut buffer = [0; 4];
            let c = c.encode_utf8(&mut buffer);
            if !line.is_empty() && display_width(&line) + display_width(c) > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(c);
        }
    }
    lines.push(line);
    lines
}

/// Formats a number with this many decimals, never as `-0`. Numbers that are not finite become
/// [`MISSING`].
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Formats a number with the half-width of its interval, such as `61.3 ± 2.1`. An error that is
/// missing, not finite or not positive is omitted.
#[must_use]
pub fn with_error(value: f64, error: Option<f64>, decimals: usize) -> String {
    let text = number(value, decimals);
    match error {
        Some(error) if value.is_finite() && error.is_finite() && error > 0.0 => {
            format!("{text} ± {}", number(error, decimals))
        }
        _ => text,
    }
}

/// Formats a number with its interval: `61.3 ± 2.1` if the interval is symmetric, else
/// `99.0 (92.1 to 100.0)`.
#[must_use]
pub fn with_interval(value: f64, (low, high): (f64, f64), decimals: usize) -> String {
    let (below, above) = (value - low, high - value);
    if !(below.is_finite() && above.is_finite()) {
        return number(value, decimals);
    }
    if number(below, decimals) == number(above, decimals) {
        return with_error(value, Some(0.5 * (high - low)), decimals);
    }
    let [value, low, high] = [value, low, high].map(|value| number(value, decimals));
    format!("{value} ({low} to {high})")
}

/// Formats a percentage with the half-width of its interval, which is clipped to 0..=100: `61.3 ±
/// 2.1`, but `99.0 (92.1 to 100.0)`.
#[must_use]
pub fn percent_with_error(percent: f64, error: f64, decimals: usize) -> String {
    with_interval(percent, clip((percent - error, percent + error), (0.0, 100.0)), decimals)
}

/// Clips an interval to the possible values.
#[must_use]
pub(crate) fn clip((low, high): (f64, f64), (min, max): (f64, f64)) -> (f64, f64) {
    // Comparisons with NaN are false, so a missing bound stays missing.
    (if low < min { min } else { low }, if high > max { max } else { high })
}

/// Formats an integer with commas between thousands.
#[must_use]
pub fn format_count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped_and_sanitized() {
        assert_eq!(escape("<b a='x' b=\"y\">&"), "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
        assert_eq!(
            escape("a\0b\u{1b}[31m\u{202e}c\u{ffff}"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}c\u{fffd}"
        );
        assert_eq!(sanitize("a\nb\u{1b}[2Jc\u{9b}d\te"), "a b\u{fffd}[2Jc\u{fffd}d e");
        assert_eq!(escape("Þórður Ünal 李"), "Þórður Ünal 李");
    }

    #[test]
    fn display_widths_of_common_scripts() {
        assert_eq!(display_width("iPref-N"), 7);
        assert_eq!(display_width("Þórður"), 6);
        assert_eq!(display_width("e\u{301}a"), 2);
        assert_eq!(display_width("李世石"), 6);
        assert_eq!(display_width("ｆｕｌｌ"), 8);
        assert_eq!(display_width("🏆"), 2);
        assert_eq!(display_width("±–−"), 3);
    }

    #[test]
    fn words_wrap_at_spaces() {
        assert_eq!(
            wrap_words("top-1 accuracy, legal moves", 9),
            ["top-1", "accuracy,", "legal", "moves"]
        );
        assert_eq!(wrap_words("李世石 abc", 4), ["李世", "石", "abc"]);
        assert_eq!(wrap_words("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap_words("", 4), [""]);
        assert_eq!(wrap_words("a b", 0), ["a", "b"]);
    }

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(number(-0.04, 1), "0.0");
        assert_eq!(number(-0.06, 1), "-0.1");
        assert_eq!(number(f64::NAN, 2), MISSING);
        assert_eq!(number(f64::NEG_INFINITY, 2), MISSING);
        assert_eq!(with_error(61.25, Some(2.0), 1), "61.2 ± 2.0");
        assert_eq!(with_error(61.0, Some(f64::NAN), 0), "61");
        assert_eq!(with_error(f64::NAN, Some(1.0), 0), MISSING);
        assert_eq!([format_count(0), format_count(999), format_count(1000)], ["0", "999", "1,000"]);
        assert_eq!(format_count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn intervals_are_clipped_to_possible_values() {
        assert_eq!(percent_with_error(61.25, 2.0, 1), "61.2 ± 2.0");
        assert_eq!(percent_with_error(100.0, 14.82, 2), "100.00 (85.18 to 100.00)");
        assert_eq!(percent_with_error(1.0, 2.5, 1), "1.0 (0.0 to 3.5)");
        assert_eq!(percent_with_error(50.0, 0.0, 1), "50.0");
        assert_eq!(percent_with_error(50.0, f64::NAN, 1), "50.0");
        assert_eq!(percent_with_error(f64::NAN, 1.0, 1), MISSING);
    }
}
