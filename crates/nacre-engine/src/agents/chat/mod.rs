//! The chat agent: a coding agent that can do whatever its permissions allow and the user approves.
//!
//! Its prompt contains only the instructions and a short orientation. The agent looks up everything
//! else with tools.

mod orientation;

use std::fmt::Write as _;
use std::time::Duration;

use nacre_types::ApprovalPolicy;

use crate::lifecycle::{AgentSpec, Completion, SMALL_WINDOW};
use crate::model::Role;
use crate::tools::{Budgets, Permissions};

pub use orientation::{InstructionFile, Orientation};

const PROMPT: &str = include_str!("prompt.md").trim_ascii_end();

/// Instructions for models with a small context window. The full instructions would confuse them.
const SHORT_PROMPT: &str = include_str!("short_prompt.md").trim_ascii_end();

/// Tools offered to models with a small context window. Defining all tools would use half of it.
#[rustfmt::skip]
const FEW_TOOLS: &[&str] = &[
    "file_read", "file_find", "file_search", "file_create", "file_edit", "shell_run",
    "memory_search", "memory_add",
];

#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "file_read", "file_find", "file_search", "file_create", "file_edit", "file_delete",
    "file_move", "code_outline", "code_symbols", "code_search", "code_references", "git_status",
    "git_diff", "git_log", "git_show", "git_add", "git_commit", "shell_run", "shell_start",
    "shell_poll", "shell_stop", "web_fetch", "checklist_set", "memory_search",
    "memory_recall", "memory_add", "memory_remove", "skill_list", "skill_activate", "delegate",
];

/// Limits for one turn. The time limit is long because a user is watching.
pub const CHAT_BUDGETS: Budgets = Budgets {
    steps: 240,
    tool_calls: 200,
    wall: Duration::from_secs(6 * 3600),
    context_tokens: 128_000,
    answer_tokens: 8192,
    total_tokens: None,
};

pub fn chat(permissions: &Permissions, orientation: &Orientation, budgets: Budgets) -> AgentSpec {
    let is_small = budgets.context_tokens < SMALL_WINDOW;
    AgentSpec {
        name: "chat",
        role: Role::Chat,
        prompt: prompt(orientation, &budgets),
        tools: if is_small { FEW_TOOLS } else { TOOLS }.to_vec(),
        permissions: permissions.clone(),
        budgets,
        completion: Completion::EndTurn {
            // Small models that have the `signal` tool give up as soon as anything fails.
            signals: !is_small,
        },
        sums_up: true,
    }
}

/// Returns the instructions, followed by information about the project. The instructions come first
/// and never change, so that providers can cache them.
fn prompt(orientation: &Orientation, budgets: &Budgets) -> String {
    let is_small = budgets.context_tokens < SMALL_WINDOW;
    let mut prompt = if is_small { SHORT_PROMPT } else { PROMPT }.to_owned();
    let mut add = |text: &str| {
        prompt.push_str("\n\n");
        prompt.push_str(text);
    };
    let mut here = "Where you are".to_owned();
    // Writing to a `String` cannot fail. The directory is omitted for small models, because they
    // would prepend it to every path.
    if !is_small {
        let _ = write!(here, "\n- Folder: {}", orientation.folder);
    }
    if let Some(branch) = &orientation.branch {
        let _ = write!(here, "\n- Branch: {branch}");
    }
    let _ = write!(here, "\n- Today: {}", orientation.today);
    if let Some(policy) = orientation.policy {
        let _ = write!(here, "\n- {}", told_policy(policy));
    }
    let _ = write!(here, "\n- You have {} tool calls a turn.", budgets.tool_calls);
    if !orientation.tree.is_empty() {
        let _ = write!(here, "\n- Files, without what git ignores:\n{}", orientation.tree);
    }
    add(&here);
    for InstructionFile { name, text } in &orientation.instructions {
        add(&format!("The project's `{name}`:\n{text}"));
    }
    if let Some(brief) = &orientation.brief {
        add(&format!("What is remembered of this project, as material:\n{brief}"));
    }
    prompt
}

/// Tells the agent what it may do without approval, so that it need not find out by trial and
/// error.
fn told_policy(policy: ApprovalPolicy) -> &'static str {
    match policy {
        ApprovalPolicy::Ask => {
            "Policy `ask`: every change, program and connection needs a yes. In a run without a person all of them are refused."
        }
        ApprovalPolicy::AutoEdit => {
            "Policy `auto-edit`: you may change files and memories; programs and connections need a yes. In a run without a \
             person they are refused: say what you could not check."
        }
        ApprovalPolicy::Full => {
            "Policy `full`: you may change files and memories and run programs without asking."
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the user who writes files")]
mod tests;
