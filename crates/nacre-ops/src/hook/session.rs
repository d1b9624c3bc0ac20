//! Records which memories a session has already received, in one small file per session in the
//! user's own folder.
//!
//! The files contain ids but no text. If they are deleted, some memories are shown again.

use std::time::Duration;

use nacre_base::fs::{Access, EntryKind, RelPath, WriteScope, Writer};
use nacre_types::HookSession;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::OpError;
pub(super) use crate::hook_notes::{HOOKS_FOLDER, folder};
use crate::hook_notes::{MAX_BYTES, Notes};
use crate::host::Host;

/// Maximum number of memories to record per session. Beyond it, the oldest are dropped and may be
/// shown again.
const MAX_TOLD: usize = 512;

/// How long a hook waits for another hook of the same prompt.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// The maximum number of files, and the number to keep when it is exceeded.
const MAX_SESSIONS: usize = 256;
const N_KEPT: usize = 128;

pub(super) struct SessionNotes {
    path: RelPath,
    notes: Notes,
}

impl SessionNotes {
    /// Reads the notes of a session. If they cannot be read, they are empty.
    pub(super) fn open(host: &Host, session: &HookSession) -> Result<Self, OpError> {
        let path = RelPath::new(&format!("{:016x}.json", key(host, session)))?;
        let read = || {
            let folder =
                WriteScope::open_inside(host.home().ok()?, HOOKS_FOLDER, Access::Private).ok()?;
            serde_json::from_slice(&folder.read(&path, MAX_BYTES).ok()?).ok()
        };
        Ok(Self { notes: read().unwrap_or_default(), path })
    }

    pub(super) fn is_told(&self, id: &str) -> bool {
        self.notes.told.iter().any(|told| told == id)
    }

    /// The ids of all memories that the session has received.
    pub(super) fn told(&self) -> &[String] {
        &self.notes.told
    }

    /// The number of tokens used by memories added to prompts.
    pub(super) fn n_tokens(&self) -> usize {
        self.notes.tokens
    }

    pub(super) fn is_briefed(&self) -> bool {
        self.notes.is_briefed
    }

    pub(super) fn is_asked(&self) -> bool {
        self.notes.is_asked
    }

    /// Clears the notes after the agent's context was cleared. Keeps only whether the agent was
    /// asked to record memories.
    pub(super) fn forget(&mut self) {
        self.notes = Notes { is_asked: self.notes.is_asked, ..Notes::default() };
    }

    pub(super) fn note_brief(&mut self, ids: &[String]) {
        self.notes.is_briefed = true;
        self.note_told(ids);
    }

    fn note_told(&mut self, ids: &[String]) {
        self.notes.told.extend(ids.iter().cloned());
        let n_surplus = self.notes.told.len().saturating_sub(MAX_TOLD);
        self.notes.told.drain(..n_surplus);
    }

    /// Saves the notes. If this fails, the hook must return nothing, because it would repeat the
    /// same memories in every call.
    pub(super) fn save(&self, host: &Host, folder: &WriteScope) -> Result<(), OpError> {
        let text = serde_json::to_vec(&self.notes).map_err(std::io::Error::other)?;
        Ok(folder.put_output(&self.path, &text, &host.owner("hook"))?)
    }
}

/// Records memories as received by a session, and returns those that were new. Two hooks for one
/// prompt may run at once, so this is done under a lock.
pub(super) fn claim(
    host: &Host,
    session: &HookSession,
    ids: &[String],
    n_tokens: usize,
) -> Result<Vec<String>, OpError> {
    let folder = folder(host)?;
    let _lock = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = SessionNotes::open(host, session)?;
    let new: Vec<String> = ids.iter().filter(|id| !notes.is_told(id)).cloned().collect();
    if !new.is_empty() {
        notes.note_told(&new);
        notes.notes.tokens += n_tokens;
        notes.save(host, &folder)?;
    }
    Ok(new)
}

/// Records that the session was asked to record memories. Returns `false` if it was asked before.
pub(super) fn claim_question(host: &Host, session: &HookSession) -> Result<bool, OpError> {
    let folder = folder(host)?;
    let _lock = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = SessionNotes::open(host, session)?;
    if notes.is_asked() {
        return Ok(false);
    }
    notes.notes.is_asked = true;
    notes.save(host, &folder)?;
    Ok(true)
}

/// Removes the oldest notes if there are too many.
pub(super) fn prune(writer: &Writer<'_>) -> Result<(), OpError> {
    let root = writer.scope().root()?;
    let entries = root.list()?;
    let is_notes = |name: &str| name.ends_with(".json") && !name.starts_with('.');
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
    let mut dated: Vec<(i128, &str)> = files
        .filter(|entry| is_notes(&entry.name))
        .filter_map(|entry| Some((root.stamp(&entry.name)?.modified, entry.name.as_str())))
        .collect();
    if dated.len() <= MAX_SESSIONS {
        return Ok(());
    }
    dated.sort_unstable();
    for (_, name) in &dated[..dated.len() - N_KEPT] {
        writer.remove_derived(&RelPath::new(name)?)?;
    }
    Ok(())
}

/// Returns the ids of all memories that recent sessions have received.
pub(super) fn all_told(host: &Host) -> Vec<String> {
    let Ok(root) = folder(host).and_then(|folder| Ok(folder.root()?)) else { return Vec::new() };
    let entries = root.list().unwrap_or_default();
    let read = |name: &str| -> Option<Notes> {
        serde_json::from_slice(&root.read(name, MAX_BYTES).ok()?).ok()
    };
    let mut told: Vec<String> =
        entries.iter().filter_map(|entry| read(&entry.name)).flat_map(|notes| notes.told).collect();
    told.sort_unstable();
    told.dedup();
    told
}

/// Returns a hash that identifies a session. If the agent provides no id, all sessions on one day
/// in one folder share the same hash.
fn key(host: &Host, session: &HookSession) -> u64 {
    let HookSession { agent, id } = session;
    let name = match id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => format!("{agent}\0{id}"),
        None => {
            let day = host.now().strftime("%Y%m%d").to_string();
            format!("{agent}\0{day}\0{}", host.environment.folder.display())
        }
    };
    xxh3_64(name.as_bytes())
}
