//! What is pasted: short text is typed, long text and pictures become attachments with a mark in the text.

use nacre_api::wire::Attachment;

use super::text::{count, grouped};

/// A text with more lines is an attachment.
const MAX_LINES: usize = 12;

/// A text with more bytes is an attachment.
const MAX_BYTES: usize = 2_000;

/// More than this is cut off.
const MAX_PASTE: usize = 1024 * 1024;

/// Pictures that a model reads.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// An attachment and the mark that stands for it in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pasted {
    pub(crate) mark: String,
    pub(crate) attachment: Attachment,
}

/// What becomes of a paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Paste {
    Typed(String),
    Attached(Pasted),
}

/// Looks at what was pasted; `number` is how many were before it.
pub(crate) fn read(text: &str, number: usize) -> Paste {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if let Some((media_type, data)) = image(&text) {
        let size = grouped((data.len() as u64 * 3 / 4).div_ceil(1024));
        let mark = format!("[image {number}: {size} KB]");
        let attachment =
            Attachment::Image { media_type: media_type.to_owned(), data: data.to_owned() };
        return Paste::Attached(Pasted { mark, attachment });
    }
    let n_lines = text.lines().count();
    if n_lines <= MAX_LINES && text.len() <= MAX_BYTES {
        return Paste::Typed(text);
    }
    let kept = &text[..text.floor_char_boundary(MAX_PASTE)];
    let cut = if kept.len() < text.len() { ", cut" } else { "" };
    let mark = format!("[pasted {number}: {}{cut}]", count(n_lines, "line"));
    let name = format!("pasted {number}");
    Paste::Attached(Pasted { mark, attachment: Attachment::Text { name, text: kept.to_owned() } })
}

/// The type and the data of a picture, where the terminal or the person pasted it as a data URL.
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
        assert_eq!(read("two\r\nlines", 1), Paste::Typed("two\nlines".to_owned()));
    }

    #[test]
    fn long_text_is_attached() {
        let text = "line\n".repeat(120);
        let Paste::Attached(pasted) = read(&text, 1) else { panic!("typed") };
        assert_eq!(pasted.mark, "[pasted 1: 120 lines]");
        let name = "pasted 1".to_owned();
        assert_eq!(pasted.attachment, Attachment::Text { name, text });
    }

    #[test]
    fn a_picture_is_attached() {
        let url = format!("data:image/png;base64,{}", "QUJD".repeat(1024));
        let Paste::Attached(pasted) = read(&url, 2) else { panic!("typed") };
        assert_eq!(pasted.mark, "[image 2: 3 KB]");
        assert!(matches!(read("data:text/html;base64,QUJD", 1), Paste::Typed(_)));
    }
}
