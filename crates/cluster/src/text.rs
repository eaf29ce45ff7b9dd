//! Text from other processes, made safe for a terminal and for files.

/// Maximum length of a worker's name.
const MAX_NAME: usize = 100;

/// Replaces line feeds and tabs by spaces and other control or bidirectional characters by U+FFFD,
/// and truncates the text to `max` characters. Terminal escapes in worker names and error messages therefore have no effect.
pub(crate) fn sanitize(text: &str, max: usize) -> String {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut safe: String = text
        .chars()
        .take(max)
        .map(|c| match c {
            '\n' | '\t' => ' ',
            _ if is_unsafe(c) => char::REPLACEMENT_CHARACTER,
            _ => c,
        })
        .collect();
    if text.chars().nth(max).is_some() {
        safe.push('…');
    }
    safe
}

/// Returns whether this can be the name of a worker: letters, digits, `.`, `_` and `-`.
pub(crate) fn is_worker_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_replaced() {
        assert_eq!(
            sanitize("a\u{1b}[31mred\u{9b}0m\nb\u{202e}", 100),
            "a\u{fffd}[31mred\u{fffd}0m b\u{fffd}"
        );
        assert_eq!(sanitize("été", 100), "été");
        assert_eq!(sanitize("abcdef", 3), "abc…");
        for (name, valid) in
            [("node-1.example_2", true), ("", false), ("a b", false), ("\u{1b}[2J", false)]
        {
            assert_eq!(is_worker_name(name), valid, "{name:?}");
        }
        assert!(!is_worker_name(&"x".repeat(101)));
    }
}
