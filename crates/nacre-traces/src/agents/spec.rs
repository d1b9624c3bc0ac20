//! Describes an agent as data: where its files are, how its transcripts are recognized, what Nacre
//! writes to its settings, and which format its hooks use.

use std::path::PathBuf;

use crate::agent_config::{ConnectedPart, FileEdit, HookEvent, HookSpec, Places, Program};
use crate::transcript::Adapter;

type PartEdit = fn(&Places, &Program) -> FileEdit;

/// A coding agent. Features that the agent does not support are `None`.
pub struct AgentSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub adapter: Option<&'static dyn Adapter>,
    /// Example paths for the agent's traces, most common first. The fuzzer writes to them.
    pub trace_names: &'static [&'static str],
    /// Marks that identify this agent's files. If several agents' marks match, the lowest number
    /// wins.
    pub(crate) marks: &'static [(u8, Mark)],
    pub(crate) copies: Copies,
    pub(crate) variables: &'static [&'static str],
    pub shell_variables: &'static [&'static str],
    pub(crate) signs: fn(&Places) -> Vec<PathBuf>,
    pub(crate) mcp: Option<PartEdit>,
    pub(crate) hooks: Option<PartEdit>,
    pub(crate) skill: Option<PartEdit>,
    pub(crate) contract: Option<HookContract>,
}

impl AgentSpec {
    pub(crate) const fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            adapter: None,
            trace_names: &["s.jsonl"],
            marks: &[],
            copies: Copies::OfSameName,
            variables: &[],
            shell_variables: &[],
            signs: |_| Vec::new(),
            mcp: None,
            hooks: None,
            skill: None,
            contract: None,
        }
    }

    pub fn signs(&self, places: &Places) -> Vec<PathBuf> {
        (self.signs)(places)
    }

    /// Returns the edit that connects a part, or `None` if the agent does not support the part.
    pub fn edit(
        &self,
        part: ConnectedPart,
        places: &Places,
        program: &Program,
    ) -> Option<FileEdit> {
        let edit = match part {
            ConnectedPart::Mcp => self.mcp,
            ConnectedPart::Hooks => self.hooks,
            ConnectedPart::Skill => self.skill,
            // Only Codex can provide these hashes.
            ConnectedPart::Trust => None,
        };
        edit.map(|edit| edit(places, program))
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Mark {
    /// A SQLite database whose name has this suffix.
    Database(&'static str),
    NameStart(&'static str),
    NameEnd(&'static str),
    /// One of the first lines starts with this string.
    LineStart(&'static str),
    /// One of the first lines contains all of these strings.
    Line(&'static [&'static str]),
}

/// Where an agent may store copies of the same session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    /// Copies are impossible, because the writer chooses the IDs or generates one per file.
    Never,
    /// Files with the same name are copies. A session that is continued in another file under its
    /// old ID is not a copy.
    OfSameName,
    /// Files with the same name apart from the extension are copies, because an older version's
    /// document may have been converted to a log.
    OfSameStem,
    /// All sources with the same session ID are copies. Extensions are listed in order of
    /// preference.
    Anywhere(&'static [&'static str]),
}

/// The JSON that an agent's hooks read from standard input, and the output that they may print.
pub struct HookContract {
    pub keys: InputKeys,
    /// The agent's names for the events, in the order of [`HookEvent::ALL`].
    pub events: &'static str,
    /// Events whose hooks can add context for the model.
    pub hears: &'static [HookEvent],
    /// Whether resuming a session loses the context that hooks added.
    pub forgets_on_resume: bool,
    /// Template for context that a hook adds. `$EVENT` is replaced by the event's name,
    /// `$JSON` by the text as a JSON string, and `$TEXT` by the plain text.
    pub context: &'static str,
    /// Template for denying a tool call, with the same placeholders as `context`.
    pub denial: &'static str,
    /// Exit code for a denial. If the code is not 0, the denial is written to standard error.
    pub denial_code: u8,
}

/// Patterns that match the tools for editing files and for running shell commands, across all
/// agents.
const EDIT_TOOLS: &str = "Edit|MultiEdit|NotebookEdit|Write|apply_patch";
const SHELL_TOOLS: &str = "Bash|run_shell_command";

impl HookContract {
    /// Claude Code's format, which most agents have adopted.
    pub(crate) const CLAUDE: Self = Self {
        keys: InputKeys::CLAUDE,
        events: "SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart Stop SessionEnd",
        hears: &[HookEvent::Start, HookEvent::Prompt],
        forgets_on_resume: false,
        context: r#"{"hookSpecificOutput":{"hookEventName":"$EVENT","additionalContext":$JSON}}"#,
        denial: r#"{"hookSpecificOutput":{"hookEventName":"$EVENT","permissionDecision":"deny","permissionDecisionReason":$JSON}}"#,
        denial_code: 0,
    };

    /// The format that Nacre's own plugins for OpenCode and pi read.
    pub(crate) const PLUGIN: Self = Self {
        hears: Self::ALL_BUT_FILES,
        context: r#"{"context":$JSON}"#,
        denial: Self::DECISION,
        ..Self::CLAUDE
    };

    pub(crate) const ALL_BUT_ENDS: &[HookEvent] =
        HookEvent::ALL.split_at(HookEvent::TurnEnd as usize).0;

    pub(crate) const ALL_BUT_FILES: &[HookEvent] =
        &[HookEvent::Start, HookEvent::Prompt, HookEvent::AfterTool];

    pub fn name(&self, event: HookEvent) -> &'static str {
        self.events.split(' ').nth(event as usize).unwrap_or_default()
    }

    /// A denial as a top-level object.
    pub(crate) const DECISION: &str = r#"{"decision":"deny","reason":$JSON}"#;

    /// Returns the hooks to connect. Tool events are connected only if the agent uses the hook's
    /// response, and only for the tools that matter, because hooks delay every call. The guard
    /// needs to see all calls.
    pub(crate) fn hooks(&self, has_guard: bool) -> impl Iterator<Item = HookSpec> {
        HookEvent::ALL.into_iter().filter_map(move |event| {
            let tools = match event {
                HookEvent::BeforeTool if has_guard => None,
                HookEvent::BeforeTool => Some(EDIT_TOOLS),
                HookEvent::AfterTool => Some(SHELL_TOOLS),
                HookEvent::Start
                | HookEvent::Prompt
                | HookEvent::Subagent
                | HookEvent::TurnEnd
                | HookEvent::SessionEnd => None,
            };
            let is_optional = tools.is_some() || event == HookEvent::Subagent;
            let is_wanted = !is_optional || self.hears.contains(&event);
            is_wanted.then(|| HookSpec { event, name: self.name(event), tools })
        })
    }
}

/// Names of the input members that an agent's hooks read. The first name that is present is used.
pub struct InputKeys {
    pub session: &'static [&'static str],
    pub folder: &'static [&'static str],
    pub prompt: &'static [&'static str],
    pub tool: &'static [&'static str],
    pub arguments: &'static [&'static str],
    pub trace: &'static [&'static str],
}

impl InputKeys {
    pub(crate) const CLAUDE: Self = Self {
        session: &["session_id"],
        folder: &["cwd"],
        prompt: &["prompt"],
        tool: &["tool_name"],
        arguments: &["tool_input"],
        trace: &["transcript_path"],
    };
}
