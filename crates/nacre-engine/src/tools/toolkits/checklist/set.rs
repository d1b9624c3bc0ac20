//! `checklist_set`: a new list in place of the old one.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::list::{Checklist, ChecklistItem, ItemState};
use crate::record::{Category, Fault};

const MAX_ITEMS: usize = 50;
const MAX_LABEL_BYTES: usize = 300;
const MAX_ID_BYTES: usize = 40;

/// Replaces the checklist.
#[derive(Clone, Debug)]
pub struct ChecklistSet {
    pub checklist: Checklist,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChecklistSetInput {
    /// What is to be done, in order; at most 50.
    items: Vec<NewItem>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewItem {
    /// A short word for `checklist_update`, unlike all others.
    id: String,
    /// One line that says what is to be done.
    label: String,
}

impl Tool for ChecklistSet {
    type Input = ChecklistSetInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "checklist_set",
        toolkit: "checklist",
        category: Category::Meta,
        description: "Writes the checklist of this run anew; a new item starts as pending, one whose id was there stays as far as it was. Use it for work of three steps \
            or more, then keep it current with checklist_update.",
        time_limit: Duration::from_secs(5),
        shown_bytes: 12_000,
    };

    fn footprint(&self, input: &ChecklistSetInput) -> Result<Footprint, ToolError> {
        input.check()?;
        Ok(Footprint::default())
    }

    async fn run(&self, input: ChecklistSetInput, _: &ToolContext) -> Result<Output, ToolError> {
        input.check()?;
        let item = |item: NewItem| ChecklistItem {
            id: item.id,
            label: item.label.split_whitespace().collect::<Vec<_>>().join(" "),
            state: ItemState::Pending,
        };
        self.checklist.replace(input.items.into_iter().map(item).collect());
        let value = json!({ "items": self.checklist.items() });
        Ok(Output { text: self.checklist.text(), value, changed: Vec::new() })
    }
}

impl ChecklistSetInput {
    fn check(&self) -> Result<(), ToolError> {
        let refuse = |what: String| {
            let hint = "Give 1 to 50 items, each with a short id of its own and one line of text.";
            Err(ToolError::new(Fault::Arguments, what, hint))
        };
        if self.items.is_empty() || self.items.len() > MAX_ITEMS {
            return refuse(format!("The checklist has {} items", self.items.len()));
        }
        let mut ids = BTreeSet::new();
        for NewItem { id, label } in &self.items {
            if id.trim().is_empty() || id.len() > MAX_ID_BYTES || !ids.insert(id) {
                return refuse(format!("The id `{id}` is empty, too long or given twice"));
            }
            if label.trim().is_empty() || label.len() > MAX_LABEL_BYTES {
                return refuse(format!("The text of `{id}` is empty or too long"));
            }
        }
        Ok(())
    }
}
