//! The text that a person is writing: a string, a cursor, and how both lie in rows.
//!
//! The text is kept as it was typed, since it is sent; only what is drawn of it is made fit for the screen, character by character.

use std::borrow::Cow;
use std::ops::Range;

use nacre_ops::text::ShownLine;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::keys::Action;
use super::text::grapheme_width;

/// More than this is not taken in; what is longer belongs into a file.
pub(super) const MAX_TEXT: usize = 256 * 1024;

/// A text and a place in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Editor {
    text: String,
    /// Where the next character goes, in bytes.
    cursor: usize,
    /// What was last cut.
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

    /// Empties it, and gives what was in it.
    pub(crate) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Whether there was room for all of it.
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

    /// Does what a key does to a text. Whether it does anything to it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other keys are not for a text")]
    pub(crate) fn edit(&mut self, action: Action, marks: &[String]) -> bool {
        match action {
            Action::Newline => {
                self.insert("\n");
            }
            Action::Backspace => self.backspace(marks),
            Action::Delete => self.delete(),
            Action::CutWord => self.cut_word(),
            Action::CutToStart => self.cut_to_start(),
            Action::CutToEnd => self.cut_to_end(),
            Action::PasteCut => self.paste_cut(),
            Action::Left => self.left(),
            Action::Right => self.right(),
            Action::WordLeft => self.word_left(),
            Action::WordRight => self.word_right(),
            Action::LineStart => self.line_start(),
            Action::LineEnd => self.line_end(),
            _ => return false,
        }
        true
    }

    fn left(&mut self) {
        self.cursor = self.before(self.cursor);
    }

    fn right(&mut self) {
        self.cursor = self.after(self.cursor);
    }

    fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    fn word_right(&mut self) {
        let rest = &self.text[self.cursor..];
        let word = rest.find(|c: char| c.is_alphanumeric()).unwrap_or(rest.len());
        let end = rest[word..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - word);
        self.cursor += word + end;
    }

    fn line_start(&mut self) {
        self.cursor = self.start_of_line();
    }

    fn line_end(&mut self) {
        self.cursor = self.end_of_line();
    }

    /// Removes the character before the cursor; a mark in brackets that ends there goes as a whole.
    fn backspace(&mut self, marks: &[String]) {
        let before = &self.text[..self.cursor];
        let mark = marks.iter().find(|mark| before.ends_with(mark.as_str()));
        let start = mark.map_or_else(|| self.before(self.cursor), |mark| self.cursor - mark.len());
        self.remove(start..self.cursor);
    }

    fn delete(&mut self) {
        self.remove(self.cursor..self.after(self.cursor));
    }

    fn cut_word(&mut self) {
        self.cut_range(self.word_start()..self.cursor);
    }

    fn cut_to_start(&mut self) {
        let start = self.start_of_line();
        // At the beginning of a line the line break before it goes.
        let start = if start == self.cursor { self.before(start) } else { start };
        self.cut_range(start..self.cursor);
    }

    fn cut_to_end(&mut self) {
        let end = self.end_of_line();
        let end = if end == self.cursor { self.after(end) } else { end };
        self.cut_range(self.cursor..end);
    }

    /// Puts back what was last cut.
    fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    /// Moves to the row above; `false` in the first row.
    pub(crate) fn up(&mut self, columns: usize) -> bool {
        self.move_rows(columns, |row| row.checked_sub(1))
    }

    /// Moves to the row below; `false` in the last row.
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
            used += shown_width(grapheme);
            if used > column || grapheme == "\n" {
                break;
            }
            at += grapheme.len();
        }
        // The end of a row that was broken is the beginning of the next.
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
        // Signs alone are removed as far as they go.
        if before.is_empty() { 0 } else { word.len() }
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

/// How a text lies in rows of at most so many columns. There is at least one row, and each byte is in one.
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
        let width = shown_width(grapheme);
        // One column stays free for the cursor.
        if used + width >= columns && at > start {
            let cut = last_space.filter(|space| *space > start).unwrap_or(at);
            rows.push(start..cut);
            used = text[cut..at].graphemes(true).map(shown_width).sum();
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

/// The row and column of a place in a text.
pub(super) fn place(text: &str, rows: &[Range<usize>], cursor: usize) -> (usize, usize) {
    let row = rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
    let start = rows.get(row).map_or(0, |row| row.start);
    let column = text[start..cursor.max(start)].graphemes(true).map(shown_width).sum();
    (row, column)
}

/// A row as it is drawn.
pub(super) fn shown_row(text: &str) -> String {
    text.graphemes(true).filter(|grapheme| *grapheme != "\n").map(shown).collect()
}

/// A character as it is drawn: what a terminal would act on is a mark of one column.
fn shown(grapheme: &str) -> Cow<'_, str> {
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

fn shown_width(grapheme: &str) -> usize {
    if grapheme == "\t" { 4 } else { grapheme_width(&shown(grapheme)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text with its cursor as `|`.
    fn editor(text: &str) -> Editor {
        let cursor = text.find('|').unwrap();
        Editor { text: text.replacen('|', "", 1), cursor, cut: String::new() }
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
        check("ab|", |e| e.backspace(&[]), "a|");
        check("a👍🏽|", |e| e.backspace(&[]), "a|");
        check("a [x]|", |e| e.backspace(&["[x]".to_owned()]), "a |");
        check("|ab", Editor::delete, "|b");
        check("one two|", Editor::cut_word, "one |");
        check("one, |", Editor::cut_word, "|");
        check("one tw|o", Editor::word_left, "one |two");
        check("on|e two", Editor::word_right, "one| two");
        check("a\nbc|d", Editor::cut_to_start, "a\n|d");
        check("a\n|b", Editor::cut_to_start, "a|b");
        check("a|b\nc", Editor::cut_to_end, "a|\nc");
        check("a\nb|c", Editor::line_start, "a\n|bc");
        check("a|b\nc", Editor::line_end, "ab|\nc");
        check("ab\ncd|", |e| assert!(e.up(80)), "ab|\ncd");
        check("ab|", |e| assert!(!e.up(80)), "ab|");
        check("a|b\ncd", |e| assert!(e.down(80)), "ab\nc|d");
        check("日本\nab|", |e| assert!(e.up(80)), "日|本\nab");
    }

    #[test]
    fn what_was_cut_can_be_put_back() {
        let mut editor = editor("one two|");
        editor.cut_word();
        editor.paste_cut();
        editor.paste_cut();
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
        assert_eq!(shown_row("a\u{1b}[2J\u{202e}b"), "a\u{fffd}[2J\u{fffd}b");
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
                match key {
                    0 => editor.left(),
                    1 => editor.right(),
                    2 => editor.word_left(),
                    3 => editor.word_right(),
                    4 => editor.backspace(&[]),
                    5 => editor.delete(),
                    6 => editor.cut_word(),
                    7 => editor.cut_to_start(),
                    8 => editor.cut_to_end(),
                    9 => editor.paste_cut(),
                    10 => { editor.up(7); }
                    11 => { editor.down(7); }
                    12 => editor.line_start(),
                    _ => editor.line_end(),
                }
                prop_assert!(editor.text.is_char_boundary(editor.cursor));
            }
        }
    }
}
