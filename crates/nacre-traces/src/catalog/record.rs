//! Records one session's messages, facts and queue state in the catalog, in one transaction.

use std::borrow::Cow;
use std::cell::Cell;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Result, Transaction, named_params};

use super::*;

use crate::transcript::{
    Began, ReadOutcome, Trace, TraceSource, TranscriptEvent, Watermark, without_words,
};
use nacre_base::redact::ExtraWords;

const MAX_TITLE_CHARS: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Grown,
    /// The transcript was touched or restored but has no new content.
    Same,
}

impl Growth {
    pub(super) fn of(outcome: &ReadOutcome, texts: &Texts) -> Self {
        match (outcome.began, texts.first_sequence) {
            (Began::AtWatermark, None) => Self::Same,
            (Began::AtWatermark | Began::FromStart | Began::Restarted, _) => Self::Grown,
        }
    }
}

pub(super) struct Texts<'a> {
    transaction: &'a Transaction<'a>,
    session: i64,
    words: &'a ExtraWords,
    first_sequence: Option<u64>,
    has_changed: Cell<bool>,
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
            has_changed: Cell::new(false),
            failure: None,
        }
    }

    /// Returns the fingerprint of the redaction list that was applied.
    pub(super) fn words(&self) -> i64 {
        fingerprint(self.words)
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

    fn forget_from(&self, sequence: u64) -> Result<()> {
        let sequence = i64::try_from(sequence).unwrap_or(i64::MAX);
        self.transaction
            .prepare_cached("DELETE FROM message WHERE session = ?1 AND sequence >= ?2")?
            .execute((self.session, sequence))
            .map(|n_forgotten| self.has_changed.set(self.has_changed.get() || n_forgotten > 0))
    }

    /// If a rewritten transcript is now empty, its stored messages are deleted. If messages
    /// changed, the session is marked for indexing.
    pub(super) fn finish(&self, outcome: &ReadOutcome) -> Result<()> {
        match (outcome.began, self.first_sequence) {
            (Began::FromStart | Began::Restarted, None) => self.forget_from(0)?,
            (Began::FromStart | Began::Restarted | Began::AtWatermark, _) => {}
        }
        if self.has_changed.get() {
            self.transaction
                .prepare_cached("UPDATE session SET said = said + 1 WHERE id = ?1")?
                .execute([self.session])?;
        }
        Ok(())
    }

    fn insert(&self, message: &SaidMessage) -> Result<()> {
        let SaidMessage { sequence, kind, at_ms, text } = message;
        self.transaction
            .prepare_cached("INSERT INTO message (session, sequence, kind, at, text) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute((self.session, sequence, kind, at_ms, text))
            .map(|_| self.has_changed.set(true))
    }
}

pub(super) struct NewlyRead<'a> {
    pub(super) outcome: &'a ReadOutcome,
    pub(super) growth: Growth,
    pub(super) placing: &'a Placing,
    pub(super) words: &'a ExtraWords,
}

pub(super) fn record(
    transaction: &Transaction,
    session: i64,
    trace: &Trace,
    NewlyRead { outcome, growth, placing, words }: NewlyRead<'_>,
    moment: Moment,
) -> Result<()> {
    let mut facts = Cow::Borrowed(&outcome.facts);
    let (folder, project) = match placing {
        Placing::Project(root) => (Some(root), Some(path_text(root))),
        Placing::Unregistered(folder) => (Some(folder), None),
        Placing::Elsewhere(_) | Placing::Nowhere => (None, None),
    };
    // Not every agent records the repository.
    if facts.repository.is_none() {
        facts.to_mut().repository = folder.and_then(|folder| remote_of(folder));
    }
    if facts.title.is_none() {
        facts.to_mut().title = first_said(transaction, session)?;
    }
    let facts = &without_words(facts.into_owned(), words);
    let watermark = outcome
        .watermark
        .clone()
        .map(|watermark| Watermark { facts: without_words(watermark.facts, words), ..watermark });
    let last_activity =
        facts.last_activity.or(trace.source.stamp.modified).map(Timestamp::as_millisecond);
    transaction.execute(
        "UPDATE session SET revision = :revision, watermark = :watermark, session_id = :session_id,
           title = :title, cwd = :cwd, project = :project, started = :started, last_activity = :last,
           grown = grown + :growth, facts = :facts, report = :report, words_read = :words, words_kept = :words
         WHERE id = :id",
        named_params! {
            ":revision": trace.revision, ":watermark": watermark.as_ref().map(json),
            ":session_id": facts.id, ":title": facts.title, ":cwd": facts.cwd, ":project": project,
            ":started": facts.started.map(Timestamp::as_millisecond), ":last": last_activity,
            ":growth": u32::from(growth == Growth::Grown), ":facts": json(facts),
            ":report": json(&outcome.report), ":words": fingerprint(words), ":id": session,
        },
    )?;
    if growth == Growth::Grown || !is_placed(transaction, session)? {
        let admission = admit(facts, placing, trace.source.stamp, moment);
        set_job(transaction, session, &admission, moment.now)?;
    }
    twins::settle(transaction, session, moment)
}

/// The user's first message serves as the title of a session without one.
fn first_said(transaction: &Transaction, session: i64) -> Result<Option<String>> {
    let text: Option<String> = transaction
        .prepare_cached(
            "SELECT text FROM message WHERE session = ?1 AND kind = 'user' ORDER BY sequence LIMIT 1",
        )?
        .query_row([session], |row| row.get(0))
        .optional()?;
    let line = text.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    Ok(line.map(title_of))
}

fn title_of(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => {
            let head = &line[..end];
            format!("{}…", head.rfind(' ').map_or(head, |space| head[..space].trim_end()))
        }
    }
}

/// Returns whether the session keeps its queue state after a read without new content.
fn is_placed(transaction: &Transaction, session: i64) -> Result<bool> {
    transaction
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM job WHERE session = ?1
               AND state IN ('pending', 'running', 'done', 'empty'))",
        )?
        .query_row([session], |row| row.get(0))
}

pub(super) fn put_source(
    transaction: &Transaction,
    source: &TraceSource,
    version: u32,
) -> Result<i64> {
    let [size, modified, inode] = columns(source.stamp);
    transaction
        .prepare_cached(
            "INSERT INTO source (agent, path, size, modified, inode, version)
             VALUES (:agent, :path, :size, :modified, :inode, :version)
             ON CONFLICT (agent, path) DO UPDATE SET size = :size, modified = :modified, inode = :inode,
               version = :version RETURNING id",
        )?
        .query_row(
            named_params! {
                ":agent": source.agent.as_str(), ":path": path_text(&source.path), ":size": size,
                ":modified": modified, ":inode": inode, ":version": version,
            },
            |row| row.get(0),
        )
}

/// Inserts a source without a stamp, so that it does not appear unchanged if the process is killed
/// before the last session is read.
pub(super) fn put_source_unread(
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
