//! Reads transcripts that consist of a single JSON document, which the agent rewrites at every
//! step. Such a file is always read completely. If a file is read in the middle of a rewrite, the
//! part already written is used.

use std::io::Read;
use std::path::Path;

use crate::transcript::toolkit::*;

/// The agents that use this format write documents smaller than this.
const MAX_DOCUMENT: u64 = 48 * 1024 * 1024;
/// Replacing invalid UTF-8 may lengthen the text by at most this many bytes. Beyond that, one-byte
/// replacements are used, which preserve the length.
const MAX_GROWTH: usize = 1024 * 1024;
const MAX_SIDECAR: u64 = 1024 * 1024;

/// `read` receives the document's text and returns whether the document was complete.
pub(crate) fn read_document(
    path: &Path,
    facts: SessionFacts,
    sink: Sink,
    read: impl FnOnce(&str, &mut Emitter) -> Parsed<()>,
) -> Result<ReadOutcome> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(MAX_DOCUMENT + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if MAX_DOCUMENT < bytes.len() as u64 {
        return Err(Error::TooLarge { path: path.to_owned(), limit: MAX_DOCUMENT });
    }
    let (text, is_mended) = decode_lossy(bytes);
    let mut out = Emitter::new(facts, 0, sink);
    out.report.invalid_utf8 = u64::from(is_mended);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if read(text, &mut out) == Err(Malformed) {
        // The file was read in the middle of a rewrite. Emit the readable part now; the next read
        // processes the complete file.
        out.report.torn_tail = Some(0);
    }
    Ok(out.finish())
}

/// Also returns whether any byte was replaced.
///
/// The standard replacement character takes three bytes and could triple the size of the text, so
/// one-byte replacements are used if there are many invalid bytes.
pub(crate) fn decode_lossy(mut bytes: Vec<u8>) -> (String, bool) {
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

/// Returns a metadata file's text, or `None` if it is unreadable or too large.
pub(crate) fn sidecar(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MAX_SIDECAR + 1).read_to_end(&mut bytes).ok()?;
    let is_small = bytes.len() as u64 <= MAX_SIDECAR;
    is_small.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum DocumentPart<'a> {
    Field(&'a str, &'a str),
    Item(&'a str),
}

/// Passes a document's members to a callback. Arrays named in `lists` are passed element by
/// element. The document may also be a bare array.
pub(crate) fn parts<'a>(
    text: &'a str,
    lists: &[&str],
    mut each: impl FnMut(DocumentPart<'a>),
) -> Parsed<()> {
    let mut cursor = JsonCursor::new(text);
    let list = |list: &mut JsonCursor<'a>, each: &mut dyn FnMut(DocumentPart<'a>)| {
        list.array(|element| {
            each(DocumentPart::Item(element.raw()?));
            Ok(())
        })
    };
    if cursor.peek()? == b'[' {
        return list(&mut cursor, &mut each);
    }
    cursor.object(|key, value| {
        if lists.contains(&key) && value.peek()? == b'[' {
            return list(value, &mut each);
        }
        each(DocumentPart::Field(key, value.raw()?));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_bytes_that_are_no_text_does_not_grow() {
        let few = b"a\xffb".to_vec();
        assert_eq!(decode_lossy(few), ("a\u{fffd}b".to_owned(), true));
        assert_eq!(decode_lossy(b"plain".to_vec()), ("plain".to_owned(), false));
        let many = vec![0xff; 2 * MAX_GROWTH];
        let (text, is_mended) = decode_lossy(many);
        assert_eq!((text.len(), is_mended), (2 * MAX_GROWTH, true));
        let mut cut = vec![0xff; MAX_GROWTH];
        cut.extend_from_slice("é".as_bytes());
        cut.extend_from_slice(&[0xe2, 0x82]);
        assert!(decode_lossy(cut).0.ends_with("?é??"));
    }
}
