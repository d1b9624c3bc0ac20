//! How a memory came to be what it is.
//!
//! Git knows when the store is in git. Otherwise the run folders do: each run left a list of what it
//! did. Git is called with everything that a repository could make it execute switched off.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::id::MemoryId;
use super::layout::Located;
use super::store::{MemoryError, Store};
use crate::safefs::{EntryKind, RelPath};

/// A run's list of actions is small; a larger one is not ours.
const MAX_ACTIONS_BYTES: u64 = 4 << 20;

/// More versions than anybody reads.
const MAX_VERSIONS: usize = 200;

/// A store may be shipped by a stranger with all that git needs to take it for a bare repository,
/// whose settings run commands; and no look at history may reach for the network.
const SETTINGS: &[&str] = &[
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=",
    "core.sshCommand=false",
    "log.showSignature=false",
    "protocol.allow=never",
];

/// What a git hook, or a stranger's shell, would hand to every git below it.
const INHERITED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
];

/// One earlier state of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub source: VersionSource,
    pub when: String,
    pub who: String,
    pub what: String,
}

/// Where an earlier state is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// A commit, by its short hash.
    Git(String),
    /// A run, by its folder.
    Run(String),
}

impl Store {
    /// The versions of a memory, newest first.
    pub fn history(&self, at: &Located) -> Result<Vec<Version>, MemoryError> {
        let versions = git_log(self.path(), &at.path);
        if versions.is_empty() { self.runs_naming(&at.id) } else { Ok(versions) }
    }

    fn runs_naming(&self, id: &MemoryId) -> Result<Vec<Version>, MemoryError> {
        let workspace = RelPath::new("workspace")?;
        let mut versions = Vec::new();
        for run in self.scope().list(&workspace)?.into_iter().rev() {
            let Ok(folder) = workspace.join(&run.name) else { continue };
            if run.kind != EntryKind::Folder || versions.len() >= MAX_VERSIONS {
                continue;
            }
            for file in ["memory_actions.json", "maintain_actions.json"] {
                let bytes = self.scope().read_optional(&folder.join(file)?, MAX_ACTIONS_BYTES)?;
                let report = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
                versions.extend(report.iter().flat_map(|report| actions_on(report, &run.name, id)));
            }
        }
        Ok(versions)
    }
}

/// The actions of a run's report whose target is `id`.
fn actions_on(report: &Value, run: &str, id: &MemoryId) -> Vec<Version> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let actions = report["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let targeted = actions.iter().filter(|action| action["target"].as_str() == Some(id.as_str()));
    let version = |action: &Value| Version {
        source: VersionSource::Run(run.to_owned()),
        when: text(report, "finished_at"),
        who: text(report, "mode"),
        what: [text(action, "action"), text(action, "reason")]
            .join(": ")
            .trim_end_matches(": ")
            .to_owned(),
    };
    targeted.map(version).collect()
}

/// The commits that touched `path`; none where there is no git or no repository.
fn git_log(root: &Path, path: &RelPath) -> Vec<Version> {
    let output = quiet_git(root)
        .args(["log", "--follow", "--no-ext-diff"])
        .args(["--no-textconv", "--date=iso-strict"])
        .arg(format!("--max-count={MAX_VERSIONS}"))
        .args(["--format=%h%x1f%ad%x1f%an%x1f%s", "--", path.as_str()])
        .output();
    let log = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    log.lines().filter_map(commit_of).collect()
}

/// A git that looks and does nothing else: no hook, no pager, no network, no prompt.
pub fn quiet_git(root: &Path) -> Command {
    let mut command = Command::new("git");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for name in INHERITED {
        command.env_remove(name);
    }
    command
        .args(["--no-pager", "--no-optional-locks"])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn commit_of(line: &str) -> Option<Version> {
    let mut fields = line.splitn(4, '\u{1f}').map(str::to_owned);
    let hash = fields.next()?;
    let when = fields.next()?;
    let who = fields.next()?;
    Some(Version { source: VersionSource::Git(hash), when, who, what: fields.next()? })
}
