//! Which settings hold where: for a project its own, for everything that belongs to no project the person's.
//!
//! A repository's file is read for that repository alone. What works on several projects, such as a sync, asks for
//! the settings of each.

use std::path::{Path, PathBuf};

use nacre_api::wire::ErrorCode;
use nacre_core::base::redact::ExtraWords;
use nacre_core::config::{self, EDITOR, NACRE_CONFIG, Resolved, Settings, Source, VISUAL};
use nacre_core::safefs::{Access, WriteScope};

use super::files::{read_text, read_text_in};
use super::{Environment, Host, STORE_FOLDER};
use crate::error::OpError;

/// Where the files of the configuration lie.
pub(crate) struct ConfigFiles<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) home: Option<&'a Path>,
    /// The roots of all repositories that are known.
    pub(crate) repositories: Vec<&'a Path>,
}

impl ConfigFiles<'_> {
    /// The settings of the project at `target`, or those of the person alone.
    pub(crate) fn resolve(
        &self,
        target: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Resolved, OpError> {
        Ok(config::resolve(&self.sources(target)?, &self.environment.vars, flags)?)
    }

    pub(crate) fn sources(&self, target: Option<&Path>) -> Result<Vec<Source>, OpError> {
        let mut sources = Vec::new();
        if let Some(home) = self.home
            && let Some(text) = read_text(home, "config.toml")?
        {
            sources.push(Source::home(&home.join("config.toml"), text));
        }
        if let Some(root) = target
            && let Some(source) = repo_source(root)?
        {
            sources.push(source);
        }
        sources.extend(self.named_file(target)?);
        Ok(sources)
    }

    /// The file that `NACRE_CONFIG` names. One inside a repository is that repository's: it says nothing about others.
    fn named_file(&self, target: Option<&Path>) -> Result<Option<Source>, OpError> {
        let Some(file) = self.environment.var(NACRE_CONFIG) else { return Ok(None) };
        let path = self.environment.absolute(Path::new(file));
        let known = self.repositories.iter().copied().chain(target);
        let owner = known
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.components().count());
        if owner.is_some() && owner != target {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(|error| OpError {
            causes: vec![error.to_string()],
            ..OpError::failed(format!("Cannot read `{}`, named by NACRE_CONFIG", path.display()))
        })?;
        Ok(Some(Source::file(&path, text, owner)))
    }
}

/// The file that came with a repository, where there is one.
fn repo_source(root: &Path) -> Result<Option<Source>, OpError> {
    // A link in the store's place, or in its file's, is a stranger's: nothing is read through it.
    let scope = match WriteScope::open_inside(root, STORE_FOLDER, Access::Shared) {
        Err(error) if error.is_missing() => return Ok(None),
        scope => scope?,
    };
    let path = root.join(STORE_FOLDER).join("config.toml");
    Ok(read_text_in(&scope, "config.toml")?.map(|text| Source::repo(&path, text)))
}

impl Host {
    /// The settings of the project at `root`, as its files say now.
    pub fn settings_for(&self, root: &Path) -> Result<Settings, OpError> {
        let is_here = self.project.as_ref().is_some_and(|project| project.path == root);
        match self.config_files().resolve(Some(root), &[]) {
            Ok(resolved) => Ok(resolved.settings),
            // Settings that make no sense hold from when they do.
            Err(_) if is_here => Ok(self.settings().clone()),
            Err(error) => Err(error),
        }
    }

    /// The person's own settings: of the global folder and of variables, and of no repository.
    pub fn own_settings(&self) -> Settings {
        let now = self.config_files().resolve(None, &[]);
        now.map_or_else(|_| self.own.clone(), |resolved| resolved.settings)
    }

    /// The settings of a project, or the person's own where there is none.
    pub fn settings_of(&self, project: Option<&Path>) -> Result<Settings, OpError> {
        match project {
            Some(root) => self.settings_for(root),
            None => Ok(self.own_settings()),
        }
    }

    /// The settings of a project, or the person's own, as the files say now; `None` when they make no sense.
    pub fn settings_now(&self, project: Option<&Path>) -> Option<Settings> {
        Some(self.config_files().resolve(project, &[]).ok()?.settings)
    }

    /// The words that are kept out of what belongs to a registered project, or to none.
    pub fn words_of(&self, project: Option<&str>) -> Result<ExtraWords, OpError> {
        let project = project.map(PathBuf::from);
        Ok(words(&self.settings_of(project.as_deref())?))
    }

    /// The program that a person edits texts with: the setting, then what the environment names.
    pub fn editor(&self) -> Result<&str, OpError> {
        let configured = self.settings().ui.editor.as_deref();
        let named = [VISUAL, EDITOR].into_iter().find_map(|name| self.environment.var(name));
        configured.or(named).ok_or_else(|| OpError {
            code: ErrorCode::NotSet,
            ..OpError::failed("No editor is set")
                .hint("Set $EDITOR, or run `nacre config set ui.editor vim`")
        })
    }

    fn config_files(&self) -> ConfigFiles<'_> {
        ConfigFiles {
            environment: &self.environment,
            home: self.home.as_deref(),
            repositories: self.repositories(),
        }
    }

    fn repositories(&self) -> Vec<&Path> {
        let around = self.project.as_ref().map(|project| project.path.as_path());
        self.projects.iter().map(|project| project.path.as_path()).chain(around).collect()
    }
}

/// The words that settings keep out of everything.
pub fn words(settings: &Settings) -> ExtraWords {
    ExtraWords::new(&settings.redact.extra)
}
