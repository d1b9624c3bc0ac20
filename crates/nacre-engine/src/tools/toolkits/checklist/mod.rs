//! A list of what is to be done, which the model keeps and a person can follow.

mod list;
mod set;
mod update;

pub use list::{Checklist, ChecklistItem, ItemState};
pub use set::ChecklistSet;
pub use update::ChecklistUpdate;

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![derived::<set::ChecklistSetInput>(), derived::<update::ChecklistUpdateInput>()]
}
