//! Formats result text, limits its length, and splits it into pages.

use nacre_ops::text::Shown;
use nacre_ops::{OpError, Result};

/// Maximum length of a result. Agents truncate longer results, sometimes in the middle.
pub(super) const MAX_CHARS: usize = 9_000;

/// Maximum length of the result body, without its footer and notes.
pub(super) const BODY_CHARS: usize = 7_800;

pub(super) const NOTES_CHARS: usize = 900;

/// A page ends at a line break if there is one within this distance of the limit.
const LINE_CHARS: usize = 400;

pub(super) const SNIPPET_CHARS: usize = 320;

/// Removes control sequences.
pub(super) fn sanitize(text: &str) -> String {
    Shown(text).to_string()
}

/// Like `sanitize`, but returns one line of at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    cut(Shown(text).one_line().trim(), most)
}

/// Truncates the text and marks where it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns one page, followed by a note that explains how to get the next page.
pub(super) fn page(text: &str, offset: usize) -> Result<String> {
    let n_chars = text.chars().count();
    if offset != 0 && n_chars <= offset {
        let message = format!("`offset` is {offset}, but the text has only {n_chars} characters");
        return Err(OpError::usage(message).hint("Start again without `offset`"));
    }
    let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    let Some((end, _)) = rest.char_indices().nth(BODY_CHARS) else {
        return Ok(rest.trim_end().to_owned());
    };
    let part = &rest[..end];
    let last_line = part.rfind('\n').map(|at| at + 1);
    let near = last_line.filter(|at| part[*at..].chars().count() <= LINE_CHARS);
    let part = &part[..near.unwrap_or(part.len())];
    let next = offset + part.chars().count();
    let part = part.trim_end();
    Ok(format!("{part}\n\n[Characters {offset} to {next} of {n_chars}. For more: offset={next}]"))
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    n_chars: usize,
}

impl Lines {
    /// Appends a piece of text. Returns `false` if it does not fit.
    pub(super) fn add(&mut self, piece: &str) -> bool {
        let n_chars = piece.chars().count() + 1;
        if BODY_CHARS < self.n_chars + n_chars {
            return false;
        }
        self.n_chars += n_chars;
        self.text.push_str(piece);
        self.text.push('\n');
        true
    }

    pub(super) fn end_with(mut self, footer: &str) -> String {
        self.text.push_str(&cut(footer, MAX_CHARS - BODY_CHARS - NOTES_CHARS - 1));
        self.text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Vec<String> {
        let (mut pages, mut offset) = (Vec::new(), 0);
        loop {
            let part = page(text, offset).unwrap();
            assert!(part.chars().count() <= MAX_CHARS - NOTES_CHARS);
            let next = part.rsplit_once("For more: offset=").map(|(_, end)| end.to_owned());
            pages.push(part);
            match next {
                Some(next) => offset = next.trim_end_matches(']').parse().unwrap(),
                None => return pages,
            }
        }
    }

    #[test]
    fn pages_hold_the_whole_text_and_no_more_than_a_result_may() {
        for text in ["é".repeat(20_000), "a line of words\n".repeat(2_000), String::new()] {
            let pages = read_all(&text);
            let body = |page: &String| {
                page.split("\n\n[Characters").next().unwrap_or_default().replace('\n', "")
            };
            let joined: String = pages.iter().map(body).collect();
            assert_eq!(joined, text.replace('\n', ""));
        }
    }

    #[test]
    fn an_offset_beyond_the_text_is_an_error() {
        assert!(page("short", 5).is_err());
        assert_eq!(page("short", 0).unwrap(), "short");
        assert_eq!(page("short", 2).unwrap(), "ort");
    }

    #[test]
    fn lines_are_taken_until_a_result_is_full() {
        let mut lines = Lines::default();
        let piece = "x".repeat(999);
        let n_taken = (0..20).filter(|_| lines.add(&piece)).count();
        assert_eq!(n_taken, 7);
        let text = lines.end_with(&"y".repeat(5_000));
        assert!(text.chars().count() + NOTES_CHARS <= MAX_CHARS);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
    }
}
