//! What clients were sent about a task, byte for byte, so that a replay gives the same.
//!
//! Messages of a task are numbered from 1 without gaps, and exactly one of them is the last. When the process of a task
//! died before it could send that one, whoever recovers the state supplies it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use super::db::State;
use super::error::StateError;
use super::items::clean_json;
use super::row::{count, whole};
use super::tasks::{self, TaskRecord};
use crate::record::{Runner, TaskId};

/// Whether a message is the last of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEnd {
    MoreFollow,
    /// The terminal message.
    Last,
}

/// Messages to append, in order.
#[derive(Clone, Copy, Debug)]
pub struct NewMessages<'a> {
    pub task: &'a TaskId,
    /// The number of the first of them.
    pub first: u64,
    pub texts: &'a [String],
    /// Of the last of them.
    pub end: MessageEnd,
}

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    pub sequence: u64,
    pub end: MessageEnd,
    /// A JSON document in one line.
    pub text: String,
}

impl State {
    /// Appends messages in one transaction and returns them as they are kept: without secrets. These texts, and not
    /// those that came in, are what clients are sent.
    pub fn append_messages(&mut self, new: NewMessages<'_>) -> Result<Vec<String>, StateError> {
        let texts = self.clean_texts(new.texts)?;
        self.write(|transaction| {
            tasks::get(transaction, new.task)?;
            let next = next_of(transaction, new.task)?;
            let order = |expected: String| StateError::MessageOrder {
                task: new.task.clone(),
                given: new.first,
                expected,
            };
            match next {
                None => return Err(order("its last message was sent".to_owned())),
                Some(next) if next != new.first => {
                    return Err(order(format!("{next} is next")));
                }
                Some(_) => {}
            }
            append(transaction, new.task, new.first, &texts, new.end)?;
            Ok(())
        })?;
        Ok(texts)
    }

    /// The messages of a task with numbers above `after`, in order.
    pub fn messages_after(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<MessageRecord>, StateError> {
        self.read(|connection| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let found = connection
                .prepare_cached(
                    "SELECT sequence, is_last, json FROM message WHERE task = ?1 AND sequence > ?2
                     ORDER BY sequence LIMIT ?3",
                )?
                .query_map(params![task.as_str(), whole(after), limit], |row| {
                    let is_last: bool = row.get(1)?;
                    Ok(MessageRecord {
                        sequence: count(row, 0)?,
                        end: if is_last { MessageEnd::Last } else { MessageEnd::MoreFollow },
                        text: row.get(2)?,
                    })
                })?
                .collect::<Result<_, _>>()?;
            Ok(found)
        })
    }

    /// Ends the tasks of processes that are gone, and gives every ended task of theirs that is part of a conversation
    /// its terminal message: `text` makes it from the task and the number that the message has.
    ///
    /// Doing it again adds nothing. Tasks of living processes are left to them.
    pub fn recover(
        &mut self,
        here: &Runner,
        now: Timestamp,
        text: impl Fn(&TaskRecord, u64) -> String,
    ) -> Result<Vec<TaskId>, StateError> {
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
                append(transaction, &task.id, next, &texts, MessageEnd::Last)?;
            }
            Ok(ended.into_iter().map(|task| task.id).collect())
        })
    }

    fn clean_texts(&self, texts: &[String]) -> Result<Vec<String>, StateError> {
        let mut clean = Vec::with_capacity(texts.len());
        for text in texts {
            let json: Value = serde_json::from_str(text).map_err(StateError::NotJson)?;
            let redacted = self.words().redact(text);
            // The very bytes that came in, where there is nothing to take out.
            let is_kept = redacted == text.as_str() && !text.contains('\n');
            clean.push(if is_kept { text.clone() } else { clean_json(&json, self.words()) });
        }
        Ok(clean)
    }
}

/// The number of the next message; `None` after the last one.
fn next_of(connection: &Connection, task: &TaskId) -> Result<Option<u64>, StateError> {
    let last = connection
        .prepare_cached(
            "SELECT sequence, is_last FROM message WHERE task = ?1 ORDER BY sequence DESC LIMIT 1",
        )?
        .query_row([task.as_str()], |row| Ok((count(row, 0)?, row.get::<_, bool>(1)?)))
        .optional()?;
    Ok(match last {
        None => Some(1),
        Some((_, true)) => None,
        Some((sequence, false)) => Some(sequence + 1),
    })
}

fn append(
    connection: &Connection,
    task: &TaskId,
    first: u64,
    texts: &[String],
    end: MessageEnd,
) -> Result<(), StateError> {
    for (idx, text) in texts.iter().enumerate() {
        let is_last = end == MessageEnd::Last && idx + 1 == texts.len();
        connection
            .prepare_cached(
                "INSERT INTO message (task, sequence, is_last, json) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![task.as_str(), whole(first + idx as u64), is_last, text])?;
    }
    Ok(())
}
