//! OpenCode's two database schemas and two file trees.

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
const LEGACY_TABLES: &str = "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, \
        message_count INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, \
        updated_at INTEGER, created_at INTEGER, summary_message_id TEXT); \
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, \
        model TEXT, created_at INTEGER, updated_at INTEGER, finished_at INTEGER); \
    CREATE INDEX messages_session_idx ON messages (session_id)";

const N_SESSIONS: usize = 12;
const N_MESSAGES: usize = 14;
const N_PARTS: usize = 10;
const N_NEWER: usize = 40;
const N_LEGACY: usize = 150;
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
const ROLES: [&str; 4] = ["user", "assistant", "tool", "system"];

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

/// Creates a database in the format used by an older program also named OpenCode.
pub(crate) fn make_legacy(round: &mut Round<'_>, folder: &Path) {
    let seeds = round.seeds;
    let connection = round.database(&folder.join(".opencode/opencode.db"), LEGACY_TABLES);
    for session in 0..round.count(N_SESSIONS) {
        let prefix = round.random.pick(&["s", "title-", "toolu_"]);
        let id = round.id(format!("{prefix}{session}"));
        let parent = (session % 3 == 1).then_some("s0");
        let title = round.change(b"New Agent Session".to_vec(), &seeds.legacy);
        let sql = "INSERT OR REPLACE INTO sessions VALUES (?1, ?2, ?3, 1, ?4, ?4, 0, ?5, ?5, ?6)";
        let (title, tokens, time) = (round.column(title), round.time(1), round.time(0) / 1000);
        put(&connection, sql, (&id, parent, title, tokens, time, format!("m{session}_3")));
        for message in 0..round.count(N_LEGACY) {
            let parts = round.change_random(&seeds.legacy);
            let sql =
                "INSERT OR REPLACE INTO messages VALUES (?1, ?2, ?3, ?4, 'o4-mini', ?5, ?5, ?6)";
            let (role, time) = (round.random.pick(&ROLES), round.time(message) / 1000);
            let message_id = round.id(format!("m{session}_{message}"));
            let finished = round.random.below(2) as i64;
            put(&connection, sql, (message_id, &id, role, round.column(parts), time, finished));
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
