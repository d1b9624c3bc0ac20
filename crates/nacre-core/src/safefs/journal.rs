//! The written plan of a change set, and its place on disk.
//!
//! `journal/txn/` holds the staged files and, once everything is staged and flushed, `plan`: that
//! rename is the commit point. `undo` in its place means that the change is being taken back;
//! `journal/done/` is rubbish. Only the lock's holder touches any of it, so one name each is enough.

use std::io;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::path::RelPath;
use super::scope::{ReadFault, read_file};
use super::sys;
use crate::base::ContentHash;

/// The journal's folder inside a scope.
pub(super) const JOURNAL: &str = "journal";
/// The change being made.
pub(super) const TXN: &str = "txn";
/// A change that is over and whose rest is being removed.
pub(super) const DONE: &str = "done";
/// The plan of a change that goes forward.
pub(super) const PLAN: &str = "plan";
/// The plan of a change that goes back.
pub(super) const UNDO: &str = "undo";
const PLAN_DRAFT: &str = "plan.new";

const VERSION: u32 = 1;

/// A plan of ten thousand files stays well below this.
const MAX_PLAN_BYTES: u64 = 16 << 20;

/// What a change set does, in order, with the hashes that make every step checkable and repeatable.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    version: u32,
    pub(super) steps: Vec<Step>,
    /// Folders that were missing, outermost first.
    pub(super) new_dirs: Vec<RelPath>,
}

/// One step. `slot` names its files in `txn/`: `<slot>` is staged, `<slot>.old` is displaced.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    Create { path: RelPath, slot: u32, after: ContentHash },
    Replace { path: RelPath, slot: u32, before: ContentHash, after: ContentHash },
    Remove { path: RelPath, slot: u32, before: ContentHash },
}

impl Step {
    pub(super) fn path(&self) -> &RelPath {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Remove { path, .. } => {
                path
            }
        }
    }

    pub(super) fn staged(&self) -> String {
        let (Self::Create { slot, .. } | Self::Replace { slot, .. } | Self::Remove { slot, .. }) =
            self;
        slot.to_string()
    }

    pub(super) fn displaced(&self) -> String {
        format!("{}.old", self.staged())
    }
}

impl Plan {
    pub(super) fn new(steps: Vec<Step>, new_dirs: Vec<RelPath>) -> Self {
        Self { version: VERSION, steps, new_dirs }
    }

    /// Writes the plan beside the staged files and makes it count.
    pub(super) fn commit(&self, txn: &Dir) -> io::Result<()> {
        let json = serde_json::to_string(self).map_err(io::Error::other)?;
        let text = format!("{}\n{json}", ContentHash::of(json.as_bytes()));
        sys::write_new(txn, PLAN_DRAFT, text.as_bytes(), sys::FileMode(0o600))?;
        sys::rename(txn, PLAN_DRAFT, txn, PLAN)
    }

    /// Reads the plan `name` in `txn`; `None` when there is none.
    pub(super) fn load(txn: &Dir, name: &str) -> Result<Option<Self>, PlanFault> {
        let bytes = match read_file(txn, name, MAX_PLAN_BYTES) {
            Err(ReadFault::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(ReadFault::Io(error)) => return Err(PlanFault::Unreadable(error)),
            Err(ReadFault::NotAFile | ReadFault::TooLarge { .. }) => {
                return Err(PlanFault::NotOurs);
            }
            Ok(bytes) => bytes,
        };
        Self::parse(&bytes).map(Some).ok_or(PlanFault::NotOurs)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (sum, json) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        if sum.parse::<ContentHash>().ok()? != ContentHash::of(json.as_bytes()) {
            return None;
        }
        let plan: Self = serde_json::from_str(json).ok()?;
        (plan.version == VERSION).then_some(plan)
    }
}

/// Why a plan that is there cannot be followed.
#[derive(Debug)]
pub(super) enum PlanFault {
    /// Trying again later may help.
    Unreadable(io::Error),
    /// It is damaged, or of another version: set aside, never guessed at.
    NotOurs,
}
