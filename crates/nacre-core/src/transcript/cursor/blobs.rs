//! Content-addressed stores of Cursor's agent: the CLI's `store.db`, and the same blobs inside the
//! global database.
//!
//! A root node lists, by hash, messages and further nodes. Only what hangs on the newest root is
//! the talk; other blobs are older states of it. A store may hold an encryption key, which is never
//! looked at: only named fields are read.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::event::Lane;
use super::super::facts::{Ending, SessionRole};
use super::super::store::{self, MAX_VALUE, Store, Wish};
use super::super::view::Fields;
use super::super::voice::row;
use super::bubble::Speaker;
use super::message::Messages;
use super::project::{Project, read_small};
use super::uri::{from_hex, to_hex};

/// How deep nodes may hang below each other, and how many blobs one talk may have.
const MAX_DEPTH: u32 = 24;
const MAX_BLOBS: usize = 200_000;
/// The bytes of a hash.
const HASH: usize = 32;
/// The field of a root that names the workspace.
const WORKSPACE_FIELD: u64 = 9;

const STORE_BLOB: &str = "SELECT data FROM blobs WHERE id = ?1 AND octet_length(data) <= ?2";
const KV_BLOB: &str = "SELECT value FROM cursorDiskKV \
    WHERE key = 'agentKv:blob:' || ?1 AND octet_length(value) <= ?2";

/// Reads the CLI's store of one session.
pub(super) fn read_store(path: &Path, project: &mut Project, out: &mut Emitter<'_>) -> Result<()> {
    let store = Store::open(path)?;
    let meta = read_meta(&store)?;
    let meta = Fields::of(&meta);
    let sidecar = path.parent().and_then(|directory| read_small(&directory.join("meta.json")));
    let sidecar = sidecar.unwrap_or_default();
    let lane = note_facts(&meta, &Fields::of(&sidecar), project, out);
    let root = meta.string("latestRootBlobId");
    let mut walk = Walk::new(&store, STORE_BLOB, lane);
    if !root.is_empty() {
        walk.visit(&root, 0, project, out)?;
    }
    walk.finish(project, out);
    let has_talk = !matches!(out.facts.ending, Ending::Unknown);
    store.close()?;
    if root.is_empty() || has_talk || 0 < out.report.lines {
        return Ok(());
    }
    let reason = "its newest state is not in it";
    Err(Error::Unreadable { path: path.to_owned(), reason })
}

/// Reads a conversation of the global database whose bubbles are blobs.
pub(super) fn read_state(
    store: &Store,
    state: &str,
    lane: Lane,
    project: &mut Project,
    out: &mut Emitter<'_>,
) -> Result<()> {
    let Some(bytes) = from_base64(state.trim_start_matches('~')) else { return Ok(()) };
    let mut walk = Walk::new(store, KV_BLOB, lane);
    walk.node(&bytes, 0, project, out)?;
    walk.finish(project, out);
    Ok(())
}

/// The description of a session: one row of hexadecimal JSON, or a row for each of its fields.
fn read_meta(store: &Store) -> Result<String> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let sql = "SELECT key, value FROM meta WHERE octet_length(value) <= 1048576 LIMIT 64";
    store.rows(sql, [], |row| {
        let column = |idx| store::text(row, idx).map(Cow::into_owned);
        rows.extend(column(0).zip(column(1)));
        Wish::More
    })?;
    let decoded = rows.iter().find_map(|(_, value)| {
        let text = match from_hex(value) {
            Some(bytes) => String::from_utf8(bytes).ok()?,
            None => value.clone(),
        };
        Fields::read(&text)?;
        Some(text)
    });
    Ok(decoded.unwrap_or_else(|| {
        let map: serde_json::Map<String, serde_json::Value> =
            rows.into_iter().map(|(key, value)| (key, value.into())).collect();
        serde_json::Value::Object(map).to_string()
    }))
}

fn note_facts(
    meta: &Fields<'_>,
    sidecar: &Fields<'_>,
    project: &mut Project,
    out: &mut Emitter<'_>,
) -> Lane {
    for title in [sidecar.string("title"), sidecar.string("name"), meta.string("name")] {
        if out.facts.title.is_none() {
            out.note_title(&title);
        }
    }
    let times = [meta.time("createdAt"), sidecar.time("createdAtMs"), sidecar.time("updatedAtMs")];
    times.into_iter().flatten().for_each(|time| out.note_time(time));
    out.note_model(&meta.string("lastUsedModel"));
    for folder in [sidecar.string("cwd"), meta.string("cwd")] {
        project.note_folder(&folder);
    }
    if sidecar.truth("isSubagent") || meta.truth("isSubagent") {
        out.facts.role = SessionRole::SubAgent;
        return Lane::Sidechain;
    }
    Lane::Main
}

/// Goes through the nodes of one talk.
struct Walk<'s> {
    store: &'s Store,
    sql: &'static str,
    seen: HashSet<String>,
    messages: Messages,
}

impl<'s> Walk<'s> {
    fn new(store: &'s Store, sql: &'static str, lane: Lane) -> Self {
        Self { store, sql, seen: HashSet::new(), messages: Messages::new(lane) }
    }

    /// Reads the blob of a hash, if it is there and was not read before.
    fn visit(
        &mut self,
        id: &str,
        depth: u32,
        project: &mut Project,
        out: &mut Emitter<'_>,
    ) -> Result<()> {
        if MAX_DEPTH < depth || MAX_BLOBS <= self.seen.len() || !self.seen.insert(id.to_owned()) {
            return Ok(());
        }
        let mut blob = None;
        let params = (id, MAX_VALUE.cast_signed());
        let found = self.store.rows(self.sql, params, |row| {
            blob = store::bytes(row, 0).map(<[u8]>::to_vec);
            Wish::Enough
        });
        self.store.survive(found, out)?;
        let Some(blob) = blob else { return Ok(()) };
        if blob.trim_ascii_start().starts_with(b"{") {
            out.report.lines += 1;
            let text = String::from_utf8_lossy(&blob);
            out.report.invalid_utf8 += u64::from(matches!(text, Cow::Owned(_)));
            let place = row(&format!("blob:{id}"));
            match Fields::read(&text) {
                Some(message) => {
                    self.messages.read((&place, id), &message, out);
                }
                None => out.report.bad_lines += 1,
            }
            return Ok(());
        }
        self.node(&blob, depth, project, out)
    }

    /// Reads a node: every field that is a hash of a blob is a child, in order.
    fn node(
        &mut self,
        bytes: &[u8],
        depth: u32,
        project: &mut Project,
        out: &mut Emitter<'_>,
    ) -> Result<()> {
        for (field, value) in wire_fields(bytes) {
            if value.len() == HASH {
                self.visit(&to_hex(value), depth + 1, project, out)?;
            } else if field == WORKSPACE_FIELD
                && let Ok(address) = std::str::from_utf8(value)
            {
                project.note_folder(address);
            } else if HASH < value.len() && depth < MAX_DEPTH {
                self.node(value, depth + 1, project, out)?;
            }
        }
        Ok(())
    }

    fn finish(self, project: &mut Project, out: &mut Emitter<'_>) {
        if let Some(folder) = &self.messages.folder {
            project.note_folder(folder);
        }
        out.facts.ending = match self.messages.last {
            Speaker::Agent if self.messages.calls.is_empty() => Ending::Finished,
            Speaker::Agent | Speaker::Person => Ending::Active,
            Speaker::Nobody => Ending::Unknown,
        };
        project.take_files(self.messages.files);
    }
}

/// The length-delimited fields of a protobuf message; empty where the bytes are none.
fn wire_fields(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut fields = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() && fields.len() < MAX_BLOBS {
        let Some(tag) = varint(&mut rest) else { return Vec::new() };
        let skipped = match tag & 7 {
            0 => varint(&mut rest).map(|_| 0),
            1 => Some(8),
            5 => Some(4),
            2 => {
                let Some(length) = varint(&mut rest).and_then(|n| usize::try_from(n).ok()) else {
                    return Vec::new();
                };
                let Some((value, after)) = rest.split_at_checked(length) else {
                    return Vec::new();
                };
                fields.push((tag >> 3, value));
                rest = after;
                continue;
            }
            _ => None,
        };
        let Some(after) = skipped.and_then(|n_bytes| rest.get(n_bytes..)) else {
            return Vec::new();
        };
        rest = after;
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Bytes written in base64, of either alphabet.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut n_bits) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        n_bits += 6;
        if 8 <= n_bits {
            n_bits -= 8;
            bytes.push((word >> n_bits & 0xff) as u8);
        }
    }
    Some(bytes)
}
