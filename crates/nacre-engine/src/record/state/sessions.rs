//! Sessions, conversations, and full-text search over conversations.
//!
//! Every task has a session. A session created by `create_session` is a conversation: it is kept
//! until the user deletes it, and can be listed, resumed and forked.

use jiff::Timestamp;
use nacre_types::SessionSearchHit;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params, params_from_iter};

use crate::record::SessionId;
use crate::record::state::db::{
    Result, State, StateError, count, execute, parse_column, parse_optional_column, row, rows,
    sql_limit, time, whole,
};

const MAX_TITLE_CHARS: usize = 60;

/// Minimum length of an ID prefix. Shorter prefixes would match too many sessions.
const MIN_PREFIX_CHARS: usize = 3;

const MAX_CANDIDATES: usize = 6;

const COLUMNS: &str = "id, title, workspace, project, model, approval, parent, created, updated,
  (SELECT coalesce(max(sequence), 0) FROM item WHERE item.session = session.id)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: SessionId,
    /// The first words of the session's first task, unless the user has renamed the session. Empty
    /// before the first task.
    pub title: String,
    pub workspace: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    pub approval: Option<String>,
    /// The conversation that this one was forked from, which may have been deleted.
    pub parent: Option<SessionId>,
    pub created: Timestamp,
    pub updated: Timestamp,
    /// Number of the last item, or 0 if there are no items.
    pub last_item: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    pub id: SessionId,
    /// The title. If empty, the first words of the first task become the title.
    pub title: String,
    pub workspace: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    pub approval: Option<String>,
}

/// Changes to a conversation. `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChange {
    pub title: Option<String>,
    pub model: Option<String>,
    pub approval: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionMatch {
    One(Box<SessionRecord>),
    Nothing,
    Many(Vec<SessionRecord>),
}

impl State {
    pub fn create_session(&mut self, new: &NewSession, now: Timestamp) -> Result<SessionRecord> {
        let title = self.title(&new.title);
        self.write(|transaction| {
            insert(transaction, new, &title, None, now)?;
            get(transaction, &new.id)
        })
    }

    pub fn session(&self, id: &SessionId) -> Result<SessionRecord> {
        self.read(|connection| get(connection, id))
    }

    /// Returns the conversation whose ID begins with `start`, with or without `sess_`. Prefixes
    /// shorter than `MIN_PREFIX_CHARS` match nothing.
    pub fn find_session(&self, start: &str) -> Result<SessionMatch> {
        let rest = start.strip_prefix(SessionId::PREFIX).unwrap_or(start);
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        if rest.len() < MIN_PREFIX_CHARS || !is_plain {
            return Ok(SessionMatch::Nothing);
        }
        let start = format!("{}{rest}", SessionId::PREFIX);
        self.read(|connection| {
            // In ASCII, `{` follows `z`, so it is the upper bound for IDs with this prefix.
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND id >= ?1 AND id < ?1 || '{{' ORDER BY id LIMIT ?2"
            );
            let mut found: Vec<SessionRecord> =
                rows(connection, &sql, params![start, MAX_CANDIDATES as i64], record)?;
            let is_exact = found.first().is_some_and(|session| session.id.as_str() == start);
            Ok(match found.len() {
                0 => SessionMatch::Nothing,
                n if n == 1 || is_exact => SessionMatch::One(Box::new(found.remove(0))),
                _ => SessionMatch::Many(found),
            })
        })
    }

    /// Returns the conversations in one workspace or in all workspaces, most recently used first.
    pub fn conversations(
        &self,
        workspace: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionRecord>> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND (?1 IS NULL OR workspace = ?1)
                 ORDER BY updated DESC, id LIMIT ?2"
            );
            rows(connection, &sql, params![workspace, sql_limit(limit)], record)
        })
    }

    pub fn active_session(&self, workspace: &str) -> Result<Option<SessionRecord>> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session
                 WHERE is_conversation = 1 AND id = (SELECT session FROM active_session WHERE workspace = ?1)"
            );
            row(connection, &sql, [workspace], record)
        })
    }

    pub fn set_active_session(&mut self, workspace: &str, session: &SessionId) -> Result<()> {
        self.write(|transaction| {
            get(transaction, session)?;
            transaction.execute(
                "INSERT INTO active_session (workspace, session) VALUES (?1, ?2)
                 ON CONFLICT (workspace) DO UPDATE SET session = excluded.session",
                params![workspace, session.as_str()],
            )?;
            Ok(())
        })
    }

    pub fn change_session(
        &mut self,
        id: &SessionId,
        change: &SessionChange,
    ) -> Result<SessionRecord> {
        let title = change.title.as_deref().map(|title| self.title(title));
        self.write(|transaction| {
            get(transaction, id)?;
            execute(
                transaction,
                "UPDATE session SET title = coalesce(?2, title), model = coalesce(?3, model),
                       approval = coalesce(?4, approval)
                     WHERE id = ?1",
                params![id.as_str(), title, change.model, change.approval],
            )?;
            get(transaction, id)
        })
    }

    /// Creates a conversation that starts with another conversation's items: either all of them or
    /// those up to the given number. The new conversation inherits the workspace, project, model
    /// and policy.
    pub fn fork_session(
        &mut self,
        from: &SessionId,
        up_to: Option<u64>,
        id: &SessionId,
        now: Timestamp,
    ) -> Result<SessionRecord> {
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

    /// Removes a session. Fails if any of its tasks has not ended.
    pub fn remove_session(&mut self, id: &SessionId) -> Result<()> {
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
) -> Result<()> {
    let NewSession { id, title: _, workspace, project, model, approval } = new;
    let n_new = execute(connection, "INSERT INTO session (id, title, workspace, project, model, approval, parent, created, updated,
               is_conversation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 1) ON CONFLICT (id) DO NOTHING", params![
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

pub(super) fn get(connection: &Connection, id: &SessionId) -> Result<SessionRecord> {
    let sql = format!("SELECT {COLUMNS} FROM session WHERE is_conversation = 1 AND id = ?1");
    let found = row(connection, &sql, [id.as_str()], record)?;
    found.ok_or_else(|| StateError::UnknownSession { id: id.to_string() })
}

fn record(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        id: parse_column(row, 0, "not an id")?,
        title: row.get(1)?,
        workspace: row.get(2)?,
        project: row.get(3)?,
        model: row.get(4)?,
        approval: row.get(5)?,
        parent: parse_optional_column(row, 6, "not an id")?,
        created: time(row, 7)?,
        updated: time(row, 8)?,
        last_item: count(row, 9)?,
    })
}

/// Creates the session if it is missing, and updates its last-used time. `title` is used only if
/// the session has no title yet.
pub(super) fn touch(
    connection: &Connection,
    id: &SessionId,
    title: &str,
    workspace: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    execute(
        connection,
        "INSERT INTO session (id, title, workspace, created, updated) VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (id) DO UPDATE SET updated = max(updated, excluded.updated),
               title = CASE title WHEN '' THEN excluded.title ELSE title END",
        params![id.as_str(), short_title(title), workspace, now.as_microsecond()],
    )?;
    Ok(())
}

const MAX_WORDS: usize = 8;

const EXCERPT_CHARS: usize = 160;

impl State {
    /// Searches one or all conversations for items that contain all words of `query`, ignoring
    /// ASCII case. The most recently used conversations come first. Within a conversation, the
    /// newest items come first.
    pub fn search_items(
        &self,
        session: Option<&SessionId>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<SessionSearchHit>> {
        let words: Vec<&str> = query.split_whitespace().take(MAX_WORDS).collect();
        let Some(first) = words.first() else { return Ok(Vec::new()) };
        let mut sql = "SELECT session.id, title, sequence, json ->> 'text' AS text
             FROM item JOIN session ON session.id = item.session
             WHERE (?1 IS NULL OR session.id = ?1)"
            .to_owned();
        let mut values = vec![
            session.map_or(Sql::Null, |session| Sql::Text(session.to_string())),
            Sql::Integer(sql_limit(limit)),
        ];
        for word in &words {
            values.push(Sql::Text(pattern(word)));
            sql += &format!(" AND text LIKE ?{} ESCAPE '\\'", values.len());
        }
        sql += " ORDER BY updated DESC, session.id, sequence DESC LIMIT ?2";
        self.read(|connection| {
            rows(connection, &sql, params_from_iter(&values), |row| {
                Ok(SessionSearchHit {
                    session: row.get(0)?,
                    title: row.get(1)?,
                    sequence: count(row, 2)?,
                    excerpt: excerpt(&row.get::<_, String>(3)?, first),
                })
            })
        })
    }
}

fn pattern(word: &str) -> String {
    let mut pattern = "%".to_owned();
    for c in word.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

fn excerpt(text: &str, word: &str) -> String {
    let at = text.to_ascii_lowercase().find(&word.to_ascii_lowercase()).unwrap_or(0);
    let n_before = text[..at].chars().count().saturating_sub(EXCERPT_CHARS / 3);
    let cut: String = text.chars().skip(n_before).take(EXCERPT_CHARS).collect();
    nacre_base::text::collapse_whitespace(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_word_and_what_is_around_it() {
        let long = format!("{}Needle\n\tin hay {}", "é".repeat(400), "x".repeat(400));
        let shown = excerpt(&long, "needle");
        assert!(shown.contains("Needle in hay"), "{shown}");
        assert!(shown.chars().count() <= EXCERPT_CHARS);
        assert_eq!(excerpt("", "a"), "");
    }
}
