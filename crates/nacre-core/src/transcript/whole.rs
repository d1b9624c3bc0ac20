//! Traces that are one document, rewritten whole at every step.
//!
//! Such a file is read at once and never from the middle. One that is caught while it is rewritten
//! gives what stands before the tear.

use std::io::Read;
use std::path::Path;

use super::adapter::{Began, ReadOutcome};
use super::emit::Emitter;
use super::error::{Error, Result};
use super::facts::SessionFacts;
use super::json::{Cursor, Malformed, Next, Parsed};
use super::lines::open_regular;
use super::sink::Sink;

/// No document is longer: the agents that write these keep them small.
const MAX_DOCUMENT: u64 = 48 * 1024 * 1024;
/// Replacing bytes that are not UTF-8 may lengthen a text by this much; a text with more of them keeps its length.
const MAX_GROWTH: usize = 1024 * 1024;
/// The most that is read of a small file beside a trace.
const MAX_SIDECAR: u64 = 1024 * 1024;

/// Reads a document: `read` is given its text and says whether it was whole.
pub(super) fn read_document(
    path: &Path,
    facts: SessionFacts,
    sink: Sink<'_>,
    read: impl FnOnce(&str, &mut Emitter<'_>) -> Parsed<()>,
) -> Result<ReadOutcome> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(MAX_DOCUMENT + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if MAX_DOCUMENT < bytes.len() as u64 {
        return Err(Error::TooLarge { path: path.to_owned(), limit: MAX_DOCUMENT });
    }
    let (text, is_mended) = mended(bytes);
    let mut out = Emitter::new(facts, 0, sink);
    out.report.invalid_utf8 = u64::from(is_mended);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if read(text, &mut out) == Err(Malformed) {
        // Caught while it was rewritten: what could be read is given, the next read gets it all.
        out.report.torn_tail = Some(0);
    }
    let (facts, report) = (out.facts, out.report);
    Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
}

/// Bytes as text, and whether some of them had to be replaced.
///
/// The usual mark for a replaced byte takes three. A long text that is made of such bytes would take three times its room, so it
/// gets marks of one byte.
pub(super) fn mended(mut bytes: Vec<u8>) -> (String, bool) {
    let n_replaced = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if MAX_GROWTH < n_replaced * char::REPLACEMENT_CHARACTER.len_utf8() {
        let mut at = 0;
        while let Err(error) = std::str::from_utf8(&bytes[at..]) {
            let start = at + error.valid_up_to();
            at = error.error_len().map_or(bytes.len(), |length| start + length);
            bytes[start..at].fill(b'?');
        }
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (text, 0 < n_replaced)
}

/// The text of a small file beside a trace; `None` where it cannot be read or is not small.
pub(super) fn sidecar(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MAX_SIDECAR + 1).read_to_end(&mut bytes).ok()?;
    let is_small = bytes.len() as u64 <= MAX_SIDECAR;
    is_small.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A part of a document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// A member of the document, as written.
    Field(&'a str, &'a str),
    /// An element of its list of messages, as written.
    Item(&'a str),
}

/// Hands out the members of a document and, one by one, the elements of its `lists`. A document may
/// also be the list alone.
pub(super) fn parts<'a>(
    text: &'a str,
    lists: &[&str],
    mut each: impl FnMut(Part<'a>),
) -> Parsed<()> {
    let mut cursor = Cursor::new(text);
    let list = |list: &mut Cursor<'a>, each: &mut dyn FnMut(Part<'a>)| {
        list.array(|element| {
            each(Part::Item(element.raw()?));
            Ok(())
        })
    };
    if cursor.next()? == Next::Array {
        return list(&mut cursor, &mut each);
    }
    cursor.object(|key, value| {
        if lists.contains(&key) && value.next()? == Next::Array {
            return list(value, &mut each);
        }
        each(Part::Field(key, value.raw()?));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_bytes_that_are_no_text_does_not_grow() {
        let few = b"a\xffb".to_vec();
        assert_eq!(mended(few), ("a\u{fffd}b".to_owned(), true));
        assert_eq!(mended(b"plain".to_vec()), ("plain".to_owned(), false));
        let many = vec![0xff; 2 * MAX_GROWTH];
        let (text, is_mended) = mended(many);
        assert_eq!((text.len(), is_mended), (2 * MAX_GROWTH, true));
        // A character that is cut off at the end.
        let mut cut = vec![0xff; MAX_GROWTH];
        cut.extend_from_slice("é".as_bytes());
        cut.extend_from_slice(&[0xe2, 0x82]);
        assert!(mended(cut).0.ends_with("?é??"));
    }
}
