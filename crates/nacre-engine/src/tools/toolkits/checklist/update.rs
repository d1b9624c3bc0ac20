//! `checklist_update`: how far items are.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::list::{Checklist, ItemState};
use crate::record::{Category, Fault};

/// Changes one item of the checklist.
#[derive(Clone, Debug)]
pub struct ChecklistUpdate {
    pub checklist: Checklist,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChecklistUpdateInput {
    /// The items to change, all at once.
    #[schemars(length(min = 1, max = 50))]
    items: Vec<ItemUpdate>,
}

/// How far one item is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemUpdate {
    /// The item's id, as `checklist_set` was given it.
    id: String,
    state: ItemState,
}

impl Tool for ChecklistUpdate {
    type Input = ChecklistUpdateInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "checklist_update",
        toolkit: "checklist",
        category: Category::Meta,
        description: "Says how far items of the checklist are: pending, in_progress, done or failed. Returns the whole \
            list.",
        time_limit: Duration::from_secs(5),
        shown_bytes: 12_000,
    };

    fn footprint(&self, _: &ChecklistUpdateInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(&self, input: ChecklistUpdateInput, _: &ToolContext) -> Result<Output, ToolError> {
        let states: Vec<_> = input.items.into_iter().map(|item| (item.id, item.state)).collect();
        self.checklist.update(&states).map_err(|unknown| {
            let hint = if unknown.known.is_empty() {
                "There is no checklist yet; write one with `checklist_set`.".to_owned()
            } else {
                format!("The items are: {}.", unknown.known.join(", "))
            };
            ToolError::new(Fault::NotFound, format!("No item is named `{}`", unknown.id), hint)
        })?;
        let value = json!({ "items": self.checklist.items() });
        Ok(Output { text: self.checklist.text(), value, changed: Vec::new() })
    }
}
