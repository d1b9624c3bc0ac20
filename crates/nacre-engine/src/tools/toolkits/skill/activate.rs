//! `skill_activate`: take up a skill.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::skills::{ActiveSkills, Origin, Skill, SkillRegistry};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::off_thread;
use crate::record::{Category, Fault};
use crate::record::{Event, Events};

/// Takes up skills.
pub(super) struct SkillActivate {
    pub(super) registry: Arc<SkillRegistry>,
    pub(super) active: Arc<ActiveSkills>,
    pub(super) events: Events,
}

/// Which skill, and for what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActivateInput {
    /// The name as `skill_list` shows it.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// What the skill is to be applied to, in a few words.
    #[schemars(length(max = 4000))]
    arguments: Option<String>,
}

impl Tool for SkillActivate {
    type Input = ActivateInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "skill_activate",
        toolkit: super::TOOLKIT,
        category: Category::Meta,
        description: "Takes up a skill: returns its instructions, which hold for the rest of the task. A skill may leave \
                      you only some of your tools.",
        time_limit: super::LIMIT,
        shown_bytes: 64_000,
    };

    fn footprint(&self, _: &ActivateInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(&self, input: ActivateInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let registry = Arc::clone(&self.registry);
        let name = input.name.clone();
        let skills = off_thread(ctx, move |_| Ok(registry.look().skills)).await?;
        let Some(skill) = skills.iter().find(|skill| skill.name == name) else {
            return Err(unknown(&input.name, &skills));
        };
        if skill.origin == Origin::Project {
            return Err(not_asked(skill));
        }
        if self.active.add(skill.clone()) {
            self.events.emit_with(|| Event::SkillOn { skill: skill.name.as_str().into() });
        }
        let text = shown(skill, input.arguments.as_deref().unwrap_or_default());
        let value = json!({ "name": skill.name, "origin": skill.origin.as_str(), "allowed_tools": skill.allowed_tools });
        Ok(Output { text, value, changed: Vec::new() })
    }
}

/// A model takes up what the person or Nacre wrote; what a repository says is followed only when the person names it.
fn not_asked(skill: &Skill) -> ToolError {
    let what = format!("The skill `{}` came with this repository, not from the user", skill.name);
    let hint = format!("Only the user starts it, by typing `/{}` in the chat.", skill.name);
    ToolError::new(Fault::Denied, what, hint)
}

fn shown(skill: &Skill, arguments: &str) -> String {
    let whose = if skill.origin == Origin::User {
        "It is the person's own."
    } else {
        "It came with Nacre."
    };
    let tools = match &skill.allowed_tools {
        Some(tools) => {
            let names: Vec<&str> = tools.iter().map(String::as_str).collect();
            format!(" While it is active you have, of your tools, at most: {}.", names.join(", "))
        }
        None => String::new(),
    };
    format!("Skill `{}`. {whose}{tools}\n\n{}", skill.name, skill.instructions(arguments))
}

fn unknown(name: &str, skills: &[Skill]) -> ToolError {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).take(20).collect();
    let what = format!("There is no skill `{name}`");
    ToolError::new(Fault::NotFound, what, format!("There are: {}.", names.join(", ")))
}
