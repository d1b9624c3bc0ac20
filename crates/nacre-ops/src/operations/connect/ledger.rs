//! What was written into which file, and the bytes that were there before.
//!
//! `connect/ledger.json` in the global folder has a record for each file; `connect/backup/` has the bytes, each by its hash.
//! A change to several files is announced in `pending` before the first is written, so that the next command can take
//! back what a killed one left halfway.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use nacre_core::agent_config::{Part, Undo};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, ChangeSet, RelPath, WriteScope, Writer};
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::host::Host;

const FILE: &str = "connect/ledger.json";
const BACKUP: &str = "connect/backup";
const VERSION: u32 = 1;
const MAX_BYTES: u64 = 16 << 20;

/// Everything that was written into files of agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) version: u32,
    /// By the path of the file, all links followed.
    pub(super) files: BTreeMap<PathBuf, FileRecord>,
    /// The hooks of Codex that a person trusted: keys and hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) trust: Vec<(String, String)>,
    /// A change that was begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pending: Vec<PendingFile>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { version: VERSION, files: BTreeMap::new(), trust: Vec::new(), pending: Vec::new() }
    }
}

/// What is ours in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRecord {
    /// The bytes without us; `None` where there was no file.
    pub(super) base: Option<ContentHash>,
    /// The bytes that were written.
    pub(super) after: ContentHash,
    /// In the order they were written.
    pub(super) entries: Vec<EntryRecord>,
    /// Folders that were made with the file, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

/// One part of one agent in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryRecord {
    pub(super) agent: String,
    pub(super) part: Part,
    #[serde(default)]
    pub(super) guard: bool,
    #[serde(default)]
    pub(super) undo: Undo,
}

impl EntryRecord {
    pub(super) fn is(&self, agent: &str, part: Part) -> bool {
        self.agent == agent && self.part == part
    }
}

/// A file of a change that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingFile {
    pub(super) path: PathBuf,
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<ContentHash>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

impl Ledger {
    /// Reads the ledger; an empty one where there is none.
    pub(super) fn read(host: &Host) -> Result<Self, OpError> {
        stored(host)?.map_or_else(|| Ok(Self::default()), |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Result<Self, OpError> {
        let ledger: Result<Self, _> = serde_json::from_str(text);
        match ledger {
            Ok(ledger) if ledger.version == VERSION => Ok(ledger),
            Ok(_) | Err(_) => Err(OpError::failed(format!(
                "`{FILE}` in the global folder is damaged, or of another version"
            ))
            .hint(
                "Move it away: `nacre connect AGENT --remove` then takes out what it recognizes",
            )),
        }
    }

    /// Writes the ledger with the bytes that it names, and drops bytes that nobody needs any more.
    pub(super) fn write(
        &self,
        writer: &Writer<'_>,
        backups: &BTreeMap<ContentHash, String>,
    ) -> Result<(), OpError> {
        let scope = writer.scope();
        let mut set = ChangeSet::new();
        let mut json = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        json.push(b'\n');
        let path = RelPath::new(FILE)?;
        set.put(path.clone(), scope.read_optional(&path, MAX_BYTES)?.as_deref(), json);
        let needed = self.needed();
        for (hash, text) in backups.iter().filter(|(hash, _)| needed.contains(hash)) {
            let path = backup_path(hash)?;
            if !scope.has(&path)? {
                set.create(path, text.clone().into_bytes());
            }
        }
        for entry in scope.list(&RelPath::new(BACKUP)?)? {
            let is_needed = entry.name.parse().is_ok_and(|hash| needed.contains(&hash));
            if let (false, Ok(path)) =
                (is_needed, RelPath::new(&format!("{BACKUP}/{}", entry.name)))
            {
                set.remove(path.clone(), &scope.read(&path, MAX_BYTES)?);
            }
        }
        writer.commit(set)?;
        Ok(())
    }

    fn needed(&self) -> BTreeSet<ContentHash> {
        let bases = self.files.values().filter_map(|record| record.base);
        bases.chain(self.pending.iter().filter_map(|file| file.before)).collect()
    }
}

/// The bytes of a file as they were; `None` where they are gone or damaged.
pub(super) fn backup(host: &Host, hash: &ContentHash) -> Option<String> {
    let scope = open(host).ok()??;
    let bytes = scope.read(&backup_path(hash).ok()?, MAX_BYTES).ok()?;
    (ContentHash::of(&bytes) == *hash).then(|| String::from_utf8(bytes).ok())?
}

fn backup_path(hash: &ContentHash) -> Result<RelPath, OpError> {
    Ok(RelPath::new(&format!("{BACKUP}/{hash}"))?)
}

fn stored(host: &Host) -> Result<Option<String>, OpError> {
    let Some(scope) = open(host)? else { return Ok(None) };
    let bytes = scope.read_optional(&RelPath::new(FILE)?, MAX_BYTES)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Opens the global folder for reading, without making it.
fn open(host: &Host) -> Result<Option<WriteScope>, OpError> {
    match WriteScope::open(host.home()?, Access::Private) {
        Err(error) if error.is_missing() => Ok(None),
        scope => Ok(Some(scope?)),
    }
}
