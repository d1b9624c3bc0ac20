//! The written plan of a change set, and its place on disk.
//!
//! `journal/txn/` holds the staged files and, once everything is staged and flushed, `plan`: that
//! rename is the commit point. `undo` in its place means that the change is being taken back;
//! `journal/done/` is rubbish. Only the lock's holder touches any of it, so one name each is enough.

use std::collections::BTreeSet;
use std::io;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::path::RelPath;
use super::reserved::refuse_journal;
use super::scope::{ReadFault, WriteScope, read_file};
use super::sys;
use crate::base::ContentHash;

/// The change being made.
pub(super) const TXN: &str = "txn";
/// A change that is over and whose rest is being removed.
pub(super) const DONE: &str = "done";
/// The plan of a change that goes forward.
pub(super) const PLAN: &str = "plan";
/// The plan of a change that goes back.
pub(super) const UNDO: &str = "undo";
const PLAN_DRAFT: &str = "plan.new";

const VERSION: u32 = 2;

/// A plan of ten thousand files stays well below this.
const MAX_PLAN_BYTES: u64 = 16 << 20;

/// No change has more steps, and none makes more folders.
const MAX_STEPS: usize = 100_000;

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

    fn slot(&self) -> u32 {
        let (Self::Create { slot, .. } | Self::Replace { slot, .. } | Self::Remove { slot, .. }) =
            self;
        *slot
    }

    pub(super) fn staged(&self) -> String {
        self.slot().to_string()
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
    pub(super) fn commit(&self, scope: &WriteScope, txn: &Dir) -> io::Result<()> {
        let json = serde_json::to_string(self).map_err(io::Error::other)?;
        let text = format!("{}\n{json}", scope.prove(&json)?);
        // What recovery would refuse must not become a plan.
        if !self.is_sound() || MAX_PLAN_BYTES < text.len() as u64 {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        sys::write_new(txn, PLAN_DRAFT, text.as_bytes(), sys::FileMode(0o600))?;
        sys::rename(txn, PLAN_DRAFT, txn, PLAN)
    }

    /// Reads the plan `name` in `txn`; `None` when there is none.
    pub(super) fn load(
        scope: &WriteScope,
        txn: &Dir,
        name: &str,
    ) -> Result<Option<Self>, PlanFault> {
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
        Self::parse(scope, &bytes).map(Some).ok_or(PlanFault::NotOurs)
    }

    /// Nothing is read of a plan, nor of the files that it names, before its proof holds.
    fn parse(scope: &WriteScope, bytes: &[u8]) -> Option<Self> {
        let (proof, json) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        if !scope.is_proven(&[json], &blake3::Hash::from_hex(proof).ok()?) {
            return None;
        }
        let plan: Self = serde_json::from_str(json).ok()?;
        (plan.version == VERSION && plan.is_sound()).then_some(plan)
    }

    /// Whether a change set can have made it: no file and no slot occurs twice, and nothing lies in the journal.
    fn is_sound(&self) -> bool {
        let (mut slots, mut paths) = (BTreeSet::new(), BTreeSet::new());
        self.steps.len() <= MAX_STEPS
            && self.new_dirs.len() <= MAX_STEPS
            && self.steps.iter().all(|step| slots.insert(step.slot()) && paths.insert(step.path()))
            && paths.into_iter().chain(&self.new_dirs).all(|path| refuse_journal(path).is_ok())
    }
}

/// Why a plan that is there cannot be followed.
#[derive(Debug)]
pub(super) enum PlanFault {
    /// Trying again later may help.
    Unreadable(io::Error),
    /// It is damaged, of another version, or not begun by this person: set aside, never guessed at.
    NotOurs,
}
