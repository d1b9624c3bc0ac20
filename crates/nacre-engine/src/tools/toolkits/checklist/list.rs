//! The list itself, shared by its two tools and by whoever shows it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The checklist of one run. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Checklist(Arc<Mutex<Vec<ChecklistItem>>>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistItem {
    pub id: String,
    pub label: String,
    pub state: ItemState,
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    Pending,
    InProgress,
    Done,
    Failed,
}

impl ItemState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Done => "[x]",
            Self::Failed => "[!]",
        }
    }
}

impl Checklist {
    /// The items as they are now.
    pub fn items(&self) -> Vec<ChecklistItem> {
        self.lock().clone()
    }

    pub(crate) fn replace(&self, items: Vec<ChecklistItem>) {
        *self.lock() = items;
    }

    /// Gives an item another state; an unknown id is answered with those that there are.
    pub(crate) fn update(&self, id: &str, state: ItemState) -> Result<(), Vec<String>> {
        let mut items = self.lock();
        match items.iter_mut().find(|item| item.id == id) {
            Some(item) => {
                item.state = state;
                Ok(())
            }
            None => Err(items.iter().map(|item| item.id.clone()).collect()),
        }
    }

    /// The list in words.
    pub(super) fn text(&self) -> String {
        let line =
            |item: &ChecklistItem| format!("{} {}: {}", item.state.mark(), item.id, item.label);
        self.lock().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ChecklistItem>> {
        // No one panics while holding it, and a list is whole after every change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
