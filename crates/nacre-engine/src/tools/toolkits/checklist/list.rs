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

/// An id that no item has, and those that items have.
#[derive(Debug)]
pub(crate) struct UnknownItem {
    pub(crate) id: String,
    pub(crate) known: Vec<String>,
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

    /// Puts a new list in the place of the old one; an item that was there before stays as far as it was.
    pub(crate) fn replace(&self, mut items: Vec<ChecklistItem>) {
        let mut old = self.lock();
        for item in &mut items {
            if let Some(known) = old.iter().find(|known| known.id == item.id) {
                item.state = known.state;
            }
        }
        *old = items;
    }

    /// Puts a list back as it was, such as that of a conversation that is resumed.
    pub fn restore(&self, items: Vec<ChecklistItem>) {
        *self.lock() = items;
    }

    /// Gives items other states, all of them or none; an unknown id is answered with those that there are.
    pub(crate) fn update(&self, states: &[(String, ItemState)]) -> Result<(), UnknownItem> {
        let mut items = self.lock();
        let unknown = states.iter().find(|(id, _)| items.iter().all(|item| item.id != *id));
        if let Some((id, _)) = unknown {
            let known = items.iter().map(|item| item.id.clone()).collect();
            return Err(UnknownItem { id: id.clone(), known });
        }
        for (id, state) in states {
            if let Some(item) = items.iter_mut().find(|item| item.id == *id) {
                item.state = *state;
            }
        }
        Ok(())
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
