//! The stored messages from which the search index is built.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row};

use super::*;

use crate::transcript::{EventKind, Lane, TranscriptEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidMessage {
    pub sequence: i64,
    /// Either `user` or `assistant`.
    pub kind: String,
    pub at_ms: Option<i64>,
    pub text: String,
}

impl SaidMessage {
    /// Returns `None` for events that are not indexed: tool output, reasoning, injected text, and
    /// history inherited from a parent session.
    pub fn of(event: &TranscriptEvent) -> Option<Self> {
        let is_said = event.kind == EventKind::Assistant
            || event.kind == EventKind::User && event.person().is_some();
        if !is_said || event.lane == Lane::Inherited || event.text.is_empty() {
            return None;
        }
        let text = match event.text.tail() {
            "" => event.text.head().to_owned(),
            tail => format!("{}\n…\n{tail}", event.text.head()),
        };
        Some(Self {
            sequence: i64::try_from(event.sequence).unwrap_or(i64::MAX),
            kind: event.kind.as_str().to_owned(),
            at_ms: event.timestamp.map(Timestamp::as_millisecond),
            text,
        })
    }
}

#[derive(Clone, Debug)]
pub struct SaidSession {
    pub id: i64,
    pub key: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
    /// A value that changes whenever the messages change.
    pub stamp: u64,
    /// Whether the session is a copy of one in another store.
    pub is_twin: bool,
}

const SESSION_COLUMNS: &str = "s.id, s.key, s.agent, s.title, s.project, s.said,
    coalesce((SELECT substr(j.reason, 1, ?1) = ?2 FROM job j WHERE j.session = s.id), 0)";

const MESSAGE_COLUMNS: &str = "m.sequence, m.kind, m.at, m.text";

impl Catalog {
    pub fn said_sessions(&self) -> Result<Vec<SaidSession>> {
        let sql =
            format!("SELECT {SESSION_COLUMNS} FROM session s WHERE s.said > 0 ORDER BY s.id DESC");
        Ok(rows(&self.connection, &sql, (SAME.len() as i64, SAME), session)?)
    }

    pub fn has_messages(&self, session: &str) -> Result<bool> {
        let mut statement =
            self.connection.prepare_cached("SELECT 1 FROM session WHERE id = ?1 AND said > 0")?;
        Ok(statement.exists([session])?)
    }

    pub fn messages_of(&self, session: i64, limit: usize) -> Result<Vec<SaidMessage>> {
        let sql = format!(
            "SELECT * FROM (
                 SELECT {MESSAGE_COLUMNS} FROM message m WHERE session = ?1
                 ORDER BY sequence DESC LIMIT ?2
             ) ORDER BY sequence"
        );
        let params = (session, limit_of(Some(limit)));
        Ok(rows(&self.connection, &sql, params, |row| message(row, 0))?)
    }

    pub fn message(
        &self,
        session_id: &str,
        sequence: &str,
    ) -> Result<Option<(SaidSession, SaidMessage)>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {SESSION_COLUMNS}, {MESSAGE_COLUMNS} FROM message m
             JOIN session s ON s.id = m.session
             WHERE m.session = CAST(?3 AS INTEGER) AND m.sequence = CAST(?4 AS INTEGER)"
        ))?;
        let parameters = (SAME.len() as i64, SAME, session_id, sequence);
        let found = statement.query_row(parameters, |row| Ok((session(row)?, message(row, 7)?)));
        Ok(found.optional()?)
    }
}

fn session(row: &Row) -> rusqlite::Result<SaidSession> {
    let is_twin: bool = row.get(6)?;
    Ok(SaidSession {
        id: row.get(0)?,
        key: row.get(1)?,
        agent: row.get(2)?,
        title: row.get(3)?,
        project: row.get(4)?,
        stamp: row.get::<_, i64>(5)?.unsigned_abs() * 2 + u64::from(is_twin) + 1,
        is_twin,
    })
}

fn message(row: &Row, first: usize) -> rusqlite::Result<SaidMessage> {
    Ok(SaidMessage {
        sequence: row.get(first)?,
        kind: row.get(first + 1)?,
        at_ms: row.get(first + 2)?,
        text: row.get(first + 3)?,
    })
}
