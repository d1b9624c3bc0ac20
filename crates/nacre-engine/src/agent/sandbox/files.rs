//! The wall around files: Landlock.
//!
//! Its rules only ever add rights to a whole tree. So that a secret stays hidden, the folders above it are not
//! granted themselves but each of their other entries; they can be passed through, and not be listed.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use super::{Confinement, WallError};

/// What must be had: creating, linking, moving and truncating are all covered from here on.
const REQUIRED: ABI = ABI::V3;

/// What is used where the kernel has it.
const WANTED: ABI = ABI::V6;

/// Devices that programs write to as a matter of course.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// More entries beside secrets than this are no home that we know.
const MAX_GRANTS: usize = 20_000;

pub(super) fn confine(confinement: &Confinement) -> Result<(), WallError> {
    let readable = readable(&confinement.secrets)?;
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

/// Trees that together hold everything but the secrets.
fn readable(secrets: &[PathBuf]) -> Result<Vec<PathBuf>, WallError> {
    let mut grants = Vec::new();
    carve(Path::new("/"), secrets, &mut grants)?;
    Ok(grants)
}

fn carve(path: &Path, secrets: &[PathBuf], grants: &mut Vec<PathBuf>) -> Result<(), WallError> {
    if secrets.iter().any(|secret| path.starts_with(secret)) {
        return Ok(());
    }
    if !secrets.iter().any(|secret| secret.starts_with(path)) {
        grants.push(path.to_owned());
        return if grants.len() <= MAX_GRANTS { Ok(()) } else { Err(WallError::TooMany) };
    }
    // What cannot be listed is not granted.
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    for entry in entries.flatten() {
        // A link would grant what it leads to, which may be the secret; that is granted in its own place.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            carve(&entry.path(), secrets, grants)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, mkdir, symlink};

    use super::*;

    #[test]
    fn everything_is_readable_but_the_secrets_and_links_to_them() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        for folder in [".ssh", ".config", ".config/gcloud", ".config/git", "src"] {
            mkdir(home.join(folder), Mode::RWXU).unwrap();
        }
        symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let secrets = [home.join(".ssh"), home.join(".config/gcloud"), home.join(".missing")];
        let mut grants = readable(&secrets).unwrap();
        grants.retain(|path| path.starts_with(&home));
        grants.sort();
        assert_eq!(grants, [home.join(".config/git"), home.join("src")]);
        assert_eq!(readable(&[]).unwrap(), [PathBuf::from("/")]);
    }
}
