//! Reads OpenCode's SQLite databases. Tables with secrets, such as `account` and `credential`, are
//! never queried.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::newer;
use super::talk::SessionParser;

const MAX_MESSAGES: usize = 200_000;
const MAX_SESSIONS: usize = 200_000;

/// The table that all databases of OpenCode have, except empty ones.
const SESSION: &str = "session";

pub(super) fn sessions(store: &Store) -> Result<BTreeMap<String, String>> {
    let mut sessions = BTreeMap::new();
    if !store.has_table(SESSION)? {
        return Ok(sessions);
    }
    store.rows("SELECT id, time_updated FROM session", [], |row| {
        if let Some(id) = store::text(row, 0) {
            let updated = store::number(row, 1).unwrap_or_default();
            sessions.insert(id.into_owned(), updated.to_string());
        }
        if sessions.len() < MAX_SESSIONS { Wish::More } else { Wish::Enough }
    })?;
    for table in ["message", "part", "session_message"] {
        if store.has_columns(table, &["session_id", "time_updated"])? {
            let sql = format!(
                "SELECT session_id, count(*), max(time_updated) FROM {table} GROUP BY session_id"
            );
            store.rows(&sql, [], |row| {
                let id = store::text(row, 0).unwrap_or_default();
                if let Some(revision) = sessions.get_mut(id.as_ref()) {
                    let column = |idx| store::number(row, idx).unwrap_or_default();
                    revision.push_str(&format!("-{}.{}", column(1), column(2)));
                }
                Wish::More
            })?;
        }
    }
    Ok(sessions)
}

pub(super) fn message_counts(store: &Store) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    if !store.has_table(SESSION)? {
        return Ok(counts);
    }
    for table in ["message", "session_message"] {
        if !store.has_columns(table, &["session_id"])? {
            continue;
        }
        let sql = format!("SELECT session_id, count(*) FROM {table} GROUP BY session_id");
        store.rows(&sql, [], |row| {
            if let Some(id) = store::text(row, 0) {
                let count = usize::try_from(store::number(row, 1).unwrap_or(0)).unwrap_or(0);
                let known: &mut usize = counts.entry(id.into_owned()).or_default();
                *known = count.max(*known);
            }
            Wish::More
        })?;
    }
    Ok(counts)
}

pub(super) fn read(
    store: &Store,
    missing: impl FnOnce() -> Error,
    session: &str,
    talk: &mut SessionParser,
    out: &mut Emitter,
) -> Result<()> {
    if !store.has_table(SESSION)? {
        return Err(missing());
    }
    let description = description(store, session)?.ok_or_else(missing)?;
    talk.describe(&Fields::of(&description), out);
    let mut seen = HashSet::new();
    if store.has_table("message")? {
        let found = list_ids(store, session, &mut seen);
        let mut ids = Vec::new();
        let found = found.map(|found| ids = found);
        store.survive(found, out)?;
        for id in ids {
            read_message(store, &id, talk, out)?;
        }
    }
    if store.has_table("session_message")? {
        newer::read(store, session, &seen, talk, out)?;
    }
    Ok(())
}

/// Returns a session's row in the JSON format that the JSON tree uses.
fn description(store: &Store, session: &str) -> Result<Option<String>> {
    let mut columns =
        ["parent_id", "directory", "title", "version", "time_created", "time_updated", "revert"];
    for column in &mut columns {
        if !store.has_columns("session", &[*column])? {
            *column = "NULL";
        }
    }
    let sql = format!("SELECT {} FROM session WHERE id = ?1", columns.join(", "));
    store.first(&sql, [session], |row| {
        let text = |idx| store::text(row, idx).map(Cow::into_owned);
        let number = |idx| store::number(row, idx);
        let revert: Option<serde_json::Value> =
            text(6).and_then(|revert| serde_json::from_str(&revert).ok());
        serde_json::json!({
            "id": session,
            "parentID": text(0),
            "directory": text(1),
            "title": text(2),
            "version": text(3),
            "time": { "created": number(4), "updated": number(5) },
            "revert": revert,
        })
        .to_string()
    })
}

fn list_ids(store: &Store, session: &str, seen: &mut HashSet<String>) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let sql = "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id";
    store.rows(sql, [session], |row| {
        let id = store::text(row, 0).map(Cow::into_owned);
        ids.extend(id.filter(|id| seen.insert(id.clone())));
        if ids.len() < MAX_MESSAGES { Wish::More } else { Wish::Enough }
    })?;
    Ok(ids)
}

fn read_message(
    store: &Store,
    id: &str,
    talk: &mut SessionParser,
    out: &mut Emitter,
) -> Result<()> {
    let limit = MAX_VALUE.cast_signed();
    let sql = "SELECT CASE WHEN octet_length(data) <= ?2 THEN data END FROM message WHERE id = ?1";
    let mut is_started = false;
    let found = store.rows(sql, (id, limit), |row| {
        let data = store::read_counted_text(row, 0, out);
        match data.as_deref().and_then(Fields::read) {
            Some(message) => {
                is_started = true;
                talk.message(id, &message, out);
            }
            None => out.report.bad_lines += 1,
        }
        Wish::Enough
    });
    store.survive(found, out)?;
    if !is_started {
        return Ok(());
    }
    let sql = "SELECT id, CASE WHEN octet_length(data) <= ?2 THEN data END \
        FROM part WHERE message_id = ?1 ORDER BY id";
    let found = store.rows(sql, (id, limit), |row| {
        let part = store::text(row, 0).unwrap_or_default();
        match store::read_counted_text(row, 1, out) {
            Some(data) => talk.part(&part, &data, out),
            None => talk.long_row(&part, out),
        }
        Wish::More
    });
    store.survive(found, out)
}
