//! The run's checklist, written by the model and shown to the user.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::tools::toolkits::prelude::*;

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    vec![crate::schemas::derive_schema::<ChecklistSet>()]
}

#[derive(Clone, Debug, Default)]
pub struct Checklist(Arc<Mutex<Vec<ChecklistItem>>>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChecklistItem {
    /// A short unique word.
    pub id: String,
    /// One line that says what to do.
    pub label: String,
    /// `pending` if left out.
    #[serde(default)]
    pub state: ItemState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    #[default]
    Pending,
    InProgress,
    Done,
    Failed,
}

impl ItemState {
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
    pub fn items(&self) -> Vec<ChecklistItem> {
        self.lock().clone()
    }

    pub fn replace(&self, items: Vec<ChecklistItem>) {
        *self.lock() = items;
    }

    fn text(&self) -> String {
        let line =
            |item: &ChecklistItem| format!("{} {}: {}", item.state.mark(), item.id, item.label);
        self.lock().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ChecklistItem>> {
        // Every change leaves the list consistent, so a poisoned lock is harmless.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MAX_ITEMS: usize = 50;
const MAX_LABEL_BYTES: usize = 300;
const MAX_ID_BYTES: usize = 40;

/// Replaces the checklist.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChecklistSet {
    /// The steps to do, in order; at most 50.
    items: Vec<ChecklistItem>,
}

impl Tool for ChecklistSet {
    type With = Checklist;

    const SPEC: ToolSpec = ToolSpec {
        name: "checklist_set",
        category: Category::Meta,
        description: "Replaces the checklist of this run: all items, each with its state (pending, \
            in_progress, done or failed). Use it for work of three steps or more, and again when a \
            state changes.",
        time_limit: Duration::from_secs(5),
        shown_bytes: 12_000,
    };

    fn footprint(&self, _: &Checklist) -> Result<Footprint> {
        self.check()?;
        Ok(Footprint::default())
    }

    async fn run(self, checklist: &Checklist, _: &ToolContext) -> Result<Output> {
        self.check()?;
        let one_line = |item: ChecklistItem| ChecklistItem {
            label: nacre_base::text::collapse_whitespace(&item.label),
            ..item
        };
        checklist.replace(self.items.into_iter().map(one_line).collect());
        Ok(Output::text(checklist.text()))
    }
}

impl ChecklistSet {
    fn check(&self) -> Result<()> {
        let refuse = |what: String| {
            let hint = "Give 1 to 50 items, each with a short unique id and one line of text.";
            Err(ToolError::new(Fault::Arguments, what, hint))
        };
        if self.items.is_empty() || self.items.len() > MAX_ITEMS {
            return refuse(format!("The checklist has {} items", self.items.len()));
        }
        let mut ids = BTreeSet::new();
        for ChecklistItem { id, label, .. } in &self.items {
            if id.trim().is_empty() || id.len() > MAX_ID_BYTES || !ids.insert(id) {
                return refuse(format!("The id `{id}` is empty, too long or duplicated"));
            }
            if label.trim().is_empty() || label.len() > MAX_LABEL_BYTES {
                return refuse(format!("The text of `{id}` is empty or too long"));
            }
        }
        Ok(())
    }
}
