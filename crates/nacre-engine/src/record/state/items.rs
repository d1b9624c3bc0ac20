//! Conversation items, and the messages sent to a conversation's clients.
//!
//! Only the process that runs the session's task can append items, so that two programs cannot
//! write to the same conversation. Messages are numbered from 1 without gaps, and exactly one of
//! them is marked as the last.

use std::ops::Range;

use jiff::Timestamp;
use nacre_base::redact::ExtraWords;
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::model::edit_strings;
use crate::record::state::TaskStore as _;
use crate::record::state::db::{
    Result, State, StateError, count, execute, json, parse_column, row, rows, sql_limit, time,
    whole,
};
use crate::record::state::tasks::{self, TaskRecord};
use crate::record::{Runner, SessionId, TaskId};

#[derive(Clone, Debug, PartialEq)]
pub struct NewItem {
    pub kind: String,
    /// The item. If an item has a `text` field, searches cover that field.
    pub json: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ItemRecord {
    pub sequence: u64,
    pub task: TaskId,
    pub at: Timestamp,
    pub kind: String,
    pub json: Value,
}

impl State {
    /// Appends items in one transaction and returns their numbers. Fails unless the task is running
    /// in this session and belongs to this runner.
    pub fn append_items(
        &mut self,
        session: &SessionId,
        task: &TaskId,
        runner: &Runner,
        items: &[NewItem],
        now: Timestamp,
    ) -> Result<Range<u64>> {
        let texts: Vec<String> =
            items.iter().map(|item| clean_json(&item.json, self.words())).collect();
        self.write(|transaction| {
            super::sessions::get(transaction, session)?;
            let is_held = row(transaction, "SELECT 1 FROM task JOIN runner ON runner.id = task.runner
             WHERE task.id = ?1 AND task.session = ?2 AND task.parent IS NULL AND task.state = 'running'
               AND runner.host = ?3 AND runner.pid = ?4 AND runner.birth = ?5", params![task.as_str(), session.as_str(), runner.host, runner.pid, runner.birth], |_| Ok(()))?;
            is_held.ok_or_else(|| {
                StateError::NotHeld { session: session.clone(), task: task.clone() }
            })?;
            let (session, at) = (session.as_str(), now.as_microsecond());
            let last: i64 = transaction
                .prepare_cached("SELECT coalesce(max(sequence), 0) FROM item WHERE session = ?1")?
                .query_row([session], |row| row.get(0))?;
            let first = last.unsigned_abs() + 1;
            let mut next = first;
            for (item, json) in items.iter().zip(&texts) {
                let sql = "INSERT INTO item (session, sequence, task, at, kind, json)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let values = params![session, whole(next), task.as_str(), at, item.kind, json];
                execute(transaction, sql, values)?;
                next += 1;
            }
            let sql = "UPDATE session SET updated = max(updated, ?2) WHERE id = ?1";
            execute(transaction, sql, params![session, at])?;
            Ok(first..next)
        })
    }

    pub fn items(&self, session: &SessionId, after: u64, limit: usize) -> Result<Vec<ItemRecord>> {
        self.read(|connection| {
            let limit = sql_limit(limit);
            rows(connection, "SELECT sequence, task, at, kind, json FROM item WHERE session = ?1 AND sequence > ?2
                     ORDER BY sequence LIMIT ?3", params![session.as_str(), whole(after), limit], record)
        })
    }

    /// Returns whether the JSON of any item in any conversation contains this string.
    pub fn has_item_with(&self, letters: &str) -> Result<bool> {
        self.read(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM item WHERE instr(json, ?1) > 0)";
            Ok(connection.query_row(sql, [letters], |row| row.get(0))?)
        })
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<ItemRecord> {
    Ok(ItemRecord {
        sequence: count(row, 0)?,
        task: parse_column(row, 1, "not an id")?,
        at: time(row, 2)?,
        kind: row.get(3)?,
        json: json(row, 4, "not a JSON document")?,
    })
}

/// Serializes the document with secrets and project words redacted.
///
/// Redacts the complete JSON text first, because a field name can reveal that its value is a
/// secret. If the result is not valid JSON, redacts each string separately instead.
pub(super) fn clean_json(json: &Value, words: &ExtraWords) -> String {
    let text = json.to_string();
    let clean = words.redact(&text);
    if clean == text || serde_json::from_str::<Value>(&clean).is_ok() {
        return clean.into_owned();
    }
    let mut json = json.clone();
    edit_strings(&mut json, &mut |text| *text = words.redact(text).into_owned());
    json.to_string()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    pub sequence: u64,
    pub is_last: bool,
    /// A JSON document on one line.
    pub text: String,
}

impl State {
    /// Appends messages in one transaction and returns them as stored, with secrets redacted.
    /// Callers must send the returned text to clients, not the original.
    pub fn append_messages(
        &mut self,
        task: &TaskId,
        first: u64,
        texts: &[String],
        is_last: bool,
    ) -> Result<Vec<String>> {
        let texts = self.clean_texts(texts)?;
        self.write(|transaction| {
            tasks::get(transaction, task)?;
            let expected = match next_of(transaction, task)? {
                None => "its last message has already been sent".to_owned(),
                Some(next) if next != first => format!("{next} is next"),
                Some(_) => return append_rows(transaction, task, first, &texts, is_last),
            };
            Err(StateError::MessageOrder { task: task.clone(), given: first, expected })
        })?;
        Ok(texts)
    }

    pub fn messages_after(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<MessageRecord>> {
        self.read(|connection| {
            let limit = sql_limit(limit);
            let sql =
                "SELECT sequence, is_last, json FROM message WHERE task = ?1 AND sequence > ?2
                     ORDER BY sequence LIMIT ?3";
            rows(connection, sql, params![task.as_str(), whole(after), limit], |row| {
                Ok(MessageRecord {
                    sequence: count(row, 0)?,
                    is_last: row.get(1)?,
                    text: row.get(2)?,
                })
            })
        })
    }

    /// Ends the tasks of dead processes. In conversations, also appends the missing final message
    /// of each of these tasks. `text` builds it from the task and the message number.
    ///
    /// This function is idempotent and does not affect the tasks of living processes.
    pub fn recover(
        &mut self,
        here: &Runner,
        now: Timestamp,
        text: impl Fn(&TaskRecord, u64) -> String,
    ) -> Result<Vec<TaskId>> {
        self.clear_dead(here, now)?;
        let gone = self.gone_without_last_message(here, now)?;
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let words = self.words().clone();
        self.write(|transaction| {
            let mut ended = Vec::new();
            for runner in gone {
                ended.extend(tasks::without_last_message(transaction, runner)?);
            }
            for task in &ended {
                let next = next_of(transaction, &task.id)?.unwrap_or(1);
                let json: Value =
                    serde_json::from_str(&text(task, next)).map_err(StateError::NotJson)?;
                let texts = [clean_json(&json, &words)];
                append_rows(transaction, &task.id, next, &texts, true)?;
            }
            Ok(ended.into_iter().map(|task| task.id).collect())
        })
    }

    fn clean_texts(&self, texts: &[String]) -> Result<Vec<String>> {
        let clean = |text: &String| {
            let json: Value = serde_json::from_str(text).map_err(StateError::NotJson)?;
            // Keep the original bytes if nothing was redacted.
            let is_kept = self.words().redact(text) == text.as_str() && !text.contains('\n');
            Ok(if is_kept { text.clone() } else { clean_json(&json, self.words()) })
        };
        texts.iter().map(clean).collect()
    }
}

/// Returns the next message number, or `None` after the last message.
fn next_of(connection: &Connection, task: &TaskId) -> Result<Option<u64>> {
    let sql =
        "SELECT sequence, is_last FROM message WHERE task = ?1 ORDER BY sequence DESC LIMIT 1";
    let last =
        row(connection, sql, [task.as_str()], |row| Ok((count(row, 0)?, row.get::<_, bool>(1)?)))?;
    Ok(match last {
        None => Some(1),
        Some((_, true)) => None,
        Some((sequence, false)) => Some(sequence + 1),
    })
}

fn append_rows(
    connection: &Connection,
    task: &TaskId,
    first: u64,
    texts: &[String],
    has_last: bool,
) -> Result<()> {
    for (idx, text) in texts.iter().enumerate() {
        let is_last = has_last && idx + 1 == texts.len();
        let sql = "INSERT INTO message (task, sequence, is_last, json) VALUES (?1, ?2, ?3, ?4)";
        let sequence = whole(first + idx as u64);
        execute(connection, sql, params![task.as_str(), sequence, is_last, text])?;
    }
    Ok(())
}
