//! Cursor's databases: the editor's conversation database and the stores of its CLI.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::round::{Round, commit, put};

const STATE_TABLES: &str = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); \
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";
const STORE_TABLES: &str = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); \
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)";
const PUT_KV: &str = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
const PUT_ITEM: &str = "INSERT INTO ItemTable VALUES (?1, ?2)";

const N_COMPOSERS: usize = 36;
const N_BUBBLES: usize = 60;
const N_LISTED: usize = 4;
const N_STORES: usize = 2;
const N_NODES: usize = 12;
const N_BLOBS: usize = 80;

pub(crate) fn make_state(round: &mut Round<'_>, folder: &Path) {
    let path = folder.join("User/globalStorage/state.vscdb");
    let connection = round.database(&path, STATE_TABLES);
    for idx in 0..round.count(N_COMPOSERS) {
        let id = round.id(format!("c{idx}"));
        match round.random.below(16) {
            0 => put_inline(round, &connection, &id),
            1 => put_blobs(round, &connection, &id),
            _ => put_rows(round, &connection, &id),
        }
    }
    put_items(round, &connection);
    commit(connection);
    let directory = folder.join("User/workspaceStorage/ws1");
    fs::create_dir_all(&directory).unwrap();
    let value =
        round.change(br#"{"folder":"file:///home/me/my%20app"}"#.to_vec(), &round.seeds.metas);
    fs::write(directory.join("workspace.json"), value).unwrap();
}

fn put_rows(round: &mut Round<'_>, connection: &Connection, id: &str) {
    let seeds = round.seeds;
    let ids: Vec<String> =
        (0..round.count(N_BUBBLES)).map(|idx| round.id(format!("b{idx}"))).collect();
    let headers: Vec<String> = ids
        .iter()
        .enumerate()
        .map(|(idx, id)| format!("{{\"bubbleId\":\"{id}\",\"type\":{}}}", idx % 2 + 1))
        .collect();
    let list = format!("{{\"fullConversationHeadersOnly\":[{}],", headers.join(","));
    let composer = if round.random.one_in(8) {
        let whole = seeds.composers[round.random.below(seeds.composers.len())].clone();
        let listed = [list.as_bytes(), whole.get(1..).unwrap_or_default()].concat();
        round.change(listed, &seeds.composers)
    } else {
        let changed = round.change_random(&seeds.composers);
        [list.as_bytes(), changed.get(1..).unwrap_or_default()].concat()
    };
    put(connection, PUT_KV, (format!("composerData:{id}"), round.column(composer)));
    for bubble in ids {
        let value = round.change_random(&seeds.bubbles);
        put(connection, PUT_KV, (format!("bubbleId:{id}:{bubble}"), round.column(value)));
    }
}

fn put_inline(round: &mut Round<'_>, connection: &Connection, id: &str) {
    let seeds = round.seeds;
    let mut value = br#"{"composerId":"c","status":"completed","conversation":["#.to_vec();
    for _ in 0..N_LISTED {
        value.extend_from_slice(&round.change_random(&seeds.bubbles));
        value.push(b',');
    }
    value.extend_from_slice(
        br#"{}],"fullConversationHeadersOnly":[{"bubbleId":"m"}],"conversationMap":{"m":"#,
    );
    value.extend_from_slice(&round.change_random(&seeds.bubbles));
    value.extend_from_slice(b"}}");
    put(connection, PUT_KV, (format!("composerData:{id}"), round.column(value)));
}

/// Adds a conversation whose state refers to blobs.
fn put_blobs(round: &mut Round<'_>, connection: &Connection, id: &str) {
    let seeds = round.seeds;
    let mut node = Vec::new();
    for idx in 0..round.count(N_BUBBLES) {
        let hash = hash(idx);
        node.extend_from_slice(&field(1, &hash));
        let value = round.change_random(&seeds.blobs);
        put(connection, PUT_KV, (format!("agentKv:blob:{}", hex(&hash)), round.column(value)));
    }
    if round.random.one_in(4) {
        node = round.change(node, &seeds.blobs);
    }
    let value = format!("{{\"composerId\":\"c\",\"conversationState\":\"~{}\"}}", base64(&node));
    put(connection, PUT_KV, (format!("composerData:{id}"), value));
}

fn put_items(round: &mut Round<'_>, connection: &Connection) {
    let seeds = round.seeds;
    let lists = [
        ("composer.composerData", "{\"allComposers\":[", &seeds.composers, "]}"),
        ("composer.composerHeaders", "{\"allComposers\":[", &seeds.composers, "]}"),
        ("workbench.panel.aichat.view.aichat.chatdata", "{\"tabs\":[", &seeds.tabs, "]}"),
        ("aiService.prompts", "[", &seeds.prompts, "]"),
    ];
    for (key, open, values, close) in lists {
        let mut list = open.as_bytes().to_vec();
        for idx in 0..N_LISTED {
            if 0 < idx {
                list.push(b',');
            }
            // A malformed value makes all later list entries unreadable, so only the last entry is
            // mutated.
            let value = if idx + 1 == N_LISTED {
                round.change_random(values)
            } else {
                round.mostly_whole(values)
            };
            list.extend_from_slice(&value);
        }
        list.extend_from_slice(close.as_bytes());
        put(connection, PUT_ITEM, (key, round.column(list)));
    }
}

pub(crate) fn make_stores(round: &mut Round<'_>, folder: &Path) {
    for store in 0..round.count(N_STORES) {
        let directory = folder.join(format!("chats/0/s{store}"));
        let connection = round.database(&directory.join("store.db"), STORE_TABLES);
        let root = put_nodes(round, &connection);
        let mut meta = round.mostly_whole(&round.seeds.metas);
        let link = format!("{{\"latestRootBlobId\":\"{root}\",");
        meta.splice(..meta.len().min(1), link.into_bytes());
        let value = if round.random.one_in(4) { meta } else { hex(&meta).into_bytes() };
        put(&connection, "INSERT INTO meta VALUES ('0', ?1)", [round.column(value)]);
        commit(connection);
        let sidecar = round.change_random(&round.seeds.metas);
        fs::write(directory.join("meta.json"), sidecar).unwrap();
    }
}

/// Writes a root, nodes and messages, and returns the ID of the root.
fn put_nodes(round: &mut Round<'_>, connection: &Connection) -> String {
    let seeds = round.seeds;
    let sql = "INSERT OR REPLACE INTO blobs VALUES (?1, ?2)";
    let mut root = field(9, b"file:///home/me/cli%20app");
    for node in 0..round.count(N_NODES) {
        let mut bytes = Vec::new();
        for blob in 0..round.count(N_BLOBS) {
            let id = hash(node * 1000 + blob);
            bytes.extend_from_slice(&field(1, &id));
            let value = round.change_random(&seeds.blobs);
            put(connection, sql, (hex(&id), round.column(value)));
        }
        if round.random.one_in(6) {
            bytes = round.change(bytes, &seeds.blobs);
        }
        let id = hash(node * 1000 + 999);
        put(connection, sql, (hex(&id), bytes));
        root.extend_from_slice(&field(2, &id));
    }
    if round.random.one_in(12) {
        root = round.change(root, &seeds.blobs);
    }
    let id = hash(usize::MAX);
    put(connection, sql, (hex(&id), root));
    hex(&id)
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap();
    [&[number << 3 | 2, length], bytes].concat()
}

fn hash(number: usize) -> [u8; 32] {
    let mut hash = [7; 32];
    hash[..8].copy_from_slice(&(number as u64).to_le_bytes());
    hash
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let word = group.iter().fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        let word = word << (8 * (3 - group.len()));
        let digits = (0..=group.len()).map(move |idx| DIGITS[word >> (18 - 6 * idx) & 63]);
        digits.map(char::from).collect::<Vec<char>>()
    };
    bytes.chunks(3).flat_map(group).collect()
}
