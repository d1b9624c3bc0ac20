//! Skills as they go over the wire.

use nacre_api::wire::{SkillEntry, SkillOrigin};
use nacre_engine::tools::{Origin, Skill};

/// A skill without its instructions.
pub(super) fn entry(skill: Skill) -> SkillEntry {
    let Skill { name, description, license, allowed_tools, body: _, origin, path } = skill;
    SkillEntry {
        name,
        description,
        origin: wire_origin(origin),
        path: path.map(|path| path.display().to_string()),
        license,
        allowed_tools: allowed_tools.map(|tools| tools.into_iter().collect()),
    }
}

fn wire_origin(origin: Origin) -> SkillOrigin {
    match origin {
        Origin::Project => SkillOrigin::Project,
        Origin::User => SkillOrigin::User,
        Origin::Bundled => SkillOrigin::Bundled,
    }
}
