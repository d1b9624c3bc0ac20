//! Lists skills, and the folders that are not skills.

use nacre_api::wire::{SkillListReport, SkillListRequest, SkillProblem};

use super::skills;
use super::wire::entry;
use crate::error::OpError;
use crate::host::Host;

pub fn list(host: &Host, request: &SkillListRequest) -> Result<SkillListReport, OpError> {
    let SkillListRequest {} = request;
    let found = skills(host).look();
    let problems = found.problems.iter().map(|problem| SkillProblem {
        path: problem.path.display().to_string(),
        why: problem.why.to_string(),
    });
    let problems = problems.collect();
    Ok(SkillListReport { skills: found.skills.into_iter().map(entry).collect(), problems })
}
