//! The register of projects, changed under its lock.

use std::path::Path;

use nacre_core::config::projects;

use super::{Host, ProjectRoot, read_projects};
use crate::error::OpError;

/// The register's file in the global folder.
const REGISTER: &str = "projects.toml";

/// Whether the project around is registered by being used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registering {
    /// It is looked at only.
    #[default]
    No,
    /// For this command, which changes nothing.
    ForNow,
    Yes,
}

impl Host {
    /// Registers the repository at `root` and returns its name. One that is registered keeps its entry.
    pub fn register(&self, root: &Path, name: Option<&str>) -> Result<String, OpError> {
        let known = self.projects.iter().find(|project| project.path == root);
        let name = match (name, known) {
            (Some(name), _) => name.to_owned(),
            (None, Some(known)) => known.name.clone(),
            (None, None) => projects::name_for(root, &self.projects),
        };
        if known.is_none_or(|known| known.name != name) {
            let add = |text: &str, origin: &Path| Ok(projects::add(text, origin, &name, root)?);
            self.edit_home_text(REGISTER, "project", add)?;
        }
        Ok(name)
    }

    /// Takes a project out of the register.
    pub fn unregister(&self, name: &str) -> Result<(), OpError> {
        self.edit_home_text(REGISTER, "project", |text, origin| {
            Ok(projects::remove(text, origin, name)?)
        })?;
        Ok(())
    }

    /// Registers the project around where it has a store and no name: a clone of a repository that shares its memories. Best
    /// effort: a register that cannot be written leaves it as it is.
    pub(super) fn register_by_use(&mut self, registering: Registering) {
        let Some(ProjectRoot { path, name: None }) = &self.project else { return };
        let path = path.clone();
        if self.project_scope(&path).is_err() {
            return;
        }
        match registering {
            Registering::No => {}
            Registering::ForNow => {
                let name = projects::name_for(&path, &self.projects);
                let project = projects::Project { name: name.clone(), path: path.clone() };
                self.projects = self.projects.with(project);
                self.project = Some(ProjectRoot { path, name: Some(name) });
            }
            Registering::Yes => {
                let registered = self.register(&path, None);
                let projects = read_projects(self.home.as_deref());
                if let (Ok(name), Ok(projects)) = (registered, projects) {
                    self.projects = projects;
                    self.project = Some(ProjectRoot { path, name: Some(name) });
                }
            }
        }
    }
}
