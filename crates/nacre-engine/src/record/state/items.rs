//! The items of a conversation: what was said and done, in order, and never changed.
//!
//! What an item says is another room's business; here it is a kind and a JSON document. Only the process that runs the
//! session's task can append, so that two programs on one conversation cannot write into each other.

use std::ops::Range;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::db::State;
use super::error::StateError;
use super::row::{Bad, bad, count, time, whole};
use crate::record::{Runner, SessionId, TaskId};

/// An item to append.
#[derive(Clone, Debug, PartialEq)]
pub struct NewItem {
    /// A word that readers choose by.
    pub kind: String,
    /// Search looks at its `text`, where it has one.
    pub json: Value,
}

/// An item as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRecord {
    /// From 1, without gaps.
    pub sequence: u64,
    pub task: TaskId,
    pub at: Timestamp,
    pub kind: String,
    pub json: Value,
}

/// Who says that a session's running task is theirs.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    pub session: &'a SessionId,
    pub task: &'a TaskId,
    pub runner: &'a Runner,
}

impl State {
    /// Appends items in one transaction and returns their numbers. Refused unless the task is the session's running one
    /// and this runner's.
    pub fn append_items(
        &mut self,
        holder: Holder<'_>,
        items: &[NewItem],
        now: Timestamp,
    ) -> Result<Range<u64>, StateError> {
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            texts.push(clean_json(&item.json, self.words()));
        }
        self.write(|transaction| {
            check_held(transaction, holder)?;
            let session = holder.session.as_str();
            let last: i64 = transaction
                .prepare_cached("SELECT coalesce(max(sequence), 0) FROM item WHERE session = ?1")?
                .query_row([session], |row| row.get(0))?;
            let first = last.unsigned_abs() + 1;
            let mut next = first;
            for (item, json) in items.iter().zip(&texts) {
                transaction
                    .prepare_cached(
                        "INSERT INTO item (session, sequence, task, at, kind, json)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute(params![
                        session,
                        whole(next),
                        holder.task.as_str(),
                        now.as_microsecond(),
                        item.kind,
                        json,
                    ])?;
                next += 1;
            }
            transaction
                .prepare_cached("UPDATE session SET updated = max(updated, ?2) WHERE id = ?1")?
                .execute(params![session, now.as_microsecond()])?;
            Ok(first..next)
        })
    }

    /// The items of a conversation with numbers above `after`, in order.
    pub fn items(
        &self,
        session: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ItemRecord>, StateError> {
        self.read(|connection| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let found = connection
                .prepare_cached(
                    "SELECT sequence, task, at, kind, json FROM item WHERE session = ?1 AND sequence > ?2
                     ORDER BY sequence LIMIT ?3",
                )?
                .query_map(params![session.as_str(), whole(after), limit], record)?
                .collect::<Result<_, _>>()?;
            Ok(found)
        })
    }

    /// Whether an item of any conversation has these letters.
    pub fn has_item_with(&self, letters: &str) -> Result<bool, StateError> {
        self.read(|connection| {
            Ok(connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM item WHERE instr(json, ?1) > 0)",
                [letters],
                |row| row.get(0),
            )?)
        })
    }
}

/// Refuses who does not hold the running task of a conversation.
fn check_held(connection: &Connection, holder: Holder<'_>) -> Result<(), StateError> {
    let Holder { session, task, runner } = holder;
    super::sessions::get(connection, session)?;
    let is_held = connection
        .prepare_cached(
            "SELECT 1 FROM task JOIN runner ON runner.id = task.runner
             WHERE task.id = ?1 AND task.session = ?2 AND task.parent IS NULL AND task.state = 'running'
               AND runner.host = ?3 AND runner.pid = ?4 AND runner.birth = ?5",
        )?
        .query_row(
            params![task.as_str(), session.as_str(), runner.host, runner.pid, runner.birth],
            |_| Ok(()),
        )
        .optional()?;
    is_held.ok_or_else(|| StateError::NotHeld { session: session.clone(), task: task.clone() })
}

fn record(row: &Row<'_>) -> rusqlite::Result<ItemRecord> {
    let task: String = row.get(1)?;
    let json: String = row.get(4)?;
    Ok(ItemRecord {
        sequence: count(row, 0)?,
        task: task.parse().map_err(|_| bad(1, Bad::Id))?,
        at: time(row, 2)?,
        kind: row.get(3)?,
        json: serde_json::from_str(&json).map_err(|_| bad(4, Bad::Json))?,
    })
}

/// The document as text, without secrets and words of the project's.
///
/// The text is looked at as a whole, because the name of a field may be what gives a secret away. Should that leave no
/// JSON, the strings are looked at one by one.
pub(super) fn clean_json(json: &Value, words: &ExtraWords) -> String {
    let text = json.to_string();
    let clean = words.redact(&text);
    if clean == text || serde_json::from_str::<Value>(&clean).is_ok() {
        return clean.into_owned();
    }
    let mut json = json.clone();
    redact_strings(&mut json, words);
    json.to_string()
}

fn redact_strings(json: &mut Value, words: &ExtraWords) {
    match json {
        Value::String(text) => *text = words.redact(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| redact_strings(value, words)),
        Value::Object(fields) => fields.values_mut().for_each(|value| redact_strings(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
