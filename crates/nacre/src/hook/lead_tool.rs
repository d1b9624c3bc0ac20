//! The guard of a lead that Nacre runs inside Claude Code, by `nacre hook claude lead-tool ROOT`.
//!
//! Unlike other hooks it refuses whatever it cannot judge, also its own mistakes: nobody else watches this agent.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use nacre_ops::hook as ops;
use serde_json::Value;

use super::reply::{Output, nested_denial};

/// More than this is not looked at.
const MAX_BYTES: u64 = 8 << 20;

/// The name of the hook in Claude Code.
const EVENT: &str = "PreToolUse";

/// Reads what is asked on standard input, and answers.
pub(super) fn answer(root: &str) -> Output {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 <= MAX_BYTES => judge(Path::new(root), &bytes),
        Ok(_) | Err(_) => refuse("What is asked could not be read."),
    }
}

/// Says nothing to a call that may run.
pub(super) fn judge(root: &Path, bytes: &[u8]) -> Output {
    let Ok(asked) = serde_json::from_slice::<Value>(bytes) else {
        return refuse("What is asked is not a JSON object.");
    };
    let Some(tool) = asked.get("tool_name").and_then(Value::as_str) else {
        return refuse("No tool is named.");
    };
    let folder = asked.get("cwd").and_then(Value::as_str).map(PathBuf::from);
    let input = asked.get("tool_input").unwrap_or(&Value::Null);
    match ops::lead_tool(root, tool, input, folder.as_deref()) {
        Some(why) => refuse(&why),
        None => Output::default(),
    }
}

fn refuse(why: &str) -> Output {
    nested_denial(EVENT, why)
}
