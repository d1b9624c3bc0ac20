//! Hook notes record which memories each session has received. Each session has one small file in
//! the user's own directory.
//!
//! The files contain ids but no text. Deleting them only causes some memories to be shown again.

use std::time::Duration;

use nacre_base::fs::{Access, EntryKind, RelPath, WriteScope, Writer};
use nacre_types::HookSession;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::host::Host;

/// Name of the directory for hook notes, inside the global directory.
pub(super) const HOOKS_FOLDER: &str = "hooks";

const MAX_BYTES: u64 = 256 << 10;

/// Maximum number of memories recorded per session. Beyond this number, the oldest ones are dropped
/// and may be shown again.
const MAX_TOLD: usize = 512;

/// Maximum total number of tokens in the memories that a session receives in addition to its brief.
pub(super) const MAX_SESSION_TOKENS: usize = 4_000;

/// How long a hook waits for another hook that is handling the same prompt.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Maximum number of notes files, and the number that are kept when this maximum is exceeded.
const MAX_SESSIONS: usize = 256;
const N_KEPT: usize = 128;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Notes {
    /// Whether the session has received its brief.
    pub(super) is_briefed: bool,
    /// Whether the session has had its first prompt.
    pub(super) is_prompted: bool,
    /// Number of tokens in the memories received in addition to the brief.
    pub(super) tokens: usize,
    /// Ids of the memories received, oldest first.
    pub(super) told: Vec<String>,
}

impl Notes {
    /// Reads a session's notes. Unreadable notes are treated as empty.
    pub(super) fn open(host: &Host, session: &HookSession) -> Result<Self> {
        let path = path(host, session)?;
        let read = || {
            let folder =
                WriteScope::open_inside(host.home().ok()?, HOOKS_FOLDER, Access::Private).ok()?;
            serde_json::from_slice(&folder.read(&path, MAX_BYTES).ok()?).ok()
        };
        Ok(read().unwrap_or_default())
    }

    pub(super) fn is_told(&self, id: &str) -> bool {
        self.told.iter().any(|told| told == id)
    }

    pub(super) fn note_told(&mut self, ids: &[String]) {
        self.told.extend(ids.iter().cloned());
        let n_surplus = self.told.len().saturating_sub(MAX_TOLD);
        self.told.drain(..n_surplus);
    }

    /// Saves the notes. If this fails, the hook must return nothing. Otherwise, it would repeat the
    /// same memories in every call.
    pub(super) fn save(
        &self,
        host: &Host,
        session: &HookSession,
        folder: &WriteScope,
    ) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        Ok(folder.put_output(&path(host, session)?, &text, &host.owner("hook"))?)
    }
}

/// Opens the directory for notes, and creates it if it is missing.
pub(super) fn folder(host: &Host) -> Result<WriteScope> {
    host.home_folder(HOOKS_FOLDER)
}

/// If the agent provides no session id, all sessions in the same directory on the same day share a
/// file.
fn path(host: &Host, session: &HookSession) -> Result<RelPath> {
    let HookSession { agent, id } = session;
    let name = match id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => format!("{agent}\0{id}"),
        None => {
            let day = host.now().strftime("%Y%m%d").to_string();
            format!("{agent}\0{day}\0{}", host.environment.folder.display())
        }
    };
    Ok(RelPath::new(&format!("{:016x}.json", xxh3_64(name.as_bytes())))?)
}

/// Records that a session received these memories, and returns those that are new to it, or none if
/// the session has reached its limit. Takes a lock, because two hooks may run at once for one
/// prompt.
pub(super) fn claim(
    host: &Host,
    session: &HookSession,
    ids: &[String],
    n_tokens: usize,
) -> Result<Vec<String>> {
    let folder = folder(host)?;
    let _lock = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = Notes::open(host, session)?;
    if notes.tokens + n_tokens > MAX_SESSION_TOKENS {
        return Ok(Vec::new());
    }
    let new: Vec<String> = ids.iter().filter(|id| !notes.is_told(id)).cloned().collect();
    if !new.is_empty() {
        notes.note_told(&new);
        notes.tokens += n_tokens;
        notes.save(host, session, &folder)?;
    }
    Ok(new)
}

/// Records the session's first prompt.
pub(super) fn note_prompted(host: &Host, session: &HookSession) -> Result<()> {
    let folder = folder(host)?;
    let _lock = folder.lock(&host.owner("hook"), PATIENCE)?;
    let notes = Notes::open(host, session)?;
    Notes { is_prompted: true, ..notes }.save(host, session, &folder)
}

/// Removes the oldest notes files if there are too many.
pub(super) fn prune(writer: &Writer<'_>) -> Result<()> {
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

/// Returns the notes of all recent sessions. Unreadable files are skipped.
fn all_notes(folder: &WriteScope) -> Result<Vec<(RelPath, Notes)>> {
    let mut all = Vec::new();
    for entry in folder.root()?.list()? {
        let Ok(path) = RelPath::new(&entry.name) else { continue };
        let bytes = folder.read(&path, MAX_BYTES).ok();
        let notes = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        all.extend(notes.map(|notes| (path, notes)));
    }
    Ok(all)
}

/// Returns, for each recent session, the ids of the memories that it received.
pub(super) fn told_by_session(host: &Host) -> Vec<Vec<String>> {
    let all = folder(host).and_then(|folder| all_notes(&folder)).unwrap_or_default();
    all.into_iter().map(|(_, notes)| notes.told).collect()
}

/// Returns the ids of all memories that recent sessions received.
pub(super) fn all_told(host: &Host) -> Vec<String> {
    let mut told = told_by_session(host).concat();
    told.sort_unstable();
    told.dedup();
    told
}

/// Removes a memory from the notes of all sessions. Returns whether none of the notes contain it
/// afterwards.
pub(super) fn forget_told(host: &Host, id: &str) -> Result<bool> {
    if host.home().is_ok_and(|home| !home.join(HOOKS_FOLDER).is_dir()) {
        return Ok(true);
    }
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("memory forget"), host.settings().lock.wait)?;
    for (path, mut notes) in all_notes(&folder)?.into_iter().filter(|(_, notes)| notes.is_told(id))
    {
        notes.told.retain(|told| told != id);
        let text = serde_json::to_vec(&notes).map_err(std::io::Error::other)?;
        writer.put_derived(&path, &text)?;
    }
    Ok(!all_notes(&folder)?.iter().any(|(_, notes)| notes.is_told(id)))
}
