//! The oldest rollouts: one JSON document with all items, rewritten whole at every step.

use std::path::Path;

use super::super::adapter::ReadOutcome;
use super::super::emit::Emitter;
use super::super::error::Result;
use super::super::event::Place;
use super::super::facts::SessionFacts;
use super::super::json::{Cursor, Parsed};
use super::super::sink::Sink;
use super::super::stream::LineFormat;
use super::super::whole;
use super::header::Header;
use super::record::{Item, Record};
use super::state::Reader;

pub(super) fn read_document(
    path: &Path,
    facts: SessionFacts,
    sink: Sink<'_>,
) -> Result<ReadOutcome> {
    whole::read_document(path, facts, sink, |text, out| {
        let mut reader = Reader::new(None);
        let parsed = read_items(text, &mut reader, out);
        reader.finish(out);
        parsed
    })
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
