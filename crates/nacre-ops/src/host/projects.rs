//! Finds the current project, and registers projects.
//!
//! The search skips directories that belong to another user or that other users can write to. If
//! the user names such a directory, it is rejected. `safe.folders` lists exceptions.

use nacre_base::config::projects::{self, Project, Projects};
use nacre_base::{Person, Stranger};
use nacre_team::people::{AccessScope, Caller, Identity, LocalPeople, PeopleStore};
use nacre_team::postgres::people::SharedPeople;
use nacre_types::Warning;

use super::files::if_there;
use super::{Environment, Needs, ProjectRoot, STORE_FOLDER, read_projects};
use crate::prelude::*;

/// Normally a directory, but a file in worktrees and submodules.
const GIT: &str = ".git";

pub(crate) struct Search<'s> {
    pub(crate) environment: &'s Environment,
    pub(crate) projects: &'s Projects,
    pub(crate) home: Option<&'s Path>,
    pub(crate) person: &'s Person,
    pub(crate) needs: Needs,
}

impl Search<'_> {
    pub(crate) fn project(
        &self,
        warnings: &mut Vec<Warning>,
        asked: Option<&str>,
    ) -> Result<Option<ProjectRoot>> {
        match (asked, self.needs) {
            (asked, Needs::Registered) => self.find_registered(asked),
            (Some(asked), _) => self.resolve_asked(asked).map(Some),
            (None, _) => Ok(self.around(warnings)),
        }
    }

    /// Returns the registered project with the given name, or the only registered project.
    fn find_registered(&self, asked: Option<&str>) -> Result<Option<ProjectRoot>> {
        let mut all = self.projects.iter();
        let found = match (asked, all.next(), all.next()) {
            (Some(name), ..) => match self.projects.iter().find(|project| project.name == name) {
                None => return Err(unknown_project(self.projects, name, ErrorCode::NoProject)),
                found => found,
            },
            (None, only, None) => only,
            (None, _, Some(_)) => None,
        };
        let Some(project) = found else { return Ok(None) };
        check(self.person, &project.path)?;
        Ok(Some(self.name_root(project.path.clone())))
    }

    fn resolve_asked(&self, asked: &str) -> Result<ProjectRoot> {
        let path = match self.projects.find(asked) {
            Some(project) => project.path.clone(),
            None => self.environment.absolute(Path::new(asked)),
        };
        if !path.is_dir() && self.projects.find(asked).is_none() {
            return Err(unknown_project(self.projects, asked, ErrorCode::Usage));
        }
        check(self.person, &path)?;
        let project = self.name_root(path);
        let has_store = project.path.join(STORE_FOLDER).symlink_metadata().is_ok();
        if self.needs == Needs::Project && project.name.is_none() && !has_store {
            let message = format!("`{}` is not a project", project.path.display());
            let error = OpError::new(ErrorCode::NoProject, message);
            return Err(error.hint("Run `nacre init` in it; `nacre project` lists all projects"));
        }
        Ok(project)
    }

    fn around(&self, warnings: &mut Vec<Warning>) -> Option<ProjectRoot> {
        let folder = &self.environment.folder;
        let registered = self.projects.containing(folder).map(|project| project.path.clone());
        // `store_around` reports untrusted directories.
        let registered = registered.filter(|path| self.person.check(path, STORE_FOLDER).is_ok());
        let around = self.store_around(warnings);
        let depth = |path: &PathBuf| path.components().count();
        registered.into_iter().chain(around).max_by_key(depth).map(|path| self.name_root(path))
    }

    fn name_root(&self, path: PathBuf) -> ProjectRoot {
        let known = self.projects.iter().find(|project| project.path == path);
        ProjectRoot { name: known.map(|project| project.name.clone()), path }
    }

    /// Returns the nearest parent directory that contains a store. A search that starts in a git
    /// repository stops at the repository's root.
    fn store_around(&self, warnings: &mut Vec<Warning>) -> Option<PathBuf> {
        for dir in self.environment.folder.ancestors() {
            let store = dir.join(STORE_FOLDER);
            let is_there = store.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
            if is_there && Some(store.as_path()) != self.home {
                if is_usable(warnings, self.person, dir, STORE_FOLDER) {
                    return Some(dir.to_owned());
                }
                // This directory has already been reported.
                continue;
            }
            if has_git(dir) && is_usable(warnings, self.person, dir, GIT) {
                return None;
            }
        }
        None
    }
}

pub(crate) fn unknown_project(projects: &Projects, name: &str, code: ErrorCode) -> OpError {
    let error = OpError::new(code, format!("Project `{name}` not found"));
    match projects.nearest(name) {
        Some(nearest) => error.hint(format!("Did you mean `{nearest}`?")),
        None => error.hint("`nacre project` lists all projects"),
    }
}

pub fn git_root(person: &Person, folder: &Path) -> Option<PathBuf> {
    let is_it = |dir: &&Path| has_git(dir) && person.check(dir, GIT).is_ok();
    folder.ancestors().find(is_it).map(Path::to_owned)
}

pub fn check(person: &Person, root: &Path) -> Result<()> {
    for name in [STORE_FOLDER, GIT] {
        person.check(root, name).map_err(|stranger| refusal_error(&stranger, root))?;
    }
    Ok(())
}

/// Returns the directory to map: `root`, or `folder` if `root` belongs to another user.
pub fn own_root(person: &Person, root: PathBuf, folder: PathBuf) -> Result<PathBuf> {
    match person.check(&root, GIT) {
        Ok(()) => Ok(root),
        Err(stranger) if root == folder => Err(refusal_error(&stranger, &root)),
        Err(_) => Ok(folder),
    }
}

fn has_git(dir: &Path) -> bool {
    dir.join(GIT).symlink_metadata().is_ok()
}

fn is_usable(warnings: &mut Vec<Warning>, person: &Person, folder: &Path, name: &str) -> bool {
    let checked = person.check(folder, name);
    if let Err(stranger) = &checked {
        let message = format!("`{}` was ignored: {stranger}", folder.join(name).display());
        warnings.push(Warning { message, hint: Some(hint(folder)) });
    }
    checked.is_ok()
}

fn refusal_error(stranger: &Stranger, folder: &Path) -> OpError {
    let what = format!("The project in `{}` was ignored: {stranger}", folder.display());
    OpError::failed(what).hint(hint(folder))
}

fn hint(folder: &Path) -> String {
    format!("If you trust the directory: nacre config set safe.folders \"{}\"", folder.display())
}

const REGISTER: &str = "projects.toml";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registering {
    #[default]
    No,
    /// Registers the project in memory only, for a dry run.
    ForNow,
    Yes,
}

impl Host {
    /// Registers the repository at `root` and returns its name. An existing entry is left
    /// unchanged.
    pub fn register(&self, root: &Path, name: Option<&str>) -> Result<String> {
        let known = self.projects.iter().find(|project| project.path == root);
        let name = match (name, known) {
            (Some(name), _) => name.to_owned(),
            (None, Some(known)) => known.name.clone(),
            (None, None) => projects::name_for(root, &self.projects),
        };
        if known.is_none_or(|known| known.name != name) {
            let (name, path) = (name.clone(), root.to_owned());
            self.write_project(&Project { name, path, also: Vec::new() })?;
        }
        Ok(name)
    }

    /// Adds a project to the register, or changes its other directories.
    pub(crate) fn write_project(&self, project: &Project) -> Result<()> {
        self.edit_home_text(REGISTER, "project", |text, origin| {
            Ok(projects::add(text, origin, project)?)
        })?;
        Ok(())
    }

    pub fn unregister(&self, name: &str) -> Result<()> {
        self.edit_home_text(REGISTER, "project", |text, origin| {
            Ok(projects::remove(text, origin, name)?)
        })?;
        Ok(())
    }

    pub(crate) fn take_back_registration(&self, root: &Path, name: &str) {
        if !self.projects.iter().any(|project| project.path == root) {
            // If unregistering also fails, only the original error is reported.
            let _ = self.unregister(name);
        }
    }

    /// Registers the current project if it has a store but no name, for example in a clone with
    /// shared memories. Errors are ignored.
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
                let project = Project { name: name.clone(), path: path.clone(), also: Vec::new() };
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

    /// Returns the name of a project, or of its directory if it is not registered.
    pub(crate) fn name_of(&self, root: &Path) -> String {
        let known = self.projects.iter().find(|project| project.path == root);
        let folder = || root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        known.map_or_else(folder, |project| project.name.clone())
    }

    pub fn explicit_project(&self) -> Option<&str> {
        let project = self.project.as_ref().filter(|_| self.named_folder.is_some())?;
        project.name.as_deref()
    }

    /// Returns the users of this server, or of all servers that share the database. Returns `None`
    /// if no token was ever issued.
    pub fn people(&self) -> Result<Option<Box<dyn PeopleStore + Send>>> {
        if let Some(database) = self.database()? {
            return Ok(Some(Box::new(SharedPeople::open(&database)?)));
        }
        let opened = WriteScope::open(self.home()?, Access::Private);
        let Some(home) = if_there(opened)? else { return Ok(None) };
        let people = LocalPeople::open_existing(&home)?;
        Ok(people.map(|people| Box::new(people) as Box<dyn PeopleStore + Send>))
    }

    /// Returns the current permissions of an identity, or `None` if its token is revoked or
    /// expired.
    pub(crate) fn caller_now(&self, identity: &Identity) -> Result<Option<Caller>> {
        let Identity::Token { id, .. } = identity else { return Ok(Some(Caller::owner())) };
        let people = self.people()?;
        let token = people.map_or(Ok(None), |people| people.token(id))?;
        Ok(token.filter(|token| token.is_valid(self.now())).map(Caller::from))
    }

    /// Like `people`, but creates missing storage.
    pub fn people_to_change(&self) -> Result<Box<dyn PeopleStore + Send>> {
        if let Some(database) = self.database()? {
            return Ok(Box::new(SharedPeople::open(&database)?));
        }
        let (owner, wait) = (self.owner("server token"), self.settings().lock.wait);
        Ok(Box::new(LocalPeople::open(&self.home_scope()?, &owner, wait)?))
    }
}

/// Returns the error for a missing permission, either for a visible project or for the whole
/// server.
pub fn not_allowed(scope: AccessScope, project: Option<&str>) -> OpError {
    let scope = scope.as_str();
    let message = match project {
        Some(project) => format!("This requires the scope `{scope}` in `{project}`"),
        None => format!("This requires the scope `{scope}`"),
    };
    OpError::new(ErrorCode::Refused, message)
        .hint("Ask the server's administrator for a token with this scope")
}
