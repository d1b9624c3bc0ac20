//! `skill_list`: which skills there are.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::skills::SkillRegistry;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::off_thread;
use crate::record::Category;

/// What is shown of a description; the rest comes with the skill.
const MAX_DESCRIPTION_CHARS: usize = 250;

/// Lists skills.
pub(super) struct SkillList {
    pub(super) registry: Arc<SkillRegistry>,
}

/// Nothing to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {}

impl Tool for SkillList {
    type Input = ListInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "skill_list",
        toolkit: super::TOOLKIT,
        category: Category::Meta,
        description: "Lists the skills of this project, of the person and of Nacre: instructions for recurring work. Take \
                      one up with `skill_activate` when the task at hand is what it describes.",
        time_limit: super::LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &ListInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(&self, _: ListInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let registry = Arc::clone(&self.registry);
        off_thread(ctx, move |_| {
            let skills = registry.look().skills;
            let mut text = String::new();
            for skill in &skills {
                let description: String = skill
                    .description
                    .replace('\n', " ")
                    .chars()
                    .take(MAX_DESCRIPTION_CHARS)
                    .collect();
                text += &format!("{} ({}): {description}\n", skill.name, skill.origin.as_str());
            }
            let value: Vec<_> = skills
                .iter()
                .map(|skill| json!({ "name": skill.name, "origin": skill.origin.as_str() }))
                .collect();
            Ok(Output { text, value: json!({ "skills": value }), changed: Vec::new() })
        })
        .await
    }
}
