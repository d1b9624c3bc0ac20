//! What a lead inside Claude Code may do: look at memories. It is asked by a hook before every call of a tool, and says no to
//! whatever it does not know.

use std::path::Path;

use serde_json::Value;

use crate::agents::lead::LEAD_DENIED;
use crate::tools::{ReadGuard, ReadGuardError};

/// How a refusal begins, by which the host knows it again.
pub(super) const REFUSED: &str = "Nacre's guard refused this call";

/// The tools that a lead looks with.
pub(super) const READ_TOOLS: [&str; 3] = ["Read", "Grep", "Glob"];

/// What the agent hands in its answer with.
pub(super) const ANSWER_TOOL: &str = "StructuredOutput";

/// A call of one of Claude Code's tools.
#[derive(Clone, Copy, Debug)]
pub struct LeadToolCall<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    /// The folder that relative paths start from, where the agent tells.
    pub folder: Option<&'a Path>,
}

/// The boundary of one lead.
#[derive(Debug)]
pub struct LeadBoundary(ReadGuard);

impl LeadBoundary {
    /// The lead may read memories below `root`.
    pub fn new(root: &Path) -> Result<Self, ReadGuardError> {
        let denied: Vec<String> = LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self(ReadGuard::new(root, &denied)?))
    }

    /// Why a call may not run.
    pub fn refuse(&self, call: LeadToolCall<'_>) -> Option<String> {
        self.check(call)
            .err()
            .map(|why| format!("{REFUSED}. {why}. You may read memories, and nothing else."))
    }

    fn check(&self, LeadToolCall { tool, input, folder }: LeadToolCall<'_>) -> Result<(), String> {
        if tool == ANSWER_TOOL {
            return Ok(());
        }
        if folder.is_some_and(|folder| folder.canonicalize().ok().as_deref() != Some(self.0.root()))
        {
            return Err("It was called from another folder".to_owned());
        }
        let fields = input.as_object().ok_or("It has no arguments")?;
        let needed = match tool {
            "Read" => "file_path",
            "Grep" | "Glob" => "pattern",
            _ => return Err("The tool does more than read".to_owned()),
        };
        if !fields.get(needed).is_some_and(Value::is_string) {
            return Err(format!("`{needed}` is missing"));
        }
        fields.iter().try_for_each(|(name, value)| self.check_argument(tool, name, value))
    }

    fn check_argument(&self, tool: &str, name: &str, value: &Value) -> Result<(), String> {
        let refusal = match (tool, name, value) {
            // A regular expression may look like anything.
            ("Grep", "pattern", Value::String(_)) => None,
            ("Glob", "pattern", Value::String(text)) | ("Grep", "glob", Value::String(text)) => {
                self.0.refuse_pattern(text)
            }
            (_, "file_path" | "path", Value::String(text)) => self.0.refuse_path(text),
            // An argument that came with a later version: a word is a mode, and all else may be a path.
            (_, _, Value::String(text)) if is_word(text) => None,
            (_, _, Value::String(text)) => self.0.refuse_path(text),
            (_, _, Value::Null | Value::Bool(_) | Value::Number(_)) => None,
            (_, _, Value::Array(_) | Value::Object(_)) => {
                return Err(format!("`{}` cannot be judged", name.escape_debug()));
            }
        };
        refusal.map_or(Ok(()), |refusal| Err(refusal.why))
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_-,".contains(c))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play the person who writes files")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn three_tools_read_memories_and_nothing_else_runs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("memory");
        std::fs::create_dir_all(root.join("decisions")).unwrap();
        let boundary = LeadBoundary::new(&root).unwrap();
        let refused = |tool: &str, input: Value| {
            boundary.refuse(LeadToolCall { tool, input: &input, folder: Some(&root) })
        };
        let inside = root.join("decisions/a.md").display().to_string();
        for (tool, input) in [
            ("Read", json!({ "file_path": inside, "offset": 1, "limit": 20 })),
            ("Read", json!({ "file_path": "decisions/a.md" })),
            (
                "Grep",
                json!({ "pattern": "/etc/passwd|~", "path": root, "output_mode": "content", "-n": true }),
            ),
            ("Grep", json!({ "pattern": "pnpm", "glob": "**/*.md", "type": "md" })),
            ("Glob", json!({ "pattern": "decisions/*.md" })),
            ("StructuredOutput", json!({ "decisions": [{ "quote": "/etc/passwd" }] })),
        ] {
            assert_eq!(refused(tool, input.clone()), None, "{tool} {input}");
        }
        for (tool, input) in [
            ("Read", json!({ "file_path": "/etc/passwd" })),
            ("Read", json!({ "file_path": "~/.ssh/id_rsa" })),
            ("Read", json!({ "file_path": "summaries/s.md" })),
            ("Read", json!({ "path": inside })),
            ("Read", json!({ "file_path": [inside] })),
            ("Read", json!({ "file_path": inside, "other_file": "/etc/passwd" })),
            ("Read", json!({ "file_path": inside, "files": ["/etc/passwd"] })),
            ("Read", json!(inside)),
            ("Grep", json!({ "pattern": "x", "path": "/" })),
            ("Grep", json!({ "pattern": "x", "glob": "../**" })),
            ("Glob", json!({ "pattern": "/etc/host*" })),
            ("Glob", json!({ "pattern": "*", "path": "/etc" })),
            ("Write", json!({ "file_path": inside, "content": "x" })),
            ("Edit", json!({ "file_path": inside })),
            ("Bash", json!({ "command": "cat decisions/a.md" })),
            ("Task", json!({ "prompt": "x" })),
            ("mcp__x__read", json!({ "path": inside })),
            ("", json!({})),
        ] {
            let why = refused(tool, input.clone());
            assert!(
                why.as_ref().is_some_and(|why| why.starts_with(REFUSED)),
                "{tool} {input} {why:?}"
            );
        }
        let input = json!({ "file_path": "a.md" });
        let elsewhere = LeadToolCall { tool: "Read", input: &input, folder: Some(folder.path()) };
        assert!(boundary.refuse(elsewhere).is_some());
    }
}
