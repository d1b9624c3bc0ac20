//! Makes untrusted text safe to print on a terminal.
//!
//! Memories, traces and file names are untrusted: an escape sequence in a title must not rename the
//! window, write to the clipboard or hide half of a line. All printed text is wrapped in `Shown`,
//! which replaces such characters with a visible `\u{..}`.

use std::error::Error;
use std::fmt;

/// Displays a string with control, bidi and invisible characters made visible.
///
/// Newlines and tabs are kept.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Files written on Windows have CRLF line ends.
        let text = self.0.replace("\r\n", "\n");
        show(f, &text, |c| c != '\n' && c != '\t' && is_hidden_char(c))
    }
}

impl Shown<'_> {
    /// Returns the text on one line, with newlines and tabs replaced by spaces.
    pub fn one_line(self) -> String {
        Shown(&self.0.replace(['\n', '\t'], " ")).to_string()
    }
}

/// Displays a string as part of a single-line message, with newlines and tabs also made visible.
#[derive(Clone, Copy, Debug)]
pub struct ShownLine<'a>(pub &'a str);

impl fmt::Display for ShownLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, is_hidden_char)
    }
}

fn show(f: &mut fmt::Formatter<'_>, text: &str, is_hidden: fn(char) -> bool) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        f.write_str(&rest[..at])?;
        let mut tail = rest[at..].chars();
        if let Some(hidden) = tail.next() {
            write!(f, "\\u{{{:x}}}", u32::from(hidden))?;
        }
        rest = tail.as_str();
    }
    f.write_str(rest)
}

/// Returns whether a character is invisible or controls the terminal: C0, DEL, C1, bidi controls,
/// zero-width and tag characters, default-ignorable characters, interlinear annotation marks and
/// the byte order mark.
pub fn is_hidden_char(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(Shown("a\x1b[31mb\u{202e}c").to_string(), "a\\u{1b}[31mb\\u{202e}c");
        assert_eq!(Shown("two\nlines\ttab").to_string(), "two\nlines\ttab");
        assert_eq!(Shown("two\nlines").one_line(), "two lines");
        assert_eq!(ShownLine("two\nlines\t\x1b").to_string(), "two\\u{a}lines\\u{9}\\u{1b}");
        assert_eq!(Shown("naïve – 使用").to_string(), "naïve – 使用");
    }

    proptest! {
        #[test]
        fn nothing_hidden_comes_out(text in any::<String>()) {
            let shown = Shown(&text).to_string();
            prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !is_hidden_char(c)));
        }
    }
}
