//! Starts git over one repository, with an environment and settings that the repository has no part in.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::folder::GitFolder;
use super::running::{Finished, Running};
use super::settings::{FIXED, MAX_OVERRIDES, TooManySettings, overrides};
use crate::base::owner::{Person, Stranger};
use crate::base::search_path::{is_of_repository, search_folders, search_path};
use crate::platform::ext::PermissionsExt as _;
use crate::platform::program_file;

/// How long all questions of one command may take together. A git that waits for longer waits for a pipe that nobody writes
/// to, or works on what was made to keep it busy.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time is counted in slices, without a clock: an answer that comes within the first one costs nothing.
const SLICE: Duration = Duration::from_millis(20);

/// The longest wait between two looks. Each wait is twice the one before, so that a busy machine, which wakes a waiting thread
/// late, adds a few delays and not one for every slice.
const MAX_WAIT_SLICES: u64 = 32;

/// More of an answer is not read, where a caller does not say.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// More of a repository's settings is not read.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// What git is told about everything around it. No repository can change these.
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

/// Commands that would start a program to show a file, and are told not to.
const SHOWING: &[&str] = &["diff", "diff-files", "diff-index", "diff-tree", "log", "show"];

/// Why git has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitFault {
    #[error("git is not installed")]
    NotInstalled,
    #[error("Cannot start git")]
    Start(#[source] io::Error),
    #[error(transparent)]
    Stranger(#[from] Stranger),
    #[error("`{}` is not a plain file of a sensible size", .0.display())]
    NotPlain(PathBuf),
    #[error(
        "The repository's settings name programs or files in more than {} places",
        MAX_OVERRIDES
    )]
    TooManySettings,
    #[error("git did not answer in time")]
    TimedOut,
    #[error("git's answer is longer than {limit} bytes")]
    TooLong { limit: u64 },
    #[error("git failed: {message}")]
    Failed { code: Option<i32>, message: String },
}

/// The git of the system, and what it may see of the person who uses it.
/// All that is opened by it, and by its clones, shares the time that git may take.
#[derive(Clone, Debug)]
pub struct GitProgram {
    path: OsString,
    home: Option<PathBuf>,
    person: Person,
    slices: Arc<AtomicU64>,
}

impl GitProgram {
    /// The first `git` on `path`, a list of folders as in `PATH`. It sees no settings of the person.
    pub fn new(path: impl Into<OsString>) -> Self {
        Self {
            path: path.into(),
            home: None,
            person: Person::new(None, &[]),
            slices: slices(PATIENCE),
        }
    }

    /// Lets it see the person's own settings: their name, their filters, their ignore rules.
    pub fn with_home(self, home: impl Into<PathBuf>) -> Self {
        Self { home: Some(home.into()), ..self }
    }

    /// Opens the repositories that this person may use; without it, those of the user of the process.
    pub fn with_person(self, person: Person) -> Self {
        Self { person, ..self }
    }

    /// Gives all questions together this long.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { slices: slices(patience), ..self }
    }

    /// Opens a repository. Its settings are read once, and what they would start is taken away.
    pub fn open(&self, folder: GitFolder) -> Result<Git, GitFault> {
        self.check_owners(&folder)?;
        if let Some(path) = folder.unreadable() {
            return Err(GitFault::NotPlain(path));
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
        git.settings = overrides(&listed).map_err(|TooManySettings| GitFault::TooManySettings)?;
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

    /// Opens the repository whose work tree is `tree`; `None` where there is none that can be used.
    pub fn open_at(&self, tree: &Path) -> Option<Git> {
        self.open(GitFolder::of(tree)?).ok()
    }

    /// Never one that the repository brought along.
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

/// Git over one repository.
#[derive(Debug)]
pub struct Git {
    program: PathBuf,
    path: OsString,
    home: Option<PathBuf>,
    folder: GitFolder,
    settings: Vec<(OsString, OsString)>,
    /// What is left of the time.
    slices: Arc<AtomicU64>,
}

impl Git {
    pub fn folder(&self) -> &GitFolder {
        &self.folder
    }

    /// What git answers.
    pub fn ask(&self, args: &[&str]) -> Result<Vec<u8>, GitFault> {
        self.ask_within(args, MAX_ANSWER_BYTES)
    }

    /// What git answers, `limit` bytes at most.
    pub fn ask_within(&self, args: &[&str], limit: u64) -> Result<Vec<u8>, GitFault> {
        self.answer(args, None, limit)
    }

    /// What git answers to an input, `limit` bytes at most.
    pub fn ask_with(&self, args: &[&str], input: Vec<u8>, limit: u64) -> Result<Vec<u8>, GitFault> {
        self.answer(args, Some(input), limit)
    }

    fn answer(
        &self,
        args: &[&str],
        input: Option<Vec<u8>>,
        limit: u64,
    ) -> Result<Vec<u8>, GitFault> {
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

    /// Waits until git ends, as long as there is time left for all questions together; then ends it.
    fn wait_for(&self, running: &Running) -> Result<io::Result<Finished>, GitFault> {
        let mut wait = 1;
        loop {
            let left = self.slices.load(Ordering::Relaxed);
            if left == 0 {
                running.stop().kill();
                return Err(GitFault::TimedOut);
            }
            let n_slices = wait.min(left);
            let finished = running.poll(SLICE * u32::try_from(n_slices).unwrap_or(u32::MAX));
            // On average an answer comes in the middle of a wait.
            self.charge(if finished.is_some() { n_slices / 2 } else { n_slices });
            if let Some(finished) = finished {
                return Ok(finished);
            }
            wait = (wait * 2).min(MAX_WAIT_SLICES);
        }
    }

    fn charge(&self, n_slices: u64) {
        let take = |left: u64| Some(left.saturating_sub(n_slices));
        // `take` always has a new value.
        let _ = self.slices.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }

    /// Starts a command that a caller waits for itself.
    pub fn start(&self, args: &[&str], limit: u64) -> Result<Running, GitFault> {
        self.launch(args, None, limit)
    }

    fn launch(
        &self,
        args: &[&str],
        input: Option<Vec<u8>>,
        limit: u64,
    ) -> Result<Running, GitFault> {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(VARIABLES.iter().copied()).env("PATH", &self.path);
        match &self.home {
            Some(home) => command.env("HOME", home),
            // `~` in a setting stands for something, or git refuses all settings.
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

/// The last line of what git complains about, without its length.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.trim().lines().last().unwrap_or("it failed").chars().take(300).collect()
}
