//! Finds the project that a command works on, and takes no stranger's folder for it.
//!
//! What belongs to another user, or lies where anybody may put it, is passed by when the search goes upwards, and is an error
//! where a person names it. `safe.folders` lists the exceptions.

use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, Warning};
use nacre_core::base::{Person, Stranger};
use nacre_core::config::projects::Projects;

use super::{Environment, Needs, ProjectRoot, STORE_FOLDER};
use crate::error::OpError;

/// What git calls its folder, and the file that stands for it.
const GIT: &str = ".git";

/// What a search for the project goes by.
pub(crate) struct Search<'s> {
    pub(crate) environment: &'s Environment,
    pub(crate) projects: &'s Projects,
    pub(crate) home: Option<&'s Path>,
    pub(crate) person: &'s Person,
    pub(crate) needs: Needs,
}

impl Search<'_> {
    /// The project that was asked for, or the nearest one around the current folder.
    pub(crate) fn project(
        &self,
        warnings: &mut Vec<Warning>,
        asked: Option<&str>,
    ) -> Result<Option<ProjectRoot>, OpError> {
        match (asked, self.needs) {
            (asked, Needs::Registered) => self.registered(asked),
            (Some(asked), _) => self.asked(asked).map(Some),
            (None, _) => Ok(self.around(warnings)),
        }
    }

    /// A registered project by its name alone, or the only one.
    fn registered(&self, asked: Option<&str>) -> Result<Option<ProjectRoot>, OpError> {
        let mut all = self.projects.iter();
        let found = match (asked, all.next(), all.next()) {
            (Some(name), ..) => match self.projects.iter().find(|project| project.name == name) {
                None => return Err(self.unknown(name)),
                found => found,
            },
            (None, only, None) => only,
            (None, _, Some(_)) => None,
        };
        let Some(project) = found else { return Ok(None) };
        check(self.person, &project.path)?;
        Ok(Some(self.named(project.path.clone())))
    }

    fn unknown(&self, asked: &str) -> OpError {
        let message = format!("No project is named `{asked}`");
        let error = OpError { code: ErrorCode::NoProject, ..OpError::failed(message) };
        match self.projects.nearest(asked) {
            Some(name) => error.hint(format!("Did you mean `{name}`?")),
            None => error.hint("`nacre project list` shows every project"),
        }
    }

    fn asked(&self, asked: &str) -> Result<ProjectRoot, OpError> {
        let path = match self.projects.find(asked) {
            Some(project) => project.path.clone(),
            None => self.environment.absolute(Path::new(asked)),
        };
        if !path.is_dir() && self.projects.find(asked).is_none() {
            let error = OpError::usage(format!("No project is named `{asked}`"));
            return Err(match self.projects.nearest(asked) {
                Some(name) => error.hint(format!("Did you mean `{name}`?")),
                None => error.hint("`nacre project list` shows every project"),
            });
        }
        check(self.person, &path)?;
        let project = self.named(path);
        let has_store = project.path.join(STORE_FOLDER).symlink_metadata().is_ok();
        if self.needs == Needs::Project && project.name.is_none() && !has_store {
            let message = format!("`{}` is not a project", project.path.display());
            let error = OpError { code: ErrorCode::NoProject, ..OpError::failed(message) };
            return Err(
                error.hint("Run `nacre init` in it; `nacre project list` shows every project")
            );
        }
        Ok(project)
    }

    fn around(&self, warnings: &mut Vec<Warning>) -> Option<ProjectRoot> {
        let folder = &self.environment.folder;
        let registered = self.projects.containing(folder).map(|project| project.path.clone());
        // The walk upwards passes by it, and says so.
        let registered = registered.filter(|path| self.person.check(path, STORE_FOLDER).is_ok());
        let around = self.store_around(warnings);
        let depth = |path: &PathBuf| path.components().count();
        registered.into_iter().chain(around).max_by_key(depth).map(|path| self.named(path))
    }

    fn named(&self, path: PathBuf) -> ProjectRoot {
        let known = self.projects.iter().find(|project| project.path == path);
        ProjectRoot { name: known.map(|project| project.name.clone()), path }
    }

    /// The nearest folder upwards that has a store; a search that starts in a git repository ends there.
    fn store_around(&self, warnings: &mut Vec<Warning>) -> Option<PathBuf> {
        for dir in self.environment.folder.ancestors() {
            let store = dir.join(STORE_FOLDER);
            let is_there = store.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
            if is_there && Some(store.as_path()) != self.home {
                match is_usable(warnings, self.person, dir, STORE_FOLDER) {
                    true => return Some(dir.to_owned()),
                    // One message about a folder is enough.
                    false => continue,
                }
            }
            if has_git(dir) && is_usable(warnings, self.person, dir, GIT) {
                return None;
            }
        }
        None
    }
}

/// The root of the git repository around `folder`.
pub fn git_root(person: &Person, folder: &Path) -> Option<PathBuf> {
    let is_it = |dir: &&Path| has_git(dir) && person.check(dir, GIT).is_ok();
    folder.ancestors().find(is_it).map(Path::to_owned)
}

/// Fails when the project at `root` is a stranger's.
pub fn check(person: &Person, root: &Path) -> Result<(), OpError> {
    for name in [STORE_FOLDER, GIT] {
        person.check(root, name).map_err(|stranger| refused(&stranger, root))?;
    }
    Ok(())
}

/// The folder to map: `root`, or, where `root` is a stranger's above it, `folder` itself.
pub fn own_root(person: &Person, root: PathBuf, folder: PathBuf) -> Result<PathBuf, OpError> {
    match person.check(&root, GIT) {
        Ok(()) => Ok(root),
        Err(stranger) if root == folder => Err(refused(&stranger, &root)),
        Err(_) => Ok(folder),
    }
}

fn has_git(dir: &Path) -> bool {
    dir.join(GIT).symlink_metadata().is_ok()
}

fn is_usable(warnings: &mut Vec<Warning>, person: &Person, folder: &Path, name: &str) -> bool {
    let checked = person.check(folder, name);
    if let Err(stranger) = &checked {
        warn(warnings, stranger, folder, name);
    }
    checked.is_ok()
}

fn warn(warnings: &mut Vec<Warning>, stranger: &Stranger, folder: &Path, name: &str) {
    let path = folder.join(name);
    let message = format!("`{}` is not used: {stranger}", path.display());
    warnings.push(Warning { message, hint: Some(hint(folder)) });
}

fn refused(stranger: &Stranger, folder: &Path) -> OpError {
    let what = format!("The project in `{}` is not used: {stranger}", folder.display());
    OpError::failed(what).hint(hint(folder))
}

fn hint(folder: &Path) -> String {
    format!("If you trust it: nacre config set safe.folders \"{}\"", folder.display())
}
