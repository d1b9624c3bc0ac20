//! A list of what is to be done, which the model keeps and a person can follow.

mod list;
mod set;
mod update;

pub use list::{Checklist, ChecklistItem, ItemState};
pub use set::ChecklistSet;
pub use update::ChecklistUpdate;
