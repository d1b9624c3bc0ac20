//! Which parts of an agent can be connected, where its settings are, and which command lines its
//! hooks run.

use std::path::{Path, PathBuf};

pub use nacre_types::{ConnectedPart, HookEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    pub home: PathBuf,
    /// `~/.claude`, or the value of `CLAUDE_CONFIG_DIR`.
    pub claude: PathBuf,
    /// Where Claude Code stores MCP servers: `~/.claude.json`, or a file in `CLAUDE_CONFIG_DIR`.
    pub claude_json: PathBuf,
    /// `~/.codex`, or the value of `CODEX_HOME`.
    pub codex: PathBuf,
    /// `~/.config`, or the value of `XDG_CONFIG_HOME`.
    pub config: PathBuf,
}

impl Places {
    pub fn at(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            claude: home.join(".claude"),
            claude_json: home.join(".claude.json"),
            codex: home.join(".codex"),
            config: home.join(".config"),
        }
    }
}

/// Hides the hook command's failures from the agent. If the program were missing, Claude Code would
/// show the shell's error at the end of the session. Old versions without the `hook` command exit
/// with code 2, which makes Claude Code drop the prompt.
const SILENCED: &str = " 2>/dev/null || exit 0";

/// A hook to connect.
pub(crate) struct HookSpec {
    pub(crate) event: HookEvent,
    /// The agent's name for the event.
    pub(crate) name: &'static str,
    /// Pattern for tools whose calls trigger the hook. Without it, all do.
    pub(crate) tools: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub has_guard: bool,
}

impl Program {
    pub(crate) fn text(&self) -> String {
        self.path.display().to_string()
    }

    pub fn hook(&self, agent: &str, event: HookEvent) -> String {
        format!("{} hook {agent} {}", quote_word(&self.text()), event.as_str())
    }

    /// Like `hook`, but hides a failure's output and exit code. The guard's hook keeps both,
    /// because they may signal a refusal.
    pub(crate) fn silent_hook(&self, agent: &str, event: HookEvent) -> String {
        let is_guard = self.has_guard && event == HookEvent::BeforeTool;
        let silenced = if is_guard { "" } else { SILENCED };
        format!("{}{silenced}", self.hook(agent, event))
    }
}

/// Returns whether the command runs a Nacre hook for `agent`, wherever the program is installed.
pub fn is_ours(command: &str, agent: &str) -> bool {
    let command = strip_silencer(command);
    let tail = |event: HookEvent| format!(" hook {agent} {}", event.as_str());
    let program = HookEvent::ALL.into_iter().find_map(|event| command.strip_suffix(&tail(event)));
    let Some(program) = program else { return false };
    let program = program.trim_matches(['\'', '"']);
    Path::new(program).file_name().is_some_and(|name| name == "nacre" || name == "nacre.exe")
}

pub(crate) fn strip_silencer(command: &str) -> &str {
    command.strip_suffix(SILENCED).unwrap_or(command)
}

fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_its_words() {
        let program = |path: &str| Program { path: path.into(), has_guard: false };
        let hook = program("/opt/my tools/nacre").hook("claude", HookEvent::Start);
        assert_eq!(hook, "'/opt/my tools/nacre' hook claude start");
        assert!(is_ours(&hook, "claude"));
        assert!(!is_ours(&hook, "codex"));
        assert!(is_ours("/usr/bin/nacre hook codex turn-end", "codex"));
        let silent = program("/usr/bin/nacre").silent_hook("codex", HookEvent::Prompt);
        assert_eq!(silent, "/usr/bin/nacre hook codex prompt 2>/dev/null || exit 0");
        assert!(is_ours(&silent, "codex"));
        let guard = Program { path: "/usr/bin/nacre".into(), has_guard: true };
        let refusing = guard.silent_hook("droid", HookEvent::BeforeTool);
        assert_eq!(refusing, "/usr/bin/nacre hook droid before-tool");
        for other in ["nacre hook claude", "/bin/other hook claude start", "echo nacre", ""] {
            assert!(!is_ours(other, "claude"), "{other}");
        }
    }
}
