//! The oldest rollouts: one JSON document with all items, rewritten whole at every step.

use std::io::Read;
use std::path::Path;

use super::super::adapter::{Began, ReadOutcome};
use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::event::Place;
use super::super::facts::SessionFacts;
use super::super::json::{Cursor, Malformed, Parsed};
use super::super::lines::open_regular;
use super::super::sink::Sink;
use super::super::stream::LineFormat;
use super::header::Header;
use super::record::{Item, Record};
use super::state::Reader;

/// The document is read whole; the agent that wrote these kept them small.
const MAX_DOCUMENT: u64 = 48 * 1024 * 1024;

pub(super) fn read_document(
    path: &Path,
    facts: SessionFacts,
    sink: Sink<'_>,
) -> Result<ReadOutcome> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if MAX_DOCUMENT < bytes.len() as u64 {
        return Err(Error::TooLarge { path: path.to_owned(), limit: MAX_DOCUMENT });
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut emitter = Emitter::new(facts, 0, sink);
    emitter.report.invalid_utf8 = u64::from(matches!(text, std::borrow::Cow::Owned(_)));
    let mut reader = Reader::new(None);
    if read_items(&text, &mut reader, &mut emitter) == Err(Malformed) {
        // Caught while it was rewritten: what could be read is given, the next read gets it all.
        emitter.report.torn_tail = Some(0);
    }
    reader.finish(&mut emitter);
    let (facts, report) = (emitter.facts, emitter.report);
    Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
}

fn read_items(text: &str, reader: &mut Reader, out: &mut Emitter<'_>) -> Parsed<()> {
    Cursor::new(text).object(|key, value| match key {
        "session" => {
            let raw = value.raw()?;
            let header = Record::read(&mut Cursor::new(raw)).unwrap_or_default();
            reader.note_time(&header, out);
            let session = Header::read(&mut Cursor::new(raw))?;
            reader.session_meta(&session, &header, out);
            Ok(())
        }
        "items" => {
            let mut n_items = 0_u64;
            value.array(|element| {
                let item = Item::read(element)?;
                let place = Place::Row { key: format!("items/{n_items}") };
                n_items += 1;
                out.report.lines += 1;
                reader.item(&item, &Record::default(), &place, out);
                Ok(())
            })
        }
        _ => Ok(()),
    })
}
