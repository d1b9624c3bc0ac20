//! Changes a document by replacing the bytes of one value.
//!
//! A change adjusts the offsets of later entries without scanning the text again, so it cannot
//! fail. Afterwards, callers must call `Document::check` to verify the result and its size.

use std::ops::Range;

use memchr::memchr_iter;

use super::index::{KeyEntry, Name, Tail, is_blank, without_break};
use super::{Document, list, render};

impl Document {
    /// Sets `key` to a string. If the key already has this value, the file stays the same.
    pub fn set_text(&mut self, key: &str, value: &str) {
        if matches!(self.text(key), Ok(Some(now)) if now == value) {
            return;
        }
        self.put(key, &render::scalar(value));
    }

    /// Sets `key` to a number. If it already has this value, the file stays the same.
    ///
    /// NaN and infinity are written in YAML notation, but [`Document::number`] rejects them.
    pub fn set_number(&mut self, key: &str, value: f64) {
        if matches!(self.number(key), Ok(Some(now)) if now == value) {
            return;
        }
        self.put(key, &render::number(value));
    }

    /// Sets `key` to a list. If it already has this value, the file stays the same.
    ///
    /// A list with one item per line keeps that layout, and unchanged items keep their lines.
    pub fn set_list<S: AsRef<str>>(&mut self, key: &str, items: &[S]) {
        let is_same = |now: &[String]| now.iter().eq(items.iter().map(AsRef::as_ref));
        if matches!(self.list(key), Ok(Some(now)) if is_same(&now)) {
            return;
        }
        if let Some(entry_idx) = self.position(key)
            && !items.is_empty()
            && let Some(block) = list::block(&self.index.entries[entry_idx], &self.text)
        {
            let entry = &self.index.entries[entry_idx];
            let (start, end) = (entry.head_end, entry.end);
            let mut old = block.items;
            let mut lines = String::new();
            for item in items {
                let item = item.as_ref();
                match old.iter().position(|it| it.value.as_deref() == Some(item)) {
                    Some(old_idx) => lines.push_str(&self.text[old.remove(old_idx).place]),
                    None => {
                        lines.extend(std::iter::repeat_n(' ', block.indent));
                        lines.push_str("- ");
                        lines.push_str(&render::scalar(item));
                        lines.push_str(self.line_break());
                    }
                }
            }
            self.splice(start..block.end, &lines, entry_idx + 1);
            self.index.entries[entry_idx].end = end - (block.end - start) + lines.len();
            return;
        }
        self.put(key, &render::flow_list(items));
    }

    pub fn remove(&mut self, key: &str) {
        let Some(entry_idx) = self.position(key) else { return };
        let entry = self.index.entries.remove(entry_idx);
        let previous = entry_idx.checked_sub(1).map(|idx| &self.index.entries[idx]);
        let heir = previous.filter(|it| self.text[it.end..entry.start].trim().is_empty());
        let below = self.text[entry.end..self.index.close].split_inclusive('\n');
        let below: Vec<&str> = below.take_while(|line| is_blank(without_break(line))).collect();
        // Blank lines below must not become part of the block scalar above.
        let is_lost = heir.is_some_and(|it| {
            below.iter().any(|line| it.owns_blank_line(without_break(line), &self.text))
        });
        let lost: usize = if is_lost { below.iter().map(|line| line.len()).sum() } else { 0 };
        let end = entry.end + lost;
        self.splice(entry.start..end, "", entry_idx);
    }

    /// Replaces the body. Uses CRLF line endings if the file uses them.
    pub fn set_body(&mut self, body: &str) {
        let body = match self.line_break() {
            "\r\n" => body.replace("\r\n", "\n").replace('\n', "\r\n"),
            _ => body.to_owned(),
        };
        if body == self.body() {
            return;
        }
        self.text.truncate(self.index.body);
        if !self.text.ends_with('\n') {
            self.text.push_str(self.line_break());
            self.index.body = self.text.len();
        }
        self.text.push_str(&body);
    }

    fn put(&mut self, key: &str, rendered: &str) {
        match self.position(key) {
            Some(entry_idx) => self.replace_value(entry_idx, rendered),
            None => self.append(key, rendered),
        }
    }

    fn replace_value(&mut self, entry_idx: usize, rendered: &str) {
        let entry = &self.index.entries[entry_idx];
        let value = entry.value;
        let Some(span) = self.value_span(entry) else {
            // The value spans several lines, or a comment may start inside it.
            let end = value + without_break(&self.text[value..entry.end]).len();
            self.splice(value..end, &format!(" {rendered}"), entry_idx + 1);
            let entry = &mut self.index.entries[entry_idx];
            entry.end = end_of_line(&self.text, value);
            entry.head_end = entry.end;
            entry.tail = Tail::None;
            return;
        };
        let space = if span.start == 0 { " " } else { "" };
        let before = self.text.len();
        let place = value + span.start..value + span.end;
        self.splice(place, &format!("{space}{rendered}"), entry_idx + 1);
        let entry = &mut self.index.entries[entry_idx];
        entry.head_end = entry.head_end + self.text.len() - before;
        entry.end = entry.end + self.text.len() - before;
    }

    fn value_span(&self, entry: &KeyEntry) -> Option<Range<usize>> {
        match entry.tail {
            Tail::None | Tail::Comments => {}
            Tail::Content => return None,
        }
        let token = self.token(entry).map(|token| token.span);
        token.or_else(|| list::flow(entry.head(&self.text)).map(|flow| flow.span))
    }

    fn append(&mut self, key: &str, rendered: &str) {
        let start = self.index.close;
        let name = render::scalar(key);
        let name_end = start + name.len();
        let line = super::index::line_after(&self.text.as_bytes()[..start]);
        let added = format!("{name}: {rendered}{}", self.line_break());
        let name = if name == key {
            Name::Written(start..name_end)
        } else {
            Name::Decoded(key.to_owned())
        };
        self.splice(start..start, &added, self.index.entries.len());
        let end = start + added.len();
        let value = name_end + 1;
        self.index.entries.push(KeyEntry {
            name,
            line,
            start,
            value,
            head_end: end,
            end,
            tail: Tail::None,
        });
    }

    fn splice(&mut self, place: Range<usize>, with: &str, first_behind: usize) {
        let n_lines = |text: &str| memchr_iter(b'\n', text.as_bytes()).count();
        let (old_len, old_lines) = (place.len(), n_lines(&self.text[place.clone()]));
        let (new_len, new_lines) = (with.len(), n_lines(with));
        self.text.replace_range(place, with);
        let moved = |at: usize| at + new_len - old_len;
        for entry in &mut self.index.entries[first_behind..] {
            if let Name::Written(name) = &mut entry.name {
                *name = moved(name.start)..moved(name.end);
            }
            entry.line = entry.line + new_lines - old_lines;
            entry.start = moved(entry.start);
            entry.value = moved(entry.value);
            entry.head_end = moved(entry.head_end);
            entry.end = moved(entry.end);
        }
        self.index.close = moved(self.index.close);
        self.index.body = moved(self.index.body);
    }

    fn line_break(&self) -> &'static str {
        let first_line = &self.text[..end_of_line(&self.text, 0)];
        if first_line.ends_with("\r\n") { "\r\n" } else { "\n" }
    }
}

fn end_of_line(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |at| start + at + 1)
}
