//! The input's text editor.
//!
//! Text is sent as it was typed. Control characters are replaced only for display.

use std::borrow::Cow;
use std::ops::Range;

use nacre_ops::text::ShownLine;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::keys::Action;
use super::text::grapheme_width;

/// Maximum length of the input in bytes.
pub(super) const MAX_TEXT: usize = 256 * 1024;

#[derive(Clone, Debug, Default)]
pub(crate) struct Editor {
    text: String,
    /// A byte offset in the text.
    cursor: usize,
    cut: String,
}

impl Editor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn set(&mut self, text: &str) {
        text[..text.floor_char_boundary(MAX_TEXT)].clone_into(&mut self.text);
        self.cursor = self.text.len();
    }

    pub(crate) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Inserts as much of the text as fits, and returns whether all of it fit.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        let fitting = &text[..text.floor_char_boundary(room)];
        self.text.insert_str(self.cursor, fitting);
        self.cursor += fitting.len();
        fitting.len() == text.len()
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, with: &str) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
        self.insert(with);
    }

    /// Applies an action to the text. Returns `false` if the action does not edit text. Deleting
    /// back into an attachment label removes the whole label.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other keys do not edit")]
    pub(crate) fn edit(&mut self, action: Action, marks: &[String]) -> bool {
        let at = self.cursor;
        match action {
            Action::Newline => {
                self.insert("\n");
            }
            Action::Backspace => {
                let before = &self.text[..at];
                let mark = marks.iter().find(|mark| before.ends_with(mark.as_str()));
                let start = mark.map_or_else(|| self.before(at), |mark| at - mark.len());
                self.remove(start..at);
            }
            Action::Delete => self.remove(at..self.after(at)),
            Action::CutWord => self.cut_range(self.word_start()..at),
            Action::CutToStart => {
                let start = self.start_of_line();
                // At the start of a line, cut the preceding line break instead.
                self.cut_range(if start == at { self.before(start) } else { start }..at);
            }
            Action::CutToEnd => {
                let end = self.end_of_line();
                self.cut_range(at..if end == at { self.after(end) } else { end });
            }
            Action::PasteCut => {
                let cut = self.cut.clone();
                self.insert(&cut);
            }
            Action::Left => self.cursor = self.before(at),
            Action::Right => self.cursor = self.after(at),
            Action::WordLeft => self.cursor = self.word_start(),
            Action::WordRight => self.cursor = self.word_end(),
            Action::LineStart => self.cursor = self.start_of_line(),
            Action::LineEnd => self.cursor = self.end_of_line(),
            _ => return false,
        }
        true
    }

    /// Moves the cursor up a row. Returns `false` if the cursor is already in the first row.
    pub(crate) fn up(&mut self, columns: usize) -> bool {
        self.move_rows(columns, |row| row.checked_sub(1))
    }

    /// Moves the cursor down a row. Returns `false` if the cursor is already in the last row.
    pub(crate) fn down(&mut self, columns: usize) -> bool {
        self.move_rows(columns, |row| Some(row + 1))
    }

    fn move_rows(&mut self, columns: usize, to: impl Fn(usize) -> Option<usize>) -> bool {
        let rows = rows(&self.text, columns);
        let (row, column) = place(&self.text, &rows, self.cursor);
        let Some(target) = to(row).and_then(|row| rows.get(row).cloned()) else { return false };
        let mut at = target.start;
        let mut used = 0;
        for grapheme in self.text[target.clone()].graphemes(true) {
            used += display_width(grapheme);
            if used > column || grapheme == "\n" {
                break;
            }
            at += grapheme.len();
        }
        // The end of a wrapped row is also the start of the next row, so keep the cursor one
        // character before it.
        self.cursor = if at == target.end && at < self.text.len() { self.before(at) } else { at };
        true
    }

    fn before(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    fn after(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end_matches(|c: char| !c.is_alphanumeric());
        let word = before.trim_end_matches(|c: char| c.is_alphanumeric());
        // If there is only punctuation before the cursor, delete all of it.
        if before.is_empty() { 0 } else { word.len() }
    }

    fn word_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let word = rest.find(|c: char| c.is_alphanumeric()).unwrap_or(rest.len());
        let end = rest[word..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - word);
        self.cursor + word + end
    }

    fn start_of_line(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn end_of_line(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn cut_range(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.text[range.clone()].clone_into(&mut self.cut);
            self.remove(range);
        }
    }

    fn remove(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
    }
}

/// Wraps text to a width. Returns at least one row, and together the rows cover every byte.
pub(super) fn rows(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    let mut start = 0;
    let mut used = 0;
    let mut last_space = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        let end = at + grapheme.len();
        if grapheme == "\n" || grapheme == "\r\n" {
            rows.push(start..end);
            (start, used, last_space) = (end, 0, None);
            continue;
        }
        let width = display_width(grapheme);
        // One column is reserved for the cursor.
        if used + width >= columns && at > start {
            let cut = last_space.filter(|space| *space > start).unwrap_or(at);
            rows.push(start..cut);
            used = text[cut..at].graphemes(true).map(display_width).sum();
            (start, last_space) = (cut, None);
        }
        used += width;
        if grapheme == " " {
            last_space = Some(end);
        }
    }
    rows.push(start..text.len());
    rows
}

pub(super) fn place(text: &str, rows: &[Range<usize>], cursor: usize) -> (usize, usize) {
    let row = rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
    let start = rows.get(row).map_or(0, |row| row.start);
    let column = text[start..cursor.max(start)].graphemes(true).map(display_width).sum();
    (row, column)
}

pub(super) fn display_row(text: &str) -> String {
    text.graphemes(true).filter(|grapheme| *grapheme != "\n").map(display_grapheme).collect()
}

/// Replaces a control character with a visible character one column wide.
fn display_grapheme(grapheme: &str) -> Cow<'_, str> {
    match grapheme {
        "\t" => Cow::Borrowed("    "),
        "\n" | "\r\n" => Cow::Borrowed(""),
        _ if grapheme.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => Cow::Borrowed(grapheme),
        _ if ShownLine(grapheme).to_string() != grapheme => Cow::Borrowed("\u{fffd}"),
        _ if grapheme.contains(['\u{fe0e}', '\u{fe0f}']) => {
            Cow::Owned(grapheme.replace(['\u{fe0e}', '\u{fe0f}'], ""))
        }
        _ => Cow::Borrowed(grapheme),
    }
}

fn display_width(grapheme: &str) -> usize {
    if grapheme == "\t" { 4 } else { grapheme_width(&display_grapheme(grapheme)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn editor(text: &str) -> Editor {
        let cursor = text.find('|').unwrap();
        Editor { text: text.replacen('|', "", 1), cursor, cut: String::new() }
    }

    const KEYS: [Action; 12] = [
        Action::Left,
        Action::Right,
        Action::WordLeft,
        Action::WordRight,
        Action::Backspace,
        Action::Delete,
        Action::CutWord,
        Action::CutToStart,
        Action::CutToEnd,
        Action::PasteCut,
        Action::LineStart,
        Action::LineEnd,
    ];

    fn press(action: Action) -> impl Fn(&mut Editor) {
        move |editor| assert!(editor.edit(action, &[]))
    }

    fn check(before: &str, act: impl FnOnce(&mut Editor), after: &str) {
        let mut editor = editor(before);
        act(&mut editor);
        let mut text = editor.text.clone();
        text.insert(editor.cursor, '|');
        assert_eq!(text, after, "{before}");
    }

    #[test]
    fn editing_is_as_people_know_it() {
        check("ab|", press(Action::Backspace), "a|");
        check("a👍🏽|", press(Action::Backspace), "a|");
        check("a [x]|", |e| assert!(e.edit(Action::Backspace, &["[x]".to_owned()])), "a |");
        check("|ab", press(Action::Delete), "|b");
        check("one two|", press(Action::CutWord), "one |");
        check("one, |", press(Action::CutWord), "|");
        check("one tw|o", press(Action::WordLeft), "one |two");
        check("on|e two", press(Action::WordRight), "one| two");
        check("a\nbc|d", press(Action::CutToStart), "a\n|d");
        check("a\n|b", press(Action::CutToStart), "a|b");
        check("a|b\nc", press(Action::CutToEnd), "a|\nc");
        check("a\nb|c", press(Action::LineStart), "a\n|bc");
        check("a|b\nc", press(Action::LineEnd), "ab|\nc");
        check("ab\ncd|", |e| assert!(e.up(80)), "ab|\ncd");
        check("ab|", |e| assert!(!e.up(80)), "ab|");
        check("a|b\ncd", |e| assert!(e.down(80)), "ab\nc|d");
        check("日本\nab|", |e| assert!(e.up(80)), "日|本\nab");
    }

    #[test]
    fn what_was_cut_can_be_put_back() {
        let mut editor = editor("one two|");
        press(Action::CutWord)(&mut editor);
        press(Action::PasteCut)(&mut editor);
        press(Action::PasteCut)(&mut editor);
        assert_eq!(editor.text(), "one twotwo");
    }

    #[test]
    fn rows_break_after_words() {
        let text = "one two three\nfour";
        let rows: Vec<&str> = rows(text, 9).into_iter().map(|row| &text[row]).collect();
        assert_eq!(rows, ["one two ", "three\n", "four"]);
    }

    #[test]
    fn hidden_characters_are_marks() {
        assert_eq!(display_row("a\u{1b}[2J\u{202e}b"), "a\u{fffd}[2J\u{fffd}b");
    }

    proptest! {
        #[test]
        fn every_byte_is_in_a_row(text in any::<String>(), columns in 0usize..40) {
            let rows = rows(&text, columns);
            let all: String = rows.iter().map(|row| &text[row.clone()]).collect();
            prop_assert_eq!(&all, &text);
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (row, _) = place(&text, &rows, at);
                prop_assert!(row < rows.len());
            }
        }

        #[test]
        fn any_keys_keep_the_cursor_inside(text in any::<String>(), keys in prop::collection::vec(0u8..14, 0..40)) {
            let mut editor = Editor::default();
            editor.insert(&text);
            for key in keys {
                match KEYS.get(usize::from(key)) {
                    Some(action) => assert!(editor.edit(*action, &[])),
                    None if key == 12 => { editor.up(7); }
                    None => { editor.down(7); }
                }
                prop_assert!(editor.text.is_char_boundary(editor.cursor));
            }
        }
    }
}
