//! The notes of hooks: what each session was told, one small file a session in the person's own folder.

use nacre_core::safefs::{Access, RelPath, WriteScope};
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::host::Host;

/// The folder in the global one that hooks keep their notes in.
pub(super) const HOOKS_FOLDER: &str = "hooks";

/// A file of notes is never larger.
pub(super) const MAX_BYTES: u64 = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Notes {
    /// It got its brief.
    pub(super) is_briefed: bool,
    /// It was asked to record something.
    pub(super) is_asked: bool,
    /// The ids of memories, oldest first.
    pub(super) told: Vec<String>,
}

/// The folder of notes, made where it is missing.
pub(super) fn folder(host: &Host) -> Result<WriteScope, OpError> {
    host.home_scope()?;
    Ok(WriteScope::create_inside(host.home()?, HOOKS_FOLDER, Access::Private)?)
}

/// Takes a memory out of what sessions were told; returns whether no note names it any more.
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

/// The notes that name a memory.
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
