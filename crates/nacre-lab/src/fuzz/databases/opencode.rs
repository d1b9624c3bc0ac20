//! OpenCode's database schema and two file trees.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::round::{Round, commit, put};

const TYPED_TABLES: &str = "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, \
        directory TEXT, title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER); \
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, \
        time_updated INTEGER, data TEXT); \
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, \
        time_created INTEGER, time_updated INTEGER, data TEXT); \
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, \
        time_created INTEGER, time_updated INTEGER, data TEXT); \
    CREATE INDEX message_session_idx ON message (session_id); \
    CREATE INDEX part_message_idx ON part (message_id); \
    CREATE INDEX session_message_idx ON session_message (session_id)";

const N_SESSIONS: usize = 12;
const N_MESSAGES: usize = 14;
const N_PARTS: usize = 10;
const N_NEWER: usize = 40;
const N_TREE_SESSIONS: usize = 4;
const NEWER_KINDS: [&str; 9] = [
    "user",
    "synthetic",
    "shell",
    "assistant",
    "assistant",
    "compaction",
    "model-switched",
    "system",
    "teleport",
];

pub(crate) fn make_typed(round: &mut Round<'_>, folder: &Path) {
    let seeds = round.seeds;
    let connection = round.database(&folder.join("opencode.db"), TYPED_TABLES);
    for session in 0..round.count(N_SESSIONS) {
        let id = round.id(format!("ses_{session}"));
        let info = round.mostly_whole(&seeds.sessions);
        let info: Value = serde_json::from_slice(&info).unwrap_or_default();
        let mut text = |key: &str| {
            let bytes = info[key].as_str().unwrap_or_default().as_bytes().to_vec();
            round.column(bytes)
        };
        let (parent, directory, title, version) =
            (text("parentID"), text("directory"), text("title"), text("version"));
        let revert = info["revert"].to_string().into_bytes();
        let revert = round.change(revert, &seeds.sessions);
        let sql =
            "INSERT OR REPLACE INTO session VALUES (?1, 'p', ?2, 's', ?3, ?4, ?5, ?6, ?7, ?8)";
        let (revert, created, updated) = (round.column(revert), round.time(0), round.time(9));
        put(&connection, sql, (&id, parent, directory, title, version, revert, created, updated));
        for message in 0..round.count(N_MESSAGES) {
            let message_id = round.id(format!("msg_{session}_{message}"));
            let data = round.mostly_whole(&seeds.messages);
            let sql = "INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
            put(&connection, sql, (&message_id, &id, round.time(message), round.column(data)));
            let sql = "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, 0, 0, ?4)";
            for part in 0..round.count(N_PARTS) {
                let part_id = round.id(format!("prt_{session}_{message}_{part}"));
                let data = round.change_random(&seeds.parts);
                put(&connection, sql, (part_id, &message_id, &id, round.column(data)));
            }
        }
        let sql = "INSERT OR REPLACE INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
        for row in 0..round.count(N_NEWER) {
            let kind = round.random.pick(&NEWER_KINDS);
            let data = round.change_random(&seeds.newer);
            let time = round.time(20_000_000_000 + row);
            let row_id = format!("msg_n{session}_{row}");
            put(&connection, sql, (row_id, &id, kind, row as i64, time, round.column(data)));
        }
    }
    commit(connection);
}

/// Writes a file tree, overwriting the one from the previous round.
pub(crate) fn make_tree(round: &mut Round<'_>, folder: &Path) {
    let storage = folder.join("storage");
    let (infos, messages, parts) =
        (storage.join("session/p"), storage.join("message"), storage.join("part"));
    for session in 0..round.count(N_TREE_SESSIONS) {
        write_session(round, session, &infos, &messages, |message| parts.join(message));
    }
    // Some tools write all parts to one directory.
    let flat = round.change_random(&round.seeds.parts);
    write(&parts.join("prt_flat.json"), &flat);
}

/// Writes a tree in the oldest layout, which has one tree per project.
pub(crate) fn make_old_tree(round: &mut Round<'_>, folder: &Path) {
    let session_folder = folder.join("project/home-me-app/storage/session");
    let (infos, messages) = (session_folder.join("info"), session_folder.join("message"));
    for session in 0..round.count(N_TREE_SESSIONS) {
        let parts = session_folder.join(format!("part/ses_{session}"));
        write_session(round, session, &infos, &messages, |message| parts.join(message));
    }
}

fn write_session(
    round: &mut Round<'_>,
    session: usize,
    infos: &Path,
    messages: &Path,
    parts_of: impl Fn(&str) -> std::path::PathBuf,
) {
    let seeds = round.seeds;
    let id = format!("ses_{session}");
    let info = round.change_random(&seeds.sessions);
    write(&infos.join(format!("{id}.json")), &info);
    for message in 0..round.count(N_MESSAGES) {
        let message_id = format!("msg_{session}_{message}");
        let data = round.mostly_whole(&seeds.messages);
        write(&messages.join(&id).join(format!("{message_id}.json")), &data);
        let parts = parts_of(&message_id);
        for part in 0..round.count(N_PARTS) {
            // If the file name is not an ID, the adapter looks for an ID inside the part.
            let prefix = if part % 5 == 4 { "x" } else { "prt" };
            let data = round.change_random(&seeds.parts);
            write(&parts.join(format!("{prefix}_{message}_{part}.json")), &data);
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    if fs::write(path, bytes).is_err() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
