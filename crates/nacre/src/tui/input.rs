//! The prompt history, and the conversion of pasted images and long pastes to attachments.

use super::text::{count, group_digits};
use nacre_types::Attachment;

const MAX_ENTRIES: usize = 200;

#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    at: Option<usize>,
    /// The unsent input from before the user started browsing the history.
    draft: String,
}

impl History {
    pub(crate) fn push(&mut self, text: &str) {
        self.at = None;
        let is_again = self.entries.last().is_some_and(|last| last == text);
        if text.trim().is_empty() || is_again {
            return;
        }
        self.entries.push(text.to_owned());
        if self.entries.len() > MAX_ENTRIES {
            self.entries.remove(0);
        }
    }

    pub(crate) fn older(&mut self, current: &str) -> Option<&str> {
        let at = match self.at {
            None => {
                current.clone_into(&mut self.draft);
                self.entries.len().checked_sub(1)?
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.entries.get(at).map(String::as_str)
    }

    /// Returns the next newer prompt, or the draft if there is none.
    pub(crate) fn newer(&mut self) -> Option<&str> {
        let at = self.at? + 1;
        self.at = (at < self.entries.len()).then_some(at);
        Some(self.entries.get(at).unwrap_or(&self.draft))
    }

    /// Makes the displayed prompt the new draft, because the user edited it.
    pub(crate) fn leave(&mut self) {
        self.at = None;
    }
}

/// Pastes with more lines than this become attachments.
const MAX_LINES: usize = 12;

/// Pastes with more bytes than this become attachments.
const MAX_BYTES: usize = 2_000;

/// Pastes longer than this are truncated.
const MAX_PASTE: usize = 1024 * 1024;

const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pasted {
    pub(crate) mark: String,
    pub(crate) attachment: Attachment,
}

/// Converts a paste to attachment `number`. Line breaks must already be normalized. Returns `None`
/// if the paste is short enough to stay in the input.
pub(crate) fn attach_paste(text: &str, number: usize) -> Option<Pasted> {
    if let Some((media_type, data)) = image(text) {
        let size = group_digits((data.len() as u64 * 3 / 4).div_ceil(1024));
        let mark = format!("[image {number}: {size} KB]");
        let attachment =
            Attachment::Image { media_type: media_type.to_owned(), data: data.to_owned() };
        return Some(Pasted { mark, attachment });
    }
    let n_lines = text.lines().count();
    if n_lines <= MAX_LINES && text.len() <= MAX_BYTES {
        return None;
    }
    let kept = &text[..text.floor_char_boundary(MAX_PASTE)];
    let cut = if kept.len() < text.len() { ", cut" } else { "" };
    let mark = format!("[pasted {number}: {}{cut}]", count(n_lines, "line"));
    let name = format!("pasted {number}");
    Some(Pasted { mark, attachment: Attachment::Text { name, text: kept.to_owned() } })
}

fn image(text: &str) -> Option<(&'static str, &str)> {
    let rest = text.trim().strip_prefix("data:")?;
    let (media_type, data) = rest.split_once(";base64,")?;
    let media_type = IMAGE_TYPES.into_iter().find(|known| *known == media_type)?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (!data.is_empty() && data.len() <= 8 * MAX_PASTE && data.bytes().all(is_base64))
        .then_some((media_type, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_typed() {
        assert_eq!(attach_paste("two\nlines", 1), None);
    }

    #[test]
    fn long_text_is_attached() {
        let text = "line\n".repeat(120);
        let pasted = attach_paste(&text, 1).unwrap();
        assert_eq!(pasted.mark, "[pasted 1: 120 lines]");
        let name = "pasted 1".to_owned();
        assert_eq!(pasted.attachment, Attachment::Text { name, text });
    }

    #[test]
    fn a_picture_is_attached() {
        let url = format!("data:image/png;base64,{}", "QUJD".repeat(1024));
        assert_eq!(attach_paste(&url, 2).unwrap().mark, "[image 2: 3 KB]");
        assert_eq!(attach_paste("data:text/html;base64,QUJD", 1), None);
    }

    #[test]
    fn older_and_newer_walk_and_keep_the_draft() {
        let mut history = History::default();
        for text in ["one", "two", "two", " "] {
            history.push(text);
        }
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older("two"), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer(), Some("two"));
        assert_eq!(history.newer(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let mut history = History::default();
        (0..1_000).for_each(|idx| history.push(&idx.to_string()));
        assert_eq!(history.entries.len(), MAX_ENTRIES);
        assert_eq!(history.older(""), Some("999"));
    }
}
