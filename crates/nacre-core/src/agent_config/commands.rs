//! The command lines that agents are given.

use std::path::{Path, PathBuf};

use super::parts::HookEvent;

/// What follows the command of a hook whose failure its agent must not see. Claude Code shows the words of a program that is
/// missing when a session ends, and a code of 2, which a program that does not know hooks ends with, drops the prompt.
const SILENCED: &str = " 2>/dev/null || exit 0";

/// The event of a hook that only Nacre itself asks for.
pub const LEAD_TOOL: &str = "lead-tool";

/// The program that agents start, and what its hooks may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// An absolute path.
    pub path: PathBuf,
    /// Whether tools are looked at before they run.
    pub has_guard: bool,
}

impl Program {
    pub(super) fn text(&self) -> String {
        self.path.display().to_string()
    }

    /// The events that hooks are written for.
    pub(super) fn events(&self) -> impl Iterator<Item = HookEvent> {
        let has_guard = self.has_guard;
        HookEvent::ALL.into_iter().filter(move |event| has_guard || *event != HookEvent::BeforeTool)
    }

    /// The command of a hook, for a shell.
    pub fn hook(&self, agent: &str, event: HookEvent) -> String {
        format!("{} hook {agent} {}", quoted(&self.text()), event.as_str())
    }

    /// The same, with no words and no code of a failure. Before a tool both can be a refusal, and stay.
    pub(super) fn silent_hook(&self, agent: &str, event: HookEvent) -> String {
        let silenced = if event == HookEvent::BeforeTool { "" } else { SILENCED };
        format!("{}{silenced}", self.hook(agent, event))
    }
}

/// The command that is asked before each tool of a lead that Nacre runs inside Claude Code, for a shell. One that cannot be
/// started, or fails, refuses: the agent takes any other failure for a yes.
pub fn lead_guard_command(program: &Path, root: &Path) -> String {
    let quoted = |path: &Path| quoted(&path.display().to_string());
    format!("{} hook claude {LEAD_TOOL} {} || exit 2", quoted(program), quoted(root))
}

/// Whether a command runs a hook of ours for `agent`, wherever the program was when it was written.
pub fn is_ours(command: &str, agent: &str) -> bool {
    let command = unsilenced(command);
    let tail = |event: HookEvent| format!(" hook {agent} {}", event.as_str());
    let program = HookEvent::ALL.into_iter().find_map(|event| command.strip_suffix(&tail(event)));
    let Some(program) = program else { return false };
    let program = program.trim_matches(['\'', '"']);
    Path::new(program).file_name().is_some_and(|name| name == "nacre")
}

/// A command of a hook whose failure can be seen.
pub(super) fn unsilenced(command: &str) -> &str {
    command.strip_suffix(SILENCED).unwrap_or(command)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
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
    fn the_guard_of_a_lead_refuses_where_it_cannot_be_started() {
        let (program, root) =
            (Path::new("/opt/my tools/nacre"), Path::new("/a/it's/.nacre/memory"));
        assert_eq!(
            lead_guard_command(program, root),
            r"'/opt/my tools/nacre' hook claude lead-tool '/a/it'\''s/.nacre/memory' || exit 2"
        );
        let failed = lead_guard_command(Path::new("/nowhere/nacre"), root);
        let status = std::process::Command::new("/bin/sh").args(["-c", &failed]).status();
        assert_eq!(status.unwrap().code(), Some(2));
    }

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
        let refusing = program("/usr/bin/nacre").silent_hook("droid", HookEvent::BeforeTool);
        assert_eq!(refusing, "/usr/bin/nacre hook droid before-tool");
        for other in ["nacre hook claude", "/bin/other hook claude start", "echo nacre", ""] {
            assert!(!is_ours(other, "claude"), "{other}");
        }
    }
}
