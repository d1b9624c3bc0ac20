//! What the process was given: variables, folder, clock and chance. The process reads them once and hands them over.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::agent_config::AGENTS;
use nacre_core::base::LocalNames;
use nacre_core::config::{NACRE_CHILD, NACRE_HOME, NACRE_NOW};
use nacre_core::memory::Actor;
use nacre_map::indexer::GitPlaces;

use crate::error::OpError;

/// Variables by which any agent can mark a shell that it starts.
const SHELL_VARIABLES: &[&str] = &["AI_AGENT"];

/// Tells what time it is, whenever it is asked.
pub type SystemClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The surroundings of the process, as plain data.
#[derive(Clone)]
pub struct Environment {
    /// Variables whose name and value are valid UTF-8.
    pub vars: Vec<(String, String)>,
    /// Variables of ours whose value is not valid UTF-8.
    pub garbled_vars: Vec<String>,
    pub folder: PathBuf,
    /// Whether the current folder was removed under us.
    pub is_folder_gone: bool,
    pub home: Option<PathBuf>,
    /// The name of this machine, where the system tells it.
    pub host: Option<String>,
    pub pid: u32,
    /// The program itself, as agents are to start it.
    pub program: Option<PathBuf>,
    /// The clock of the system, which no test stops.
    pub clock: SystemClock,
    /// How long the process has been running.
    pub uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// Fills bytes that nobody can guess.
    pub random: fn(&mut [u8]) -> std::io::Result<()>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables hold keys.
        f.debug_struct("Environment").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Environment {
    pub(super) fn check(&self) -> Result<(), OpError> {
        if self.is_folder_gone {
            return Err(
                OpError::failed("The current folder is gone").hint("Go to one that is there: cd")
            );
        }
        match self.garbled_vars.first() {
            Some(name) => Err(OpError::usage(format!("`{name}` is not valid UTF-8"))),
            None => Ok(()),
        }
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        let found = self.vars.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Whether an agent that Nacre itself asks something started this process.
    pub fn is_child(&self) -> bool {
        self.var(NACRE_CHILD).is_some()
    }

    /// Who types a command in this environment. Agents mark the shells that they start.
    pub fn actor(&self) -> Actor {
        let marks = AGENTS.iter().flat_map(|agent| agent.shell_variables);
        let is_marked = marks.chain(SHELL_VARIABLES).any(|name| self.var(name).is_some());
        if is_marked || self.is_child() { Actor::Agent } else { Actor::Owner }
    }

    /// The folder of global data.
    pub fn nacre_home(&self) -> Option<PathBuf> {
        match self.var(NACRE_HOME) {
            Some(home) => Some(self.absolute(Path::new(home))),
            None => self.home.as_ref().map(|home| self.absolute(&home.join(".nacre"))),
        }
    }

    /// Where git looks for a person's settings.
    pub fn git_places(&self) -> GitPlaces {
        let plain = |name: &str| self.var(name).map(PathBuf::from);
        let below_home = |path: &str| self.home.as_ref().map(|home| home.join(path));
        let folder = plain("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let folder = folder.map(|folder| folder.join("git"));
        let mut configs = Vec::new();
        if self.var("GIT_CONFIG_NOSYSTEM").is_none() {
            let system = plain("GIT_CONFIG_SYSTEM");
            configs.push(system.unwrap_or_else(|| PathBuf::from("/etc/gitconfig")));
        }
        match plain("GIT_CONFIG_GLOBAL") {
            Some(config) => configs.push(config),
            None => {
                configs.extend(folder.as_ref().map(|folder| folder.join("config")));
                configs.extend(below_home(".gitconfig"));
            }
        }
        let default_excludes = folder.map(|folder| folder.join("ignore"));
        GitPlaces { configs, default_excludes, home: self.home.clone() }
    }

    /// What names this machine and its user in texts about the repository at `root`.
    pub fn local_names(&self, root: &Path) -> LocalNames {
        let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.var(name));
        let host = self.host.as_deref().or_else(|| self.var("HOSTNAME"));
        LocalNames::new(Some(root), self.home.as_deref(), user, host)
    }

    /// The time it is, or the time that a test says it is.
    pub fn now(&self) -> Timestamp {
        self.var(NACRE_NOW).and_then(|now| now.parse().ok()).unwrap_or_else(|| (self.clock)())
    }

    /// `path`, seen from the current folder, without `.`, `..` and links where it exists.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.folder.join(path);
        std::fs::canonicalize(&joined).unwrap_or(joined)
    }
}
