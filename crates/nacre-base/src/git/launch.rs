//! Runs git with an environment and settings that the repository cannot influence.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::folder::{ALTERNATES, GitFolder};
use super::running::{Finished, Running};
use super::settings::{FIXED, MAX_OVERRIDES, overrides};
use crate::owner::{Person, Stranger};
use crate::owner::{is_of_repository, search_folders, search_path};
use crate::platform::ext::PermissionsExt as _;
use crate::platform::program_file;

/// Total time limit for all git calls in one command. If git takes longer, it is blocked on a pipe
/// or the repository is deliberately slow.
const PATIENCE: Duration = Duration::from_secs(2);

/// Elapsed time is counted in slices rather than measured with a clock. A call that ends within the
/// first slice does not count toward the limit.
const SLICE: Duration = Duration::from_millis(20);

/// Maximum wait between two polls, in slices. Each wait is twice as long as the previous one, so
/// that late wakeups on a busy machine add only a few delays instead of one per slice.
const MAX_WAIT_SLICES: u64 = 32;

const MAX_ANSWER_BYTES: u64 = 64 << 20;

const MAX_SETTINGS_BYTES: u64 = 4 << 20;

const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
];

/// Commands that can start an external program to display a file. A flag prevents them from doing
/// so.
const SHOWING: &[&str] = &["diff", "diff-files", "diff-index", "diff-tree", "log", "show"];

type Result<T, E = GitFault> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum GitFault {
    #[error("git is not installed")]
    NotInstalled,
    #[error("Cannot start git")]
    Start(#[source] io::Error),
    #[error(transparent)]
    Stranger(#[from] Stranger),
    #[error("`{}` is not a plain file or is too large", .0.display())]
    NotPlain(PathBuf),
    #[error("The clone uses the objects of another repository, which Nacre does not read")]
    SharedObjects,
    #[error("The repository's settings name more than {} programs or files", MAX_OVERRIDES)]
    TooManySettings,
    #[error("Git did not finish within the time limit")]
    TimedOut,
    #[error("Git's output is longer than {limit} bytes")]
    TooLong { limit: u64 },
    #[error("git failed: {message}")]
    Failed { code: Option<i32>, message: String },
}

/// The git executable, and the user settings that it may read.
///
/// Repositories opened from the same value or its clones share one time limit.
#[derive(Clone, Debug)]
pub struct GitProgram {
    path: OsString,
    home: Option<PathBuf>,
    person: Person,
    slices: Arc<AtomicU64>,
}

impl GitProgram {
    /// Uses the first `git` in `path`, which has the same format as `PATH`. By default, git does
    /// not read the user's settings.
    pub fn new(path: impl Into<OsString>) -> Self {
        Self {
            path: path.into(),
            home: None,
            person: Person::new(None, &[]),
            slices: slices(PATIENCE),
        }
    }

    /// Allows git to read the user's own settings, such as their name, filters and ignore rules.
    pub fn with_home(self, home: impl Into<PathBuf>) -> Self {
        Self { home: Some(home.into()), ..self }
    }

    /// Sets the user whose repositories are trusted. Defaults to the user running this process.
    pub fn with_person(self, person: Person) -> Self {
        Self { person, ..self }
    }

    pub fn with_patience(self, patience: Duration) -> Self {
        Self { slices: slices(patience), ..self }
    }

    /// Opens a repository. The repository's settings are read once, and those that would start a
    /// program are overridden.
    pub fn open(&self, folder: GitFolder) -> Result<Git> {
        self.check_owners(&folder)?;
        if let Some(path) = folder.unreadable() {
            let is_shared = path.ends_with(ALTERNATES);
            return Err(if is_shared { GitFault::SharedObjects } else { GitFault::NotPlain(path) });
        }
        let trees = [folder.tree().to_owned()];
        let program = self.find(&trees).ok_or(GitFault::NotInstalled)?;
        let mut git = Git {
            program,
            path: search_path(&self.path, &trees),
            home: self.home.clone(),
            folder,
            settings: Vec::new(),
            slices: Arc::clone(&self.slices),
        };
        let listed =
            git.ask_within(&["config", "--list", "--show-scope", "-z"], MAX_SETTINGS_BYTES)?;
        git.settings = overrides(&listed).ok_or(GitFault::TooManySettings)?;
        Ok(git)
    }

    fn check_owners(&self, folder: &GitFolder) -> Result<(), Stranger> {
        self.person.check(folder.tree(), ".git")?;
        for place in [folder.own(), folder.common()] {
            let name = place.file_name().and_then(OsStr::to_str);
            if let (Some(parent), Some(name)) = (place.parent(), name) {
                self.person.check(parent, name)?;
            }
        }
        Ok(())
    }

    pub fn open_at(&self, tree: &Path) -> Option<Git> {
        self.open(GitFolder::of(tree)?).ok()
    }

    /// Finds the git executable, ignoring any that the repository contains.
    fn find(&self, trees: &[PathBuf]) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        let folders = search_folders(&self.path, trees).into_iter();
        let mut programs = folders.map(|folder| folder.join(program_file("git")));
        programs.find(|path| is_program(path) && !is_of_repository(path, trees))
    }
}

#[derive(Debug)]
pub struct Git {
    program: PathBuf,
    path: OsString,
    home: Option<PathBuf>,
    folder: GitFolder,
    settings: Vec<(OsString, OsString)>,
    slices: Arc<AtomicU64>,
}

impl Git {
    pub fn folder(&self) -> &GitFolder {
        &self.folder
    }

    pub fn ask(&self, args: &[&str]) -> Result<Vec<u8>> {
        self.ask_within(args, MAX_ANSWER_BYTES)
    }

    pub fn ask_within(&self, args: &[&str], limit: u64) -> Result<Vec<u8>> {
        self.answer(args, None, limit)
    }

    pub fn ask_with(&self, args: &[&str], input: Vec<u8>, limit: u64) -> Result<Vec<u8>> {
        self.answer(args, Some(input), limit)
    }

    fn answer(&self, args: &[&str], input: Option<Vec<u8>>, limit: u64) -> Result<Vec<u8>> {
        if self.slices.load(Ordering::Relaxed) == 0 {
            return Err(GitFault::TimedOut);
        }
        let running = self.launch(args, input, limit)?;
        let finished = self.wait_for(&running)?;
        let Finished { stdout, stderr, is_cut, status } = finished.map_err(GitFault::Start)?;
        if is_cut {
            return Err(GitFault::TooLong { limit });
        }
        if !status.success() {
            let message = complaint(&stderr);
            return Err(GitFault::Failed { code: status.code(), message });
        }
        Ok(stdout)
    }

    fn wait_for(&self, running: &Running) -> Result<io::Result<Finished>> {
        let mut wait = 1;
        loop {
            let left = self.slices.load(Ordering::Relaxed);
            if left == 0 {
                running.stop().kill();
                return Err(GitFault::TimedOut);
            }
            let n_slices = wait.min(left);
            let finished = running.poll(SLICE * u32::try_from(n_slices).unwrap_or(u32::MAX));
            // On average, a call ends halfway through its last wait.
            self.charge(if finished.is_some() { n_slices / 2 } else { n_slices });
            if let Some(finished) = finished {
                return Ok(finished);
            }
            wait = (wait * 2).min(MAX_WAIT_SLICES);
        }
    }

    fn charge(&self, n_slices: u64) {
        let take = |left: u64| Some(left.saturating_sub(n_slices));
        let _ = self.slices.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }

    /// Starts a command and returns immediately. The caller must apply its own time limit.
    pub fn start(&self, args: &[&str], limit: u64) -> Result<Running> {
        self.launch(args, None, limit)
    }

    fn launch(&self, args: &[&str], input: Option<Vec<u8>>, limit: u64) -> Result<Running> {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(VARIABLES.iter().copied()).env("PATH", &self.path);
        match &self.home {
            Some(home) => command.env("HOME", home),
            // Without `HOME`, git rejects all settings if any of them contains `~`.
            None => command.env("HOME", "/nonexistent").env("GIT_CONFIG_GLOBAL", "/dev/null"),
        };
        command.env("GIT_DIR", self.folder.own()).env("GIT_WORK_TREE", self.folder.tree());
        if self.folder.own() != self.folder.common() {
            command.env("GIT_COMMON_DIR", self.folder.common());
        }
        let fixed = FIXED.iter().map(|(key, value)| (OsStr::new(*key), OsStr::new(*value)));
        let own = self.settings.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()));
        let mut n_settings = 0;
        for (number, (key, value)) in fixed.chain(own).enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
            n_settings = number + 1;
        }
        command.env("GIT_CONFIG_COUNT", n_settings.to_string());
        command.current_dir(self.folder.tree()).arg("--no-pager");
        for (number, arg) in args.iter().enumerate() {
            command.arg(arg);
            if number == 0 && SHOWING.contains(arg) {
                command.args(["--no-ext-diff", "--no-textconv"]);
            }
        }
        Running::start(&mut command, input, limit).map_err(GitFault::Start)
    }
}

fn slices(time: Duration) -> Arc<AtomicU64> {
    let n_slices = time.as_millis() / SLICE.as_millis();
    Arc::new(AtomicU64::new(u64::try_from(n_slices).unwrap_or(u64::MAX)))
}

fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.trim().lines().last().unwrap_or("it failed").chars().take(300).collect()
}
