//! Shows a skill as an agent reads it.

use nacre_api::wire::{ErrorCode, SkillShowReport, SkillShowRequest};

use super::skills;
use super::wire::entry;
use crate::error::OpError;
use crate::host::Host;

pub fn show(host: &Host, request: &SkillShowRequest) -> Result<SkillShowReport, OpError> {
    let SkillShowRequest { name, arguments } = request;
    let Some(skill) = skills(host).find(name) else {
        let error = OpError::failed(format!("There is no skill `{name}`"));
        return Err(OpError { code: ErrorCode::NotFound, ..error }
            .hint("`nacre skill list` shows every skill"));
    };
    let instructions = skill.instructions(arguments);
    Ok(SkillShowReport { skill: entry(skill), instructions })
}
