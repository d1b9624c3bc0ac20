//! The wall around files: Landlock.

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use super::readable::readable;
use super::{Confinement, WallError};

/// What must be had: creating, linking, moving and truncating are all covered from here on.
const REQUIRED: ABI = ABI::V3;

/// What is used where the kernel has it.
const WANTED: ABI = ABI::V6;

/// Devices that programs write to as a matter of course.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

pub(super) fn confine(confinement: &Confinement) -> Result<(), WallError> {
    let readable = readable(confinement)?;
    let writable = [&confinement.workspace, &confinement.scratch];
    let all = AccessFs::from_all(WANTED);
    let rules = ruleset().map_err(WallError::Files)?;
    let mut rules = rules
        .add_rules(path_beneath_rules(&readable, AccessFs::from_read(WANTED)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, all)))
        .map_err(WallError::Files)?;
    for folder in writable {
        // A folder that cannot be granted is an error here, where the helper above would pass over it.
        let handle = PathFd::new(folder).map_err(WallError::Folder)?;
        rules = rules.add_rule(PathBeneath::new(handle, all)).map_err(WallError::Files)?;
    }
    rules.restrict_self().map_err(WallError::Files)?;
    Ok(())
}

fn ruleset() -> Result<landlock::RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        // A program must not be able to end the one that watches over it.
        .scope(Scope::from_all(WANTED))?
        .create()
}
