//! What changes in the files of agents, each as a diff.

use nacre_api::wire::{ChangeKind, FileChange};
use nacre_core::base::unified_diff;

use super::plan::{Plan, PlannedFile};
use crate::host::{Host, short};

pub(super) fn changes(host: &Host, plan: &Plan) -> Vec<FileChange> {
    let change = |(path, file): (&std::path::Path, &PlannedFile)| {
        let kind = match (&file.before, &file.after) {
            (None, _) => ChangeKind::Create,
            (Some(_), Some(_)) => ChangeKind::Change,
            (Some(_), None) => ChangeKind::Remove,
        };
        let name = short(host, path);
        let diff = unified_diff(&name, file.before.as_deref(), file.after.as_deref());
        FileChange { diff, path: name, change: kind }
    };
    plan.changed().map(change).collect()
}
