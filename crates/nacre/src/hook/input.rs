//! Parses a hook's standard input. Missing keys and values of the wrong type are ignored.

use std::io::Read as _;
use std::path::PathBuf;

use nacre_ops::{OpError, Result};
use nacre_traces::agents::InputKeys;
use nacre_types::HookSource;
use serde_json::Value;

use super::failure;
use super::tool_call::ToolCall;

/// Longer input is rejected.
const MAX_BYTES: u64 = 8 << 20;

/// Longer session names are truncated.
const MAX_NAME: usize = 512;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) session: Option<String>,
    /// The session's directory, if it exists.
    pub(super) folder: Option<PathBuf>,
    pub(super) source: HookSource,
    pub(super) prompt: String,
    pub(super) call: Option<ToolCall>,
    /// The output of the tool call, if it failed.
    pub(super) failure: Option<String>,
    pub(super) trace: Option<String>,
}

/// Reads all of standard input, and also returns its length in bytes.
pub(super) fn read_standard_input(keys: &InputKeys) -> Result<(Input, usize)> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(OpError::usage("The hook's standard input is too long"));
    }
    Ok((read(&bytes, keys)?, bytes.len()))
}

pub(super) fn read(bytes: &[u8], keys: &InputKeys) -> Result<Input> {
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&text)
        .map_err(|_| OpError::usage("The hook's standard input is not a JSON object"))?;
    if !value.is_object() {
        return Err(OpError::usage("The hook's standard input is not a JSON object"));
    }
    let text = |names: &[&str]| first(&value, names).and_then(Value::as_str).map(str::to_owned);
    let folder = first(&value, keys.folder).and_then(path_of).filter(|path| path.is_dir());
    // A subagent has its own context, so it counts as a separate session.
    let session = [text(keys.session), text(&["agent_id"])].into_iter().flatten();
    let session = session.collect::<Vec<_>>().join("/");
    Ok(Input {
        session: (!session.is_empty())
            .then(|| session[..session.floor_char_boundary(MAX_NAME)].to_owned()),
        folder,
        source: source(value["source"].as_str().unwrap_or_default()),
        prompt: text(keys.prompt).unwrap_or_default(),
        call: ToolCall::read(&value, first(&value, keys.tool), first(&value, keys.arguments)),
        failure: failure::read(&value),
        trace: text(keys.trace),
    })
}

fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name)).filter(|value| !value.is_null())
}

/// Returns an absolute path from a string or the first item of a list.
fn path_of(value: &Value) -> Option<PathBuf> {
    let text = value.as_str().or_else(|| value.get(0)?.as_str())?;
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

fn source(name: &str) -> HookSource {
    match name {
        "resume" | "fork" => HookSource::Resume,
        "clear" | "compact" => HookSource::Forgotten,
        _ => HookSource::Startup,
    }
}
