//! Tools that find skills and take them up.

mod activate;
mod list;

use std::sync::Arc;
use std::time::Duration;

use super::super::skills::{ActiveSkills, SkillRegistry};
use super::super::tool::AnyTool;
use crate::record::Events;

const TOOLKIT: &str = "skill";

/// Looking at a few small files takes no longer.
const LIMIT: Duration = Duration::from_secs(5);

/// The tools of a run: what they find is on `registry`, what they take up is in `active`.
pub fn tools(
    registry: &Arc<SkillRegistry>,
    active: &Arc<ActiveSkills>,
    events: &Events,
) -> Vec<Arc<dyn AnyTool>> {
    let activate = activate::SkillActivate {
        registry: Arc::clone(registry),
        active: Arc::clone(active),
        events: events.clone(),
    };
    vec![Arc::new(list::SkillList { registry: Arc::clone(registry) }), Arc::new(activate)]
}

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![derived::<list::ListInput>(), derived::<activate::ActivateInput>()]
}

#[cfg(test)]
mod tests;
