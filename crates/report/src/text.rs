//! Text for people: escaping, cleaning, widths and numbers.

/// What stands where a number is missing.
pub const MISSING: &str = "–";

/// Escapes text for HTML and XML, in elements and in quoted attributes alike. Characters that XML
/// forbids, or that could reorder the text around them, become U+FFFD.
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
            c => out.push(visible(c)),
        }
    }
    out
}

/// Makes text safe for one line of a terminal: control characters, which could move the cursor or
/// change colours, become U+FFFD, and line ends and tabs become spaces.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { visible(c) }).collect()
}

/// A harmless stand-in for characters that are controls, reorder text or are no characters.
fn visible(c: char) -> char {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}');
    let separates = matches!(c, '\u{2028}' | '\u{2029}');
    let nothing = matches!(c, '\u{fffe}' | '\u{ffff}');
    if c.is_control() || reorders || separates || nothing { '\u{fffd}' } else { c }
}

/// How many columns text takes in a terminal: marks that combine take none, East Asian wide
/// characters and most emoji two.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f
        | 0x483..=0x489
        | 0x591..=0x5bd
        | 0x610..=0x61a
        | 0x64b..=0x65f
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x200b..=0x200d
        | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f
        | 0xfeff
        | 0xe0100..=0xe01ef => 0,
        0x1100..=0x115f
        | 0x231a..=0x231b
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x1fa70..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// A number with this many decimals, never `-0`; a dash where it is not finite.
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let text = format!("{value:.decimals$}");
    let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A number with the half-width of its interval, such as `61.3 ± 2.1`; without the latter where
/// it is missing or not positive.
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

/// A whole number with commas between thousands.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
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
    fn hostile_names_become_harmless() {
        assert_eq!(escape("<b a='x' b=\"y\">&"), "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
        assert_eq!(
            escape("a\0b\u{1b}[31m\u{202e}c\u{ffff}"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}c\u{fffd}"
        );
        assert_eq!(clean("a\nb\u{1b}[2Jc\u{9b}d\te"), "a b\u{fffd}[2Jc\u{fffd}d e");
        assert_eq!(escape("Þórður Ünal 李"), "Þórður Ünal 李");
    }

    #[test]
    fn widths_of_common_scripts() {
        assert_eq!(width("iPref-N"), 7);
        assert_eq!(width("Þórður"), 6);
        assert_eq!(width("e\u{301}a"), 2);
        assert_eq!(width("李世石"), 6);
        assert_eq!(width("ｆｕｌｌ"), 8);
        assert_eq!(width("🏆"), 2);
        assert_eq!(width("±–−"), 3);
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!(number(-0.04, 1), "0.0");
        assert_eq!(number(-0.06, 1), "-0.1");
        assert_eq!(number(f64::NAN, 2), MISSING);
        assert_eq!(number(f64::NEG_INFINITY, 2), MISSING);
        assert_eq!(with_error(61.25, Some(2.0), 1), "61.2 ± 2.0");
        assert_eq!(with_error(61.0, Some(f64::NAN), 0), "61");
        assert_eq!(with_error(f64::NAN, Some(1.0), 0), MISSING);
        assert_eq!([count(0), count(999), count(1000)], ["0", "999", "1,000"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }
}
