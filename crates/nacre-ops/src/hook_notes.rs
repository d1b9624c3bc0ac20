//! The notes of hooks, which record the memories that each session has received. Each session has
//! one small file in the user's own folder.

use nacre_base::fs::{RelPath, WriteScope};
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::host::Host;

/// The name of the folder for these notes, inside the global folder.
pub(super) const HOOKS_FOLDER: &str = "hooks";

/// Maximum size of a file of notes.
pub(super) const MAX_BYTES: u64 = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Notes {
    /// Whether the session has received its brief.
    pub(super) is_briefed: bool,
    /// Whether the session was asked to record memories.
    pub(super) is_asked: bool,
    /// The number of tokens used by memories added to prompts.
    pub(super) tokens: usize,
    /// The ids of the memories received, oldest first.
    pub(super) told: Vec<String>,
}

/// Returns the folder of the notes, which is created if missing.
pub(super) fn folder(host: &Host) -> Result<WriteScope, OpError> {
    host.home_folder(HOOKS_FOLDER)
}

/// Removes a memory from the notes of all sessions. Returns whether it is gone from all of them.
pub(super) fn forget_told(host: &Host, id: &str) -> Result<bool, OpError> {
    if host.home().is_ok_and(|home| !home.join(HOOKS_FOLDER).is_dir()) {
        return Ok(true);
    }
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("memory forget"), host.settings().lock.wait)?;
    for (path, mut notes) in naming(&folder, id)? {
        notes.told.retain(|told| told != id);
        let text = serde_json::to_vec(&notes).map_err(std::io::Error::other)?;
        writer.put_derived(&path, &text)?;
    }
    Ok(naming(&folder, id)?.is_empty())
}

/// Returns the notes that contain a memory.
fn naming(folder: &WriteScope, id: &str) -> Result<Vec<(RelPath, Notes)>, OpError> {
    let mut naming = Vec::new();
    for entry in folder.root()?.list()? {
        let Ok(path) = RelPath::new(&entry.name) else { continue };
        let bytes = folder.read(&path, MAX_BYTES).ok();
        let notes = bytes.and_then(|bytes| serde_json::from_slice::<Notes>(&bytes).ok());
        let notes = notes.filter(|notes| notes.told.iter().any(|told| told == id));
        naming.extend(notes.map(|notes| (path, notes)));
    }
    Ok(naming)
}
