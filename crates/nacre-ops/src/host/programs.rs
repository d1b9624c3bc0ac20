//! The person's own agents: where their commands are looked for, and which are installed.

use std::path::PathBuf;

use nacre_core::config::NACRE_CHILD;
use nacre_engine::model::{InstalledProgram, ProgramSettings, installed_programs};

use super::{Host, git_root};
use crate::error::OpError;

/// How the commands of agents are found and started: by the person's own variables, and never out of a repository.
pub(super) fn program_settings(host: &Host) -> ProgramSettings {
    let environment = &host.environment;
    let path = environment.var("PATH").unwrap_or_default();
    let mut settings = ProgramSettings::new(path, &repositories(host));
    settings.variables.clone_from(&environment.vars);
    settings.home.clone_from(&environment.home);
    settings.data.clone_from(&host.home);
    settings.is_child = environment.var(NACRE_CHILD).is_some();
    settings
}

/// The repositories that this process knows. A home folder that is one itself holds the person's own programs.
fn repositories(host: &Host) -> Vec<PathBuf> {
    let registered = host.projects.iter().map(|project| project.path.clone());
    let around = host.project.as_ref().map(|project| project.path.clone());
    let git = git_root(&host.person, &host.environment.folder);
    let holds_home =
        |root: &PathBuf| host.environment.home.as_ref().is_some_and(|home| home.starts_with(root));
    registered.chain(around).chain(git).filter(|root| !holds_home(root)).collect()
}

/// The agents that are installed, with their versions. They are asked once a process.
pub fn installed(host: &Host) -> Result<&[InstalledProgram], OpError> {
    if let Some(installed) = host.installed.get() {
        return Ok(installed);
    }
    let settings = program_settings(host);
    let found = host.block_on(installed_programs(&settings))?;
    Ok(host.installed.get_or_init(|| found))
}
