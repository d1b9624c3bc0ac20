//! Which settings hold where: for a project its own, for everything that belongs to no project the person's.
//!
//! A repository's file is read for that repository alone. What works on several projects, such as a sync, asks for
//! the settings of each. The files are read for every question; texts that were understood once are not parsed again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    pub(crate) understood: &'a UnderstoodSettings,
}

/// So many sets of texts are kept at most.
const MAX_UNDERSTOOD: usize = 64;

/// What the texts of settings came to, for a process that reads the same ones again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnderstoodSettings(Arc<Mutex<Vec<Understood>>>);

/// What one set of texts came to.
type Understood = (SettingTexts, Arc<Resolved>);

/// Everything that settings follow from.
#[derive(Debug, PartialEq, Eq)]
struct SettingTexts {
    sources: Vec<Source>,
    vars: Vec<(String, String)>,
    flags: Vec<(String, String)>,
}

impl UnderstoodSettings {
    fn resolve(
        &self,
        sources: Vec<Source>,
        vars: &[(String, String)],
        flags: &[(String, String)],
    ) -> Result<Arc<Resolved>, OpError> {
        let texts = SettingTexts { sources, vars: vars.to_vec(), flags: flags.to_vec() };
        if let Some(known) = self.find(&texts) {
            return Ok(known);
        }
        let resolved = Arc::new(config::resolve(&texts.sources, &texts.vars, &texts.flags)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_UNDERSTOOD {
            known.remove(0);
        }
        known.push((texts, Arc::clone(&resolved)));
        Ok(resolved)
    }

    fn find(&self, texts: &SettingTexts) -> Option<Arc<Resolved>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(of, _)| of == texts).map(|(_, resolved)| Arc::clone(resolved))
    }
}

impl ConfigFiles<'_> {
    /// The settings of the project at `target`, or those of the person alone.
    pub(crate) fn resolve(
        &self,
        target: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Arc<Resolved>, OpError> {
        self.understood.resolve(self.sources(target)?, &self.environment.vars, flags)
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
            Ok(resolved) => Ok(resolved.settings.clone()),
            // Settings that make no sense hold from when they do.
            Err(_) if is_here => Ok(self.settings().clone()),
            Err(error) => Err(error),
        }
    }

    /// The person's own settings: of the global folder and of variables, and of no repository.
    pub fn own_settings(&self) -> Settings {
        let now = self.config_files().resolve(None, &[]);
        now.map_or_else(|_| self.own.clone(), |resolved| resolved.settings.clone())
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
        Some(self.config_files().resolve(project, &[]).ok()?.settings.clone())
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
            understood: &self.shared.settings,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_understood_once_and_others_anew() {
        let understood = UnderstoodSettings::default();
        let resolve = |text: &str, var: &str| {
            let source = Source::home(Path::new("/h/config.toml"), text.to_owned());
            let vars = [("NACRE_MEMORY_MAX_RESULTS".to_owned(), var.to_owned())];
            understood.resolve(vec![source], &vars, &[]).map(Arc::unwrap_or_clone)
        };
        let first = resolve("[memory]\nmax_results = 3\n", "").unwrap();
        assert_eq!(first.settings.memory.max_results, 3);
        assert_eq!(resolve("[memory]\nmax_results = 3\n", "").unwrap(), first);
        assert_eq!(understood.0.lock().unwrap().len(), 1);
        let other = resolve("[memory]\nmax_results = 4\n", "").unwrap();
        assert_eq!(other.settings.memory.max_results, 4);
        assert_eq!(resolve("", "7").unwrap().settings.memory.max_results, 7);
        assert!(resolve("nonsense", "").is_err());
        for number in 0..2 * MAX_UNDERSTOOD {
            resolve(&format!("[memory]\nmax_results = {}\n", number + 1), "").unwrap();
        }
        assert_eq!(understood.0.lock().unwrap().len(), MAX_UNDERSTOOD);
    }
}
