//! Texts that are not memories, as they were before a change: settings, the register of agents, files of instructions.

use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::flows::change::{StoredChange, TextRecord, TextRoot, read_text};
use nacre_engine::flows::run::UndoError;

use super::export::{is_instructions, write};
use crate::error::OpError;
use crate::host::ScopedStore;

/// A larger text is neither a setting nor an instruction file.
const MAX_BYTES: u64 = 4 << 20;

/// The texts of a store's folder that a command of a person changes.
const STORE_TEXTS: [&str; 2] = ["config.toml", "agents.toml"];

/// What an undo of a text does.
pub(super) struct TextPlan {
    scope: WriteScope,
    pub(super) file: RelPath,
    pub(super) now: Option<Vec<u8>>,
    /// What was there before the change.
    pub(super) then: Option<Vec<u8>>,
}

/// Puts a text of the person's own folder back, where it still is what the change made of it; says whether it did.
pub(super) fn put_back(
    scoped: &ScopedStore,
    change: &StoredChange,
    record: &TextRecord,
) -> Result<bool, OpError> {
    let plan = TextPlan::of(scoped, change, record)?;
    if !plan.is_unchanged(record) {
        return Ok(false);
    }
    plan.put_back()?;
    Ok(true)
}

impl TextPlan {
    /// Where it lies.
    pub(super) fn path(&self) -> String {
        self.scope.path().join(self.file.as_str()).display().to_string()
    }

    /// Looks at a text and at what was there before. A note lies in a store that a repository may bring along, so that only a
    /// text that a command of ours writes is put back.
    pub(super) fn of(
        scoped: &ScopedStore,
        change: &StoredChange,
        record: &TextRecord,
    ) -> Result<Self, OpError> {
        let folder = scoped.store.path();
        let file = record.file.clone();
        let (is_ours, folder) = match record.below {
            TextRoot::Store => (STORE_TEXTS.contains(&file.as_str()), Some(folder)),
            TextRoot::Project => (is_instructions(&file), folder.parent()),
        };
        let (true, Some(folder)) = (is_ours, folder) else {
            return Err(UndoError::Nothing(change.id.clone()).into());
        };
        let access =
            if scoped.store.scope().is_private() { Access::Private } else { Access::Shared };
        let scope = WriteScope::open(folder, access)?;
        let now = scope.read_optional(&file, MAX_BYTES)?;
        let kept =
            change.runs.first().map(|run| read_text(&scoped.store, run)).transpose()?.flatten();
        match (record.existed, kept) {
            (true, None) => Err(UndoError::Nothing(change.id.clone()).into()),
            (existed, kept) => Ok(Self { scope, file, now, then: kept.filter(|_| existed) }),
        }
    }

    /// Whether the text is still what the change made of it.
    pub(super) fn is_unchanged(&self, record: &TextRecord) -> bool {
        self.now.as_deref().map(ContentHash::of) == record.after
    }

    pub(super) fn put_back(&self) -> Result<(), OpError> {
        write(&self.scope, &self.file, self.now.as_deref(), self.then.as_deref())
    }
}
