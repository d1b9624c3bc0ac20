//! The explorer: a read-only agent that answers questions about the workspace with citations.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::agents::citations::{Report, check_report};
use crate::lifecycle::{AgentSpec, Completion, Validator, Weight};
use crate::model::{OutputSchema, Role};
use crate::record::RunEffects;
use crate::schemas;
use crate::tools::{Budgets, Permissions, Workspace};

const PROMPT: &str = include_str!("explorer.md").trim_ascii_end();

#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "file_read", "file_find", "file_search", "code_outline", "code_symbols", "code_search",
    "git_status", "git_diff", "git_log", "git_show", "skill_list", "skill_activate",
];

const BUDGETS: Budgets = Budgets {
    steps: 16,
    tool_calls: 30,
    wall: Duration::from_secs(600),
    context_tokens: 48_000,
    answer_tokens: 4096,
    total_tokens: Some(600_000),
};

/// Creates an explorer for the workspace, keeping only the read permissions from `permissions`.
pub fn explorer(workspace: &Arc<Workspace>, permissions: &Permissions) -> AgentSpec {
    let permissions = Permissions {
        reads: permissions.reads.clone(),
        denied: permissions.denied.clone(),
        ..Permissions { reads: Vec::new(), ..Permissions::read_only() }
    };
    let output = OutputSchema {
        name: "report".to_owned(),
        description: "The answer, and the places that prove it.".to_owned(),
        schema: schemas::of::<Report>(),
    };
    AgentSpec {
        name: "explorer",
        role: Role::Explorer,
        prompt: PROMPT.to_owned(),
        tools: TOOLS.to_vec(),
        completion: Completion::Structured {
            output,
            validators: vec![says_something(), cites(workspace, &permissions)],
        },
        permissions,
        budgets: BUDGETS,
        sums_up: false,
    }
}

fn says_something() -> Validator {
    Validator::new("says something", Weight::Must, |answer: &Value, _: &RunEffects| {
        let text = answer["answer"].as_str().unwrap_or_default();
        if text.trim().is_empty() { vec!["`answer` is empty".to_owned()] } else { Vec::new() }
    })
}

/// Unproven sentences are marked in the answer but do not fail the run.
fn cites(workspace: &Arc<Workspace>, permissions: &Permissions) -> Validator {
    let (workspace, permissions) = (Arc::clone(workspace), permissions.clone());
    let complaints = move |answer: &Value, effects: &RunEffects| {
        let checked = check_report(answer, &workspace, &permissions, &effects.shown);
        checked.map(|checked| checked.complaints()).unwrap_or_default()
    };
    Validator::new("citations exist", Weight::Should, complaints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Area, Exec, MemoryUse};

    #[test]
    fn an_explorer_can_change_nothing_whoever_asks_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = Arc::new(Workspace::open(&root, &[]).unwrap());
        let generous = Permissions {
            reads: vec![Area::Tree(None)],
            writes: vec![Area::Tree(None)],
            denied: vec!["*.key".to_owned()],
            exec: Exec::Anything,
            network: true,
            memory: MemoryUse::Changes,
        };
        let spec = explorer(&workspace, &generous);
        assert!(spec.permissions.is_read_only());
        assert!(!spec.permissions.network);
        assert_eq!(spec.permissions.denied, ["*.key"]);
        assert!(!spec.tools.contains(&"delegate"));
    }
}
