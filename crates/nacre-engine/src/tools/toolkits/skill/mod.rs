//! Tools that list and activate skills.

use nacre_types::SkillOrigin;

use crate::record::{Event, Events};
use crate::tools::skills::{ActiveSkills, Skill, SkillRegistry};
use crate::tools::toolkits::prelude::*;

const LIMIT: Duration = Duration::from_secs(5);

/// Returns the tools, which add the skills they activate to `active`.
pub fn tools(
    registry: &Arc<SkillRegistry>,
    active: &Arc<ActiveSkills>,
    events: &Events,
) -> Vec<Arc<dyn AnyTool>> {
    let with = Arc::new(SkillTools {
        registry: Arc::clone(registry),
        active: Arc::clone(active),
        events: events.clone(),
    });
    vec![tool::<SkillList>(Arc::clone(&with)), tool::<SkillActivate>(with)]
}

struct SkillTools {
    registry: Arc<SkillRegistry>,
    active: Arc<ActiveSkills>,
    events: Events,
}

impl SkillTools {
    async fn skills(&self) -> Result<Vec<Skill>> {
        let registry = Arc::clone(&self.registry);
        off_thread(move || Ok(registry.look().skills)).await
    }
}

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![derive_schema::<SkillList>(), derive_schema::<SkillActivate>()]
}

#[cfg(test)]
mod tests;

const MAX_DESCRIPTION_CHARS: usize = 250;

/// Lists skills.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillList {}

impl Tool for SkillList {
    type With = Arc<SkillTools>;

    const SPEC: ToolSpec = ToolSpec {
        name: "skill_list",
        category: Category::Meta,
        description: "Lists the skills of this project, of the person and of Nacre: instructions for \
                      recurring work. Activate one with `skill_activate` when it describes the \
                      task.",
        time_limit: LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &Arc<SkillTools>) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    async fn run(self, with: &Arc<SkillTools>, _: &ToolContext) -> Result<Output> {
        let mut text = String::new();
        for skill in with.skills().await? {
            let description = skill.description.replace('\n', " ");
            let description: String = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
            text += &format!("{} ({}): {description}\n", skill.name, skill.origin.as_str());
        }
        Ok(Output::text(text))
    }
}

/// Activates a skill.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillActivate {
    /// The skill's name, as shown by `skill_list`.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// What to apply the skill to, in a few words.
    #[schemars(length(max = 4000))]
    arguments: Option<String>,
}

impl Tool for SkillActivate {
    type With = Arc<SkillTools>;

    const SPEC: ToolSpec = ToolSpec {
        name: "skill_activate",
        category: Category::Meta,
        description: "Activates a skill: returns its instructions, which apply to the rest of the \
                      task. A skill may leave you only some of your tools.",
        time_limit: LIMIT,
        shown_bytes: 64_000,
    };

    fn footprint(&self, _: &Arc<SkillTools>) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    async fn run(self, with: &Arc<SkillTools>, _: &ToolContext) -> Result<Output> {
        let skills = with.skills().await?;
        let Some(skill) = skills.iter().find(|skill| skill.name == self.name) else {
            let names: Vec<&str> =
                skills.iter().map(|skill| skill.name.as_str()).take(20).collect();
            let what = format!("Skill `{}` not found", self.name);
            let hint = format!("There are: {}.", names.join(", "));
            return Err(ToolError::new(Fault::NotFound, what, hint));
        };
        // Skills from a repository may be activated only by the user. Models may activate bundled
        // skills and the user's own.
        if skill.origin == SkillOrigin::Project {
            let name = &skill.name;
            let what = format!("The skill `{name}` belongs to this repository, not to the user");
            let hint = format!("Only the user can start it, by typing `/{name}` in the chat.");
            return Err(ToolError::new(Fault::Denied, what, hint));
        }
        if with.active.add(skill.clone()) {
            with.events.emit_with(|| Event::SkillOn { skill: skill.name.as_str().into() });
        }
        let text = render_skill(skill, self.arguments.as_deref().unwrap_or_default());
        Ok(Output::text(text))
    }
}

fn render_skill(skill: &Skill, arguments: &str) -> String {
    let whose = if skill.origin == SkillOrigin::User {
        "It is the user's own skill."
    } else {
        "It came with Nacre."
    };
    let tools = match &skill.allowed_tools {
        Some(tools) => {
            let names: Vec<&str> = tools.iter().map(String::as_str).collect();
            format!(
                " While it is active, you have at most these of your tools: {}.",
                names.join(", ")
            )
        }
        None => String::new(),
    };
    format!("Skill `{}`. {whose}{tools}\n\n{}", skill.name, skill.instructions(arguments))
}
