//! The person's own agents: where their commands are looked for, and which are installed.

use std::path::PathBuf;

use nacre_engine::model::{
    InstalledProgram, KNOWN_PROGRAMS, KnownProgram, ProgramSettings, installed_programs,
};

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
    settings.is_child = environment.is_child();
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

/// Where the command of an agent lies: on the person's `PATH`, and never in a repository.
pub fn program_path(host: &Host, command: &str) -> Option<PathBuf> {
    let known = KNOWN_PROGRAMS.iter().find(|known| known.command == command)?;
    known.find(&program_settings(host))
}

/// What a role is set to where the first installed agent is to answer.
pub const AUTO: &str = "auto";

/// The first agent that is installed, whether or not it may answer.
pub fn first_installed(host: &Host) -> Option<&'static KnownProgram> {
    let settings = program_settings(host);
    KNOWN_PROGRAMS.iter().find(|known| known.find(&settings).is_some())
}

/// The agent that answers for `auto`: the first one that is installed, if the person allowed it.
pub fn allowed_agent(host: &Host) -> Option<&'static KnownProgram> {
    first_installed(host).filter(|known| known.provider == allowed_name(host))
}

/// The agent that the person allowed to answer, by its name; `none`, or nothing while nobody was asked.
pub fn allowed_name(host: &Host) -> &str {
    host.allowed.get().map_or(host.own.reading.agent.as_str(), String::as_str)
}

impl Host {
    /// Takes over what a person just answered, for this process.
    pub fn allow_agent(&self, name: &str) {
        // Nobody is asked twice.
        let _ = self.allowed.set(name.to_owned());
    }

    /// Whether a person was asked in this process.
    pub(super) fn has_answered(&self) -> bool {
        self.allowed.get().is_some()
    }
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
