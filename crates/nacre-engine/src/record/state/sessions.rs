//! Sessions: what tasks that belong together have in common, and conversations, which are sessions with items.
//!
//! Every task has a session, also a sync that nobody talks to. A session is a conversation once it was made by
//! `create_session`: then it stays until it is removed, and can be listed, resumed and forked.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::db::State;
use super::error::StateError;
use super::row::{Bad, bad, count, time, whole};
use crate::record::SessionId;

/// A title is a line, not a letter.
const MAX_TITLE_CHARS: usize = 60;

/// A shorter start of an id names nothing: it would fit too much.
const MIN_PREFIX_CHARS: usize = 3;

/// So many sessions that fit the start of an id are named.
const MAX_CANDIDATES: usize = 6;

const COLUMNS: &str =
    "id, title, workspace, project, model, approval, parent, created, updated, archived,
  (SELECT coalesce(max(sequence), 0) FROM item WHERE item.session = session.id)";

/// A session in a line, conversation or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// The first words of its first task.
    pub title: String,
    pub workspace: Option<String>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: SessionId,
    /// The first words of its first task, until somebody renames it. Empty before there are any.
    pub title: String,
    /// The folder that it works in.
    pub workspace: Option<String>,
    /// The root of the project that the folder belongs to.
    pub project: Option<String>,
    /// The model that it was set to, if it was.
    pub model: Option<String>,
    /// The word of its approval policy.
    pub approval: Option<String>,
    /// The conversation that it was forked from. That one may be gone.
    pub parent: Option<SessionId>,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub archived: Option<Timestamp>,
    /// The number of its last item; 0 when there is none.
    pub last_item: u64,
}

/// A conversation that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    pub id: SessionId,
    /// Empty: the first words of its first task.
    pub title: String,
    pub workspace: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    pub approval: Option<String>,
}

/// What to change of a conversation; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChange {
    pub title: Option<String>,
    pub model: Option<String>,
    pub approval: Option<String>,
    pub is_archived: Option<bool>,
}

/// Which conversations to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversations<'a> {
    /// Only those of this folder.
    pub workspace: Option<&'a str>,
    pub with_archived: bool,
    pub limit: usize,
}

/// What the start of an id names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionMatch {
    One(Box<SessionRecord>),
    Nothing,
    /// The first of those that fit, by id.
    Many(Vec<SessionRecord>),
}

impl State {
    /// The latest sessions of all kinds, the one in use last first.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, StateError> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT id, title, workspace, created, updated FROM session ORDER BY updated DESC, id LIMIT ?1",
            )?;
            let sessions = rows.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(SessionSummary {
                    id: id_at(row, 0)?,
                    title: row.get(1)?,
                    workspace: row.get(2)?,
                    created: time(row, 3)?,
                    updated: time(row, 4)?,
                })
            })?;
            Ok(sessions.collect::<Result<_, _>>()?)
        })
    }

    /// Makes a conversation.
    pub fn create_session(
        &mut self,
        new: &NewSession,
        now: Timestamp,
    ) -> Result<SessionRecord, StateError> {
        let title = self.title(&new.title);
        self.write(|transaction| {
            insert(transaction, new, &title, None, now)?;
            get(transaction, &new.id)
        })
    }

    /// A conversation by its whole id.
    pub fn session(&self, id: &SessionId) -> Result<SessionRecord, StateError> {
        self.read(|connection| get(connection, id))
    }

    /// The conversation whose id begins with `start`, with or without `sess_`. Less than three characters name only
    /// the session with exactly that id, which is none.
    pub fn find_session(&self, start: &str) -> Result<SessionMatch, StateError> {
        let rest = start.strip_prefix(SessionId::PREFIX).unwrap_or(start);
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        if rest.len() < MIN_PREFIX_CHARS || !is_plain {
            return Ok(SessionMatch::Nothing);
        }
        let start = format!("{}{rest}", SessionId::PREFIX);
        self.read(|connection| {
            // The character behind `z` ends the range of all that begin with it.
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND id >= ?1 AND id < ?1 || '{{' ORDER BY id LIMIT ?2"
            );
            let found: Vec<SessionRecord> = connection
                .prepare_cached(&sql)?
                .query_map(params![start, MAX_CANDIDATES as i64], record)?
                .collect::<Result<_, _>>()?;
            let is_exact = found.first().is_some_and(|session| session.id.as_str() == start);
            let n_found = found.len();
            let first = found.first().cloned();
            Ok(match first {
                Some(session) if n_found == 1 || is_exact => SessionMatch::One(Box::new(session)),
                Some(_) => SessionMatch::Many(found),
                None => SessionMatch::Nothing,
            })
        })
    }

    /// Conversations, the one in use last first.
    pub fn conversations(
        &self,
        which: &Conversations<'_>,
    ) -> Result<Vec<SessionRecord>, StateError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND (?1 IS NULL OR workspace = ?1) AND (?2 OR archived IS NULL)
                 ORDER BY updated DESC, id LIMIT ?3"
            );
            let limit = i64::try_from(which.limit).unwrap_or(i64::MAX);
            let found = connection
                .prepare_cached(&sql)?
                .query_map(params![which.workspace, which.with_archived, limit], record)?
                .collect::<Result<_, _>>()?;
            Ok(found)
        })
    }

    /// The conversation that a folder is set to, if it is.
    pub fn active_session(&self, workspace: &str) -> Result<Option<SessionRecord>, StateError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND id = (SELECT session FROM active_session WHERE workspace = ?1)"
            );
            Ok(connection.prepare_cached(&sql)?.query_row([workspace], record).optional()?)
        })
    }

    /// Sets the conversation that a folder goes on with; `None` is none.
    pub fn set_active_session(
        &mut self,
        workspace: &str,
        session: Option<&SessionId>,
    ) -> Result<(), StateError> {
        self.write(|transaction| {
            let Some(session) = session else {
                transaction
                    .execute("DELETE FROM active_session WHERE workspace = ?1", [workspace])?;
                return Ok(());
            };
            get(transaction, session)?;
            transaction.execute(
                "INSERT INTO active_session (workspace, session) VALUES (?1, ?2)
                 ON CONFLICT (workspace) DO UPDATE SET session = excluded.session",
                params![workspace, session.as_str()],
            )?;
            Ok(())
        })
    }

    /// Renames a conversation, sets its model or policy, or archives it.
    pub fn change_session(
        &mut self,
        id: &SessionId,
        change: &SessionChange,
        now: Timestamp,
    ) -> Result<SessionRecord, StateError> {
        let title = change.title.as_deref().map(|title| self.title(title));
        let archived = change.is_archived.map(|is_archived| is_archived.then_some(now));
        self.write(|transaction| {
            get(transaction, id)?;
            transaction
                .prepare_cached(
                    "UPDATE session SET title = coalesce(?2, title), model = coalesce(?3, model),
                       approval = coalesce(?4, approval),
                       archived = CASE WHEN ?5 THEN ?6 ELSE archived END
                     WHERE id = ?1",
                )?
                .execute(params![
                    id.as_str(),
                    title,
                    change.model,
                    change.approval,
                    archived.is_some(),
                    archived.flatten().map(Timestamp::as_microsecond),
                ])?;
            get(transaction, id)
        })
    }

    /// Makes a conversation that begins with the items of another one, up to the given number; all of them where none
    /// is given. It has the other's folder, project, model and policy.
    pub fn fork_session(
        &mut self,
        from: &SessionId,
        up_to: Option<u64>,
        id: &SessionId,
        now: Timestamp,
    ) -> Result<SessionRecord, StateError> {
        self.write(|transaction| {
            let SessionRecord { title, workspace, project, model, approval, .. } =
                get(transaction, from)?;
            let new = NewSession {
                id: id.clone(),
                title: title.clone(),
                workspace,
                project,
                model,
                approval,
            };
            insert(transaction, &new, &title, Some(from), now)?;
            transaction.execute(
                "INSERT INTO item (session, sequence, task, at, kind, json)
                 SELECT ?2, sequence, task, at, kind, json FROM item
                 WHERE session = ?1 AND sequence <= ?3 ORDER BY sequence",
                params![from.as_str(), id.as_str(), up_to.map_or(i64::MAX, whole)],
            )?;
            get(transaction, id)
        })
    }

    /// Removes a conversation with its items, its tasks and everything that they told. Refused while a task of it is
    /// not over.
    pub fn remove_session(&mut self, id: &SessionId) -> Result<(), StateError> {
        self.write(|transaction| {
            get(transaction, id)?;
            let is_busy: bool = transaction.query_row(
                "SELECT EXISTS (SELECT 1 FROM task WHERE session = ?1 AND ended IS NULL)",
                [id.as_str()],
                |row| row.get(0),
            )?;
            if is_busy {
                return Err(StateError::SessionInUse { session: id.clone() });
            }
            for table in ["event", "model_call", "message"] {
                transaction.execute(
                    &format!(
                        "DELETE FROM {table} WHERE task IN (SELECT id FROM task WHERE session = ?1)"
                    ),
                    [id.as_str()],
                )?;
            }
            transaction.execute("DELETE FROM task WHERE session = ?1", [id.as_str()])?;
            transaction.execute("DELETE FROM session WHERE id = ?1", [id.as_str()])?;
            Ok(())
        })
    }

    /// A title as it is kept: one line, without secrets.
    fn title(&self, text: &str) -> String {
        short_title(&self.words().redact(text))
    }
}

fn short_title(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(MAX_TITLE_CHARS).collect()
}

fn insert(
    connection: &Connection,
    new: &NewSession,
    title: &str,
    parent: Option<&SessionId>,
    now: Timestamp,
) -> Result<(), StateError> {
    let NewSession { id, title: _, workspace, project, model, approval } = new;
    let n_new = connection
        .prepare_cached(
            "INSERT INTO session (id, title, workspace, project, model, approval, parent, created, updated,
               is_conversation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 1) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            id.as_str(),
            title,
            workspace,
            project,
            model,
            approval,
            parent.map(SessionId::as_str),
            now.as_microsecond(),
        ])?;
    match n_new {
        0 => Err(StateError::SessionExists { session: id.clone() }),
        _ => Ok(()),
    }
}

pub(super) fn get(connection: &Connection, id: &SessionId) -> Result<SessionRecord, StateError> {
    let sql = format!("SELECT {COLUMNS} FROM session WHERE is_conversation = 1 AND id = ?1");
    let found = connection.prepare_cached(&sql)?.query_row([id.as_str()], record).optional()?;
    found.ok_or_else(|| StateError::UnknownSession { id: id.to_string() })
}

fn record(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    let parent: Option<String> = row.get(6)?;
    let archived: Option<i64> = row.get(9)?;
    Ok(SessionRecord {
        id: id_at(row, 0)?,
        title: row.get(1)?,
        workspace: row.get(2)?,
        project: row.get(3)?,
        model: row.get(4)?,
        approval: row.get(5)?,
        parent: parent.map(|_| id_at(row, 6)).transpose()?,
        created: time(row, 7)?,
        updated: time(row, 8)?,
        archived: archived.map(|_| time(row, 9)).transpose()?,
        last_item: count(row, 10)?,
    })
}

pub(super) fn id_at(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionId> {
    row.get::<_, String>(column)?.parse().map_err(|_| bad(column, Bad::Id))
}

/// Makes the session where it is missing, and notes that it was used. A conversation without a title takes this one.
pub(super) fn touch(
    connection: &Connection,
    id: &SessionId,
    title: &str,
    workspace: Option<&str>,
    now: Timestamp,
) -> Result<(), StateError> {
    connection
        .prepare_cached(
            "INSERT INTO session (id, title, workspace, created, updated) VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (id) DO UPDATE SET updated = max(updated, excluded.updated),
               title = CASE title WHEN '' THEN excluded.title ELSE title END",
        )?
        .execute(params![id.as_str(), short_title(title), workspace, now.as_microsecond()])?;
    Ok(())
}
