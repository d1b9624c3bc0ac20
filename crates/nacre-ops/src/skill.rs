//! Lists and shows skills, which are instructions for agents.

use nacre_engine::tools::{Skill, SkillRegistry};
use nacre_types::{EmptyRequest, SkillEntry, SkillListReport, SkillShowReport};

use crate::prelude::*;

/// Also lists directories that do not contain a valid skill.
pub fn list(host: &Host, _: &EmptyRequest) -> Result<SkillListReport> {
    let found = skills(host).look();
    Ok(SkillListReport {
        problems: found.problems,
        skills: found.skills.into_iter().map(entry).collect(),
    })
}

pub fn show(host: &Host, name: &str, arguments: &str) -> Result<SkillShowReport> {
    let skill = skills(host).find(name).ok_or_else(|| {
        OpError::not_found(format!("Skill `{name}` not found"))
            .hint("`nacre skill` lists all skills")
    })?;
    let instructions = skill.instructions(arguments);
    Ok(SkillShowReport { skill: entry(skill), instructions })
}

fn skills(host: &Host) -> SkillRegistry {
    let home = host.home().ok().map(Path::to_owned);
    SkillRegistry { workspace: Some(host.workspace()), home }
}

fn entry(skill: Skill) -> SkillEntry {
    let Skill { name, description, license, allowed_tools, body: _, origin, path } = skill;
    SkillEntry {
        name,
        description,
        origin,
        path: path.map(|path| path.display().to_string()),
        license,
        allowed_tools: allowed_tools.map(|tools| tools.into_iter().collect()),
    }
}
