//! Cleans untrusted text before it is stored in the transcript.
//!
//! Text from models, tools and files may contain escape sequences. `Shown` makes them visible; this
//! module also removes characters whose width differs between terminals.

use nacre_ops::text::Shown;
use nacre_types::Failure;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

const TAB: &str = "    ";

pub(super) fn clean(text: &str) -> String {
    if text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let text = text.replace("\r\n", "\n");
    let shown = Shown(&text).to_string();
    let mut clean = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '\t' => clean.push_str(TAB),
            // Terminals disagree about whether a variation selector changes the width of the
            // character before it.
            '\u{fe0e}' | '\u{fe0f}' => {}
            c => clean.push(c),
        }
    }
    clean
}

pub(super) fn clean_line(text: &str) -> String {
    clean(&text.replace(['\n', '\r'], " "))
}

/// Cleans program output: color codes are removed, and other escape sequences become visible.
pub(super) fn clean_output(text: &str) -> String {
    clean(&without_colors(text))
}

/// Removes `ESC [ … m` sequences, and no others.
fn without_colors(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        left.push_str(&rest[..at]);
        let parameters = &rest[at + 2..];
        let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':');
        match end {
            Some(end) if parameters[end..].starts_with('m') => rest = &parameters[end + 1..],
            Some(_) | None => {
                left.push_str("\u{1b}[");
                rest = parameters;
            }
        }
    }
    left.push_str(rest);
    left
}

pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(grapheme_width).sum() }
}

pub(super) fn grapheme_width(grapheme: &str) -> usize {
    // A terminal cell is at most two columns wide.
    grapheme.width().min(2)
}

/// Truncates text to a width. Truncated text ends with `…`.
pub(super) fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for grapheme in text.graphemes(true) {
        used += grapheme_width(grapheme);
        if used > room {
            break;
        }
        kept.push_str(grapheme);
    }
    if room > 0 {
        kept.push('…');
    }
    kept
}

/// Formats a count such as `1 line` or `2 lines`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", group_digits(n as u64)) }
}

/// Formats a number such as `1,234`.
pub(super) fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..10_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m {:02}s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{}h {:02}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

pub(super) fn failure_text(error: &Failure) -> String {
    let mut text = format!("Error: {}", error.message);
    for cause in &error.causes {
        text.push_str(&format!("\nCaused by: {cause}"));
    }
    for hint in &error.hints {
        text.push_str(&format!("\nHint: {hint}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colors_go_and_other_sequences_are_seen() {
        let cases = [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[1;38:2::1:2:3mred", "red"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("\u{1b}[", "\\u{1b}["),
            ("a\tb\r\nc", "a    b\nc"),
            ("❤\u{fe0f}", "❤"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean_output(text), expected);
        }
    }

    #[test]
    fn a_text_is_cut_by_columns() {
        let cases =
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本", 0, "")];
        for (text, room, expected) in cases {
            assert_eq!(cut(text, room), expected);
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(group_digits(1_234_567), "1,234,567");
        assert_eq!(count(1, "line"), "1 line");
        assert_eq!(count(12_000, "line"), "12,000 lines");
        assert_eq!(duration(999), "999ms");
        assert_eq!(duration(1_250), "1.2s");
        assert_eq!(duration(61_000), "1m 01s");
        assert_eq!(duration(3_660_000), "1h 01m");
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_acts_on_is_left(text in any::<String>()) {
            let clean = clean_output(&text);
            prop_assert!(clean.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert!(width(&cut(&clean_line(&text), 20)) <= 20);
        }
    }
}
