//! Reads the content-addressed stores of Cursor's agent: the CLI's `store.db` and the blobs in the
//! global database. A root node refers to messages and other nodes by hash. Blobs that cannot be
//! reached from the newest root belong to older states and are skipped. A store can contain an
//! encryption key, so only known fields are read.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{self, GeneralPurpose};

use super::message::Messages;
use super::project::Project;
use super::uri::{from_hex, to_hex};

const MAX_DEPTH: u32 = 24;
const MAX_BLOBS: usize = 200_000;
const HASH: usize = 32;
/// Number of the root node's protobuf field that contains the workspace.
const WORKSPACE_FIELD: u64 = 9;

const STORE_BLOB: &str = "SELECT data FROM blobs WHERE id = ?1 AND octet_length(data) <= ?2";
const KV_BLOB: &str = "SELECT value FROM cursorDiskKV \
    WHERE key = 'agentKv:blob:' || ?1 AND octet_length(value) <= ?2";

pub(super) fn read_store(path: &Path, project: &mut Project, out: &mut Emitter) -> Result<()> {
    let store = Store::open(path)?;
    let meta = read_meta(&store)?;
    let meta = Fields::of(&meta);
    let sidecar = path.parent().and_then(|directory| whole::sidecar(&directory.join("meta.json")));
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
    let reason = "its newest state is missing";
    Err(Error::Unreadable { path: path.to_owned(), reason })
}

/// Reads a conversation whose messages are stored as blobs in the global database.
pub(super) fn read_state(
    store: &Store,
    state: &str,
    lane: Lane,
    project: &mut Project,
    out: &mut Emitter,
) -> Result<()> {
    let Some(bytes) = from_base64(state.trim_start_matches('~')) else { return Ok(()) };
    let mut walk = Walk::new(store, KV_BLOB, lane);
    walk.node(&bytes, 0, project, out)?;
    walk.finish(project, out);
    Ok(())
}

/// The metadata is either a single row of hexadecimal JSON or one row per field.
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

fn note_facts(meta: &Fields, sidecar: &Fields, project: &mut Project, out: &mut Emitter) -> Lane {
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

struct Walk<'s> {
    store: &'s Store,
    sql: &'static str,
    seen: HashSet<String>,
    messages: Messages,
}

impl<'s> Walk<'s> {
    fn new(store: &'s Store, sql: &'static str, lane: Lane) -> Self {
        let messages = Messages { lane, ..Messages::default() };
        Self { store, sql, seen: HashSet::new(), messages }
    }

    fn visit(
        &mut self,
        id: &str,
        depth: u32,
        project: &mut Project,
        out: &mut Emitter,
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
            let place = voice::row(&format!("blob:{id}"));
            match Fields::read(&text) {
                Some(message) => {
                    self.messages.read(&place, id, &message, out);
                }
                None => out.report.bad_lines += 1,
            }
            return Ok(());
        }
        self.node(&blob, depth, project, out)
    }

    /// Every field whose value is a blob's hash refers to a child. Children are read in order.
    fn node(
        &mut self,
        bytes: &[u8],
        depth: u32,
        project: &mut Project,
        out: &mut Emitter,
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

    fn finish(self, project: &mut Project, out: &mut Emitter) {
        if let Some(folder) = &self.messages.folder {
            project.note_folder(folder);
        }
        out.facts.ending = self.messages.last.ending(!self.messages.calls.is_empty());
        project.take_files(self.messages.files);
    }
}

/// Returns a protobuf message's length-delimited fields, or an empty list if the bytes are
/// malformed.
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

/// Decodes base64 in either the standard or the URL-safe alphabet.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    const UNPADDED: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        general_purpose::NO_PAD.with_decode_allow_trailing_bits(true),
    );
    let text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    UNPADDED.decode(text).ok()
}
