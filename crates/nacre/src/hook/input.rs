//! What an agent says on standard input, read in bounds and without complaint: a key that is missing or odd is not there.

use std::io::Read as _;
use std::path::PathBuf;

use nacre_api::wire::HookSource;
use nacre_ops::OpError;
use serde_json::Value;

use super::tool_call::ToolCall;

/// More than this is not looked at.
const MAX_BYTES: u64 = 8 << 20;

/// The longest name of a session that is kept apart.
const MAX_NAME: usize = 512;

/// How an agent names things; of several names the first that is there.
pub(super) struct Keys {
    pub(super) session: &'static [&'static str],
    pub(super) folder: &'static [&'static str],
    pub(super) source: &'static [&'static str],
    pub(super) prompt: &'static [&'static str],
    pub(super) tool: &'static [&'static str],
    pub(super) arguments: &'static [&'static str],
    pub(super) trace: &'static [&'static str],
    pub(super) is_asked: &'static [&'static str],
}

impl Keys {
    /// Claude's, which most agents took over.
    pub(super) const CLAUDE: Self = Self {
        session: &["session_id"],
        folder: &["cwd"],
        source: &["source"],
        prompt: &["prompt"],
        tool: &["tool_name"],
        arguments: &["tool_input"],
        trace: &["transcript_path"],
        is_asked: &["stop_hook_active"],
    };
}

/// What a hook is called with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) session: Option<String>,
    /// The session's folder, where it is one.
    pub(super) folder: Option<PathBuf>,
    pub(super) source: HookSource,
    pub(super) prompt: String,
    pub(super) call: Option<ToolCall>,
    /// The trace of the session.
    pub(super) trace: Option<String>,
    /// The agent goes on because a hook asked it to.
    pub(super) is_asked: bool,
}

/// Reads standard input to its end; tells how long it was.
pub(super) fn read_standard_input(keys: &Keys) -> Result<(Input, usize), OpError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(OpError::usage("Standard input is too long for a hook"));
    }
    Ok((read(&bytes, keys)?, bytes.len()))
}

/// Takes one JSON object apart.
pub(super) fn read(bytes: &[u8], keys: &Keys) -> Result<Input, OpError> {
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&text)
        .map_err(|_| OpError::usage("Standard input of the hook is not a JSON object"))?;
    if !value.is_object() {
        return Err(OpError::usage("Standard input of the hook is not a JSON object"));
    }
    let text = |names| first(&value, names).and_then(Value::as_str).map(str::to_owned);
    let folder = first(&value, keys.folder).and_then(path_of).filter(|path| path.is_dir());
    Ok(Input {
        session: text(keys.session).map(|name| short(&name)),
        folder,
        source: source(&text(keys.source).unwrap_or_default()),
        prompt: text(keys.prompt).unwrap_or_default(),
        call: ToolCall::read(&value, first(&value, keys.tool), first(&value, keys.arguments)),
        trace: text(keys.trace),
        is_asked: first(&value, keys.is_asked).and_then(Value::as_bool).unwrap_or(false),
    })
}

fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name)).filter(|value| !value.is_null())
}

/// A path, or the first of several.
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

fn short(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME)].to_owned()
}
