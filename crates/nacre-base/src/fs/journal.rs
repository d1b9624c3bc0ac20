//! Change sets, and the plans that record them in the journal.
//!
//! `journal/txn/` contains the staged files and, once everything is staged and flushed, `plan`.
//! Renaming that file into place is the commit point. If the directory contains `undo` instead of
//! `plan`, the change is being reverted. `journal/done/` is a completed change that is being
//! removed. The names are fixed, because only the lock holder accesses these files.

use std::collections::BTreeSet;
use std::io;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::error::{FsError, Result, refuse_journal};
use super::path::RelPath;
use super::scope::{ReadFault, WriteScope, read_file};
use super::sys;
use crate::ContentHash;

/// Creations, replacements, moves and removals to be committed as one unit.
#[derive(Clone, Debug, Default)]
#[must_use = "a change set has no effect until a writer commits it"]
pub struct ChangeSet {
    pub(super) changes: Vec<StagedChange>,
}

#[derive(Clone, Debug)]
pub(super) struct StagedChange {
    pub(super) path: RelPath,
    /// Hash of the bytes that were read; `None` if the file must not exist.
    pub(super) before: Option<ContentHash>,
    pub(super) bytes: Option<Vec<u8>>,
}

impl StagedChange {
    /// Orders new files before removals, so that a concurrent reader may see a moved file twice but
    /// never misses it.
    fn rank(&self) -> u8 {
        match (self.before, &self.bytes) {
            (None, _) => 0,
            (Some(_), Some(_)) => 1,
            (Some(_), None) => 2,
        }
    }
}

impl ChangeSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a file, which must not already exist.
    pub fn create(&mut self, path: RelPath, bytes: Vec<u8>) {
        self.changes.push(StagedChange { path, before: None, bytes: Some(bytes) });
    }

    /// Replaces a file whose content must still be `before`.
    pub fn replace(&mut self, path: RelPath, before: &[u8], bytes: Vec<u8>) {
        if before != bytes {
            let before = Some(ContentHash::of(before));
            self.changes.push(StagedChange { path, before, bytes: Some(bytes) });
        }
    }

    /// Writes a file; `before` is the content that was read, or `None` if it did not exist.
    pub fn put(&mut self, path: RelPath, before: Option<&[u8]>, bytes: Vec<u8>) {
        match before {
            Some(before) => self.replace(path, before, bytes),
            None => self.create(path, bytes),
        }
    }

    /// Removes a file whose content must still be `before`.
    pub fn remove(&mut self, path: RelPath, before: &[u8]) {
        self.changes.push(StagedChange {
            path,
            before: Some(ContentHash::of(before)),
            bytes: None,
        });
    }

    /// Moves a file to a path that must not exist yet, and replaces its content, which must still
    /// be `before`.
    pub fn relocate(&mut self, from: RelPath, before: &[u8], to: RelPath, bytes: Vec<u8>) {
        self.create(to, bytes);
        self.remove(from, before);
    }

    pub fn n_changes(&self) -> usize {
        self.changes.len()
    }

    /// Drops all changes but the first `n_kept`.
    pub fn truncate(&mut self, n_kept: usize) {
        self.changes.truncate(n_kept);
    }

    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.changes.iter().map(|change| &change.path)
    }

    pub fn outcomes(&self) -> impl Iterator<Item = (&RelPath, Option<&[u8]>)> {
        self.changes.iter().map(|change| (&change.path, change.bytes.as_deref()))
    }

    /// Sorts the changes into the order in which they are applied. Fails if a path occurs twice.
    pub(super) fn into_ordered(mut self) -> Result<Vec<StagedChange>> {
        let mut seen = BTreeSet::new();
        for change in &self.changes {
            refuse_journal(&change.path)?;
            if !seen.insert(&change.path) {
                return Err(FsError::TwiceChanged { path: change.path.clone() });
            }
        }
        self.changes.sort_by_key(StagedChange::rank);
        Ok(self.changes)
    }
}

pub(super) const TXN: &str = "txn";
/// Contains a completed change that is being removed.
pub(super) const DONE: &str = "done";
/// The plan's file name while the change is being applied.
pub(super) const PLAN: &str = "plan";
/// The plan's file name while the change is being reverted.
pub(super) const UNDO: &str = "undo";
const PLAN_DRAFT: &str = "plan.new";

const VERSION: u32 = 2;

/// A plan for ten thousand files is much smaller than this.
const MAX_PLAN_BYTES: u64 = 16 << 20;

const MAX_STEPS: usize = 100_000;

/// A change set's steps, in order. Content hashes make every step verifiable and repeatable.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    version: u32,
    pub(super) steps: Vec<Step>,
    /// Directories to create, outermost first.
    pub(super) new_dirs: Vec<RelPath>,
}

/// One step of a plan. `slot` names its files in `txn/`: `<slot>` is the staged file, and
/// `<slot>.old` is the displaced one.
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

    pub(super) fn staging_name(&self) -> String {
        self.slot().to_string()
    }

    pub(super) fn backup_name(&self) -> String {
        format!("{}.old", self.staging_name())
    }
}

impl Plan {
    pub(super) fn new(steps: Vec<Step>, new_dirs: Vec<RelPath>) -> Self {
        Self { version: VERSION, steps, new_dirs }
    }

    pub(super) fn commit(&self, scope: &WriteScope, txn: &Dir) -> io::Result<()> {
        let json = serde_json::to_string(self).map_err(io::Error::other)?;
        let text = format!("{}\n{json}", scope.prove(&json)?);
        // Recovery would refuse such a plan, so it must not be committed.
        if !self.is_sound() || MAX_PLAN_BYTES < text.len() as u64 {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        sys::write_new(txn, PLAN_DRAFT, text.as_bytes(), sys::PRIVATE_FILE, sys::Flush::Now)?;
        sys::rename(txn, PLAN_DRAFT, txn, PLAN)
    }

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

    /// Verifies the proof before anything else in the plan is parsed.
    fn parse(scope: &WriteScope, bytes: &[u8]) -> Option<Self> {
        let (proof, json) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        if !scope.is_proven(json, &blake3::Hash::from_hex(proof).ok()?) {
            return None;
        }
        let plan: Self = serde_json::from_str(json).ok()?;
        (plan.version == VERSION && plan.is_sound()).then_some(plan)
    }

    /// Checks that a change set could have produced this plan: every file and slot occurs once, and
    /// no path is inside the journal.
    fn is_sound(&self) -> bool {
        let (mut slots, mut paths) = (BTreeSet::new(), BTreeSet::new());
        self.steps.len() <= MAX_STEPS
            && self.new_dirs.len() <= MAX_STEPS
            && self.steps.iter().all(|step| slots.insert(step.slot()) && paths.insert(step.path()))
            && paths.into_iter().chain(&self.new_dirs).all(|path| refuse_journal(path).is_ok())
    }
}

#[derive(Debug)]
pub(super) enum PlanFault {
    Unreadable(io::Error),
    /// The plan is damaged, has an unsupported version, or was not written by this user. It is set
    /// aside.
    NotOurs,
}
