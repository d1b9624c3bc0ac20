//! Where a person's agents keep their files.

use std::path::{Path, PathBuf};

/// The folders of one person, resolved by a caller that knows the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    pub home: PathBuf,
    /// `~/.claude`, or `CLAUDE_CONFIG_DIR`.
    pub claude: PathBuf,
    /// The file with Claude Code's servers: beside its folder, or inside one that a variable names.
    pub claude_json: PathBuf,
    /// `~/.codex`, or `CODEX_HOME`.
    pub codex: PathBuf,
    /// `~/.config`, or `XDG_CONFIG_HOME`.
    pub config: PathBuf,
}

impl Places {
    /// The usual places below a home.
    pub fn at(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            claude: home.join(".claude"),
            claude_json: home.join(".claude.json"),
            codex: home.join(".codex"),
            config: home.join(".config"),
        }
    }

    /// The skill in the folder that most agents read.
    pub(super) fn shared_skill(&self) -> PathBuf {
        self.home.join(".agents/skills/nacre/SKILL.md")
    }
}
