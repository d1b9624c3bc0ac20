//! One line of a transcript.

use std::borrow::Cow;

use jiff::Timestamp;

use super::super::json::{Cursor, Malformed, Parsed};
use super::super::view::Fields;

pub(super) struct Record<'a> {
    pub(super) raw: &'a str,
    pub(super) fields: Fields<'a>,
    pub(super) kind: &'a str,
    pub(super) subtype: &'a str,
    pub(super) id: Cow<'a, str>,
    pub(super) parent: Cow<'a, str>,
    pub(super) session: Cow<'a, str>,
    /// The session that this record was copied from.
    pub(super) forked_from: Cow<'a, str>,
    pub(super) time: Option<Timestamp>,
    pub(super) is_sidechain: bool,
}

impl<'a> Record<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let raw = cursor.raw()?;
        let fields = Fields::read(raw).ok_or(Malformed)?;
        Ok(Self {
            raw,
            kind: fields.word("type"),
            subtype: fields.word("subtype"),
            id: fields.string("uuid"),
            parent: fields.string("parentUuid"),
            session: fields.string("sessionId"),
            forked_from: fields.object("forkedFrom").string("sessionId"),
            time: fields.time("timestamp"),
            is_sidechain: fields.truth("isSidechain"),
            fields,
        })
    }

    /// The parts of the message, as written.
    pub(super) fn content(&self) -> &'a str {
        self.fields.object("message").raw("parts")
    }
}
