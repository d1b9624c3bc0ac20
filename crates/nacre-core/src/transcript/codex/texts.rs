//! Strings of a record: words, contents, and values that may be something else.

use std::borrow::Cow;

use super::super::json::{Cursor, Next, Parsed, Text};

/// A value that is a string or something else.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Text(Text<'a>),
    /// As written.
    Other(&'a str),
}

impl<'a> Value<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        Ok(match cursor.next()? {
            Next::String => Self::Text(cursor.string()?),
            Next::Object | Next::Array | Next::Scalar => Self::Other(cursor.raw()?),
        })
    }
}

/// A string that needs no decoding: an id, a type, a time.
pub(super) fn word<'a>(cursor: &mut Cursor<'a>) -> Parsed<&'a str> {
    Ok(cursor.maybe_string()?.map_or("", Text::raw))
}

/// Collects the texts of a content: a string, a list of strings, or a list of objects with a
/// `text`. Returns whether there is a picture among them.
pub(super) fn collect_texts<'a>(
    cursor: &mut Cursor<'a>,
    texts: &mut Vec<Text<'a>>,
) -> Parsed<bool> {
    let mut has_picture = false;
    match cursor.next()? {
        Next::String => texts.push(cursor.string()?),
        Next::Array => cursor.array(|element| match element.next()? {
            Next::String => {
                texts.push(element.string()?);
                Ok(())
            }
            Next::Object => element.object(|key, value| {
                match key {
                    "text" => texts.extend(value.maybe_string()?),
                    "image_url" => has_picture = true,
                    _ => {}
                }
                Ok(())
            }),
            Next::Array | Next::Scalar => Ok(()),
        })?,
        Next::Object => cursor.object(|key, value| {
            match key {
                "text" | "content" => texts.extend(value.maybe_string()?),
                _ => {}
            }
            Ok(())
        })?,
        Next::Scalar => cursor.skip()?,
    }
    Ok(has_picture)
}

/// The texts of a value that is not a string.
pub(super) fn texts_of(written: &str) -> Vec<Text<'_>> {
    let mut texts = Vec::new();
    // It was gone over once, so that it parses; a shape without texts has none.
    let _ = collect_texts(&mut Cursor::new(written), &mut texts);
    texts
}

/// Several texts as one.
pub(super) fn joined<'a>(texts: &[Text<'a>]) -> Cow<'a, str> {
    match texts {
        [] => Cow::Borrowed(""),
        [one] => one.decode(),
        several => {
            let parts: Vec<Cow<'_, str>> = several.iter().map(|text| text.decode()).collect();
            Cow::Owned(parts.join("\n"))
        }
    }
}
