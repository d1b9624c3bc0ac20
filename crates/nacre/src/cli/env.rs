//! What the process was given: variables, folder, clock and terminal. Read here and nowhere else.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use nacre_core::config::{NACRE_HOME, NACRE_NOW};
use nacre_map::indexer::GitPlaces;

/// The process's surroundings, as plain data.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Variables whose name and value are text.
    pub(crate) vars: Vec<(String, String)>,
    /// Variables of ours whose value is no text.
    pub(crate) garbled_vars: Vec<String>,
    pub(crate) folder: PathBuf,
    /// Whether the current folder was removed under us.
    pub(crate) is_folder_gone: bool,
    pub(crate) home: Option<PathBuf>,
    pub(crate) pid: u32,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) stdin_is_terminal: bool,
}

/// The arguments of the process.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn args() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Tells how much time has passed since this call.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stopwatch() -> impl Fn() -> std::time::Duration {
    let begun = std::time::Instant::now();
    move || begun.elapsed()
}

/// A number that nobody can guess, from the system.
pub(crate) fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Tells what time it is, whenever it is asked.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn clock() -> std::sync::Arc<dyn Fn() -> Timestamp + Send + Sync> {
    std::sync::Arc::new(Timestamp::now)
}

impl Environment {
    /// Looks around, once.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn read() -> Self {
        let pair = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let current = std::env::current_dir();
        let is_folder_gone = current.is_err();
        let folder = current.unwrap_or_else(|_| PathBuf::from("/"));
        let garbled = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| name.starts_with("NACRE_"))?;
            value.into_string().is_err().then_some(name)
        });
        Self {
            garbled_vars: garbled.collect(),
            is_folder_gone,
            vars: std::env::vars_os().filter_map(pair).collect(),
            folder: std::fs::canonicalize(&folder).unwrap_or(folder),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            pid: std::process::id(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        let found = self.vars.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The folder of global data.
    pub(crate) fn nacre_home(&self) -> Option<PathBuf> {
        match self.var(NACRE_HOME) {
            Some(home) => Some(self.absolute(Path::new(home))),
            None => self.home.as_ref().map(|home| self.absolute(&home.join(".nacre"))),
        }
    }

    /// Where git looks for a person's settings.
    pub(crate) fn git_places(&self) -> GitPlaces {
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

    /// The time it is, or the time that a test says it is.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn now(&self) -> Timestamp {
        self.var(NACRE_NOW).and_then(|now| now.parse().ok()).unwrap_or_else(Timestamp::now)
    }

    /// `path`, seen from the current folder, without `.`, `..` and links where it exists.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.folder.join(path);
        std::fs::canonicalize(&joined).unwrap_or(joined)
    }
}
