//! Records one session's messages, and the session's and its source's rows.

use rusqlite::{OptionalExtension as _, Result, Transaction, named_params};

use super::*;

use crate::transcript::{Began, ReadOutcome, Trace, TraceSource, TranscriptEvent};
use nacre_base::redact::ExtraWords;
use nacre_base::text::shorten;

const MAX_TITLE_BYTES: usize = 80;

pub(super) struct Texts<'a> {
    transaction: &'a Transaction<'a>,
    session: i64,
    words: &'a ExtraWords,
    pub(super) first_sequence: Option<u64>,
    has_changed: bool,
    pub(super) failure: Option<rusqlite::Error>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(
        transaction: &'a Transaction<'a>,
        session: i64,
        words: &'a ExtraWords,
    ) -> Self {
        Self {
            transaction,
            session,
            words,
            first_sequence: None,
            has_changed: false,
            failure: None,
        }
    }

    pub(super) fn take(&mut self, event: TranscriptEvent) {
        // A read that starts over begins at an earlier event. Messages stored by earlier reads are
        // deleted from this event onward.
        if self.first_sequence.is_none() {
            self.first_sequence = Some(event.sequence);
            self.failure = self.forget_from(event.sequence).err();
        }
        if self.failure.is_some() {
            return;
        }
        if let Some(message) = SaidMessage::of(&event.without_words(self.words)) {
            self.failure = self.insert(&message).err();
        }
    }

    fn forget_from(&mut self, sequence: u64) -> Result<()> {
        let sequence = i64::try_from(sequence).unwrap_or(i64::MAX);
        let n_forgotten = self
            .transaction
            .prepare_cached("DELETE FROM message WHERE session = ?1 AND sequence >= ?2")?
            .execute((self.session, sequence))?;
        self.has_changed |= n_forgotten > 0;
        Ok(())
    }

    /// If a rewritten transcript is now empty, its stored messages are deleted. If messages
    /// changed, the session is marked for indexing.
    pub(super) fn finish(&mut self, outcome: &ReadOutcome) -> Result<()> {
        if outcome.began != Began::AtWatermark && self.first_sequence.is_none() {
            self.forget_from(0)?;
        }
        if self.has_changed {
            self.transaction
                .prepare_cached("UPDATE session SET said = said + 1 WHERE id = ?1")?
                .execute([self.session])?;
        }
        Ok(())
    }

    fn insert(&mut self, message: &SaidMessage) -> Result<()> {
        let SaidMessage { sequence, kind, at_ms, text } = message;
        self.transaction
            .prepare_cached("INSERT INTO message (session, sequence, kind, at, text) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute((self.session, sequence, kind, at_ms, text))?;
        self.has_changed = true;
        Ok(())
    }
}

/// The user's first message serves as the title of a session without one.
pub(super) fn first_said(transaction: &Transaction, session: i64) -> Result<Option<String>> {
    let text: Option<String> = transaction
        .prepare_cached(
            "SELECT text FROM message WHERE session = ?1 AND kind = 'user' ORDER BY sequence LIMIT 1",
        )?
        .query_row([session], |row| row.get(0))
        .optional()?;
    let line = text.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    Ok(line.map(|line| shorten(line, MAX_TITLE_BYTES)))
}

/// Returns whether the session keeps its queue state after a read without new content.
pub(super) fn is_placed(transaction: &Transaction, session: i64) -> Result<bool> {
    transaction
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM job WHERE session = ?1
               AND state IN ('pending', 'running', 'done', 'empty'))",
        )?
        .query_row([session], |row| row.get(0))
}

/// Inserts a source without a stamp, so that it does not appear unchanged if the process is killed
/// before the last session is read.
pub(super) fn put_source(
    transaction: &Transaction,
    source: &TraceSource,
    version: u32,
) -> Result<i64> {
    let key = (source.agent.as_str(), path_text(&source.path), version);
    transaction
        .prepare_cached(
            "INSERT INTO source (agent, path, size, modified, inode, version) VALUES (?1, ?2, -1, 0, 0, ?3)
             ON CONFLICT (agent, path) DO UPDATE SET path = path RETURNING id",
        )?
        .query_row(key, |row| row.get(0))
}

pub(super) fn stamp_source(
    transaction: &Transaction,
    id: i64,
    source: &TraceSource,
    version: u32,
) -> Result<()> {
    let [size, modified, inode] = columns(source.stamp);
    transaction
        .prepare_cached(
            "UPDATE source SET size = ?2, modified = ?3, inode = ?4, version = ?5 WHERE id = ?1",
        )?
        .execute((id, size, modified, inode, version))
        .map(drop)
}

pub(super) fn put_session(transaction: &Transaction, source: i64, trace: &Trace) -> Result<i64> {
    transaction
        .prepare_cached(
            "INSERT INTO session (key, source, inner_id, agent, session_id, grown, facts, report)
             VALUES (:key, :source, :inner, :agent, :inner, 0, '', '')
             ON CONFLICT (source, inner_id) DO UPDATE SET key = key RETURNING id",
        )?
        .query_row(
            named_params! {
                ":key": key_of(trace), ":source": source, ":inner": inner(trace),
                ":agent": trace.source.agent.as_str(),
            },
            |row| row.get(0),
        )
}

pub(super) fn inner(trace: &Trace) -> &str {
    trace.session.as_deref().unwrap_or_default()
}
