//! Infers which files a tool call will read or change, based on the names of the tool and its
//! arguments.
//!
//! Each agent has its own tools and arguments, and MCP servers add more. Names are therefore
//! matched by common patterns instead of exact lists.

use nacre_types::{HookSession, HookToolRequest, ToolAccess};
use serde_json::Value;

/// Maximum number of paths to collect. A call with more paths is marked as incomplete.
const MAX_PATHS: usize = 256;

/// Maximum nesting depth to search. A call with deeper values is marked as incomplete.
const MAX_DEPTH: usize = 6;

/// Names of arguments that contain paths, in lower case and without `_` and `-`.
const PATHS: &str = "\
    absolutepath destination destinationpath dirpath directory file filename filepath filepaths \
    files folder from fromfile newpath notebookpath oldpath path paths source sourcepath target \
    targetfile to tofile uri";

/// Names of arguments that contain a patch.
const PATCHES: &[&str] = &["diff", "input", "patch", "patchtext"];

/// Names of arguments that contain a shell command.
const COMMANDS: &[&str] = &["cmd", "command", "script"];

/// Words in tool names that indicate that the tool changes files.
const WRITING: &str = "\
    append apply copy create delete edit insert mkdir move patch remove rename replace save \
    touch update write";

/// Prefixes of the patch lines that contain a path.
const PATCH_LINES: &[&str] = &[
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "+++ b/",
    "+++ ",
    "--- a/",
    "--- ",
    "rename to ",
    "rename from ",
];

/// The files and commands that a tool call uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolCall {
    tool: String,
    access: ToolAccess,
    paths: Vec<String>,
    pub(super) command: Option<String>,
    has_more: bool,
}

impl ToolCall {
    /// Returns the tool call in a hook's input, if any. If the input has no separate arguments, all
    /// of its fields count as arguments.
    pub(super) fn read(
        input: &Value,
        tool: Option<&Value>,
        arguments: Option<&Value>,
    ) -> Option<Self> {
        let tool = tool?.as_str()?.to_owned();
        let parsed =
            arguments.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
        let arguments = parsed.as_ref().or(arguments).unwrap_or(input);
        let access = if writes(&tool) { ToolAccess::Write } else { ToolAccess::Read };
        let mut call = Self { tool, access, ..Self::default() };
        call.collect(arguments, MAX_DEPTH);
        Some(call)
    }

    pub(super) fn request(self, session: HookSession) -> HookToolRequest {
        let Self { tool, access, paths, command, has_more } = self;
        HookToolRequest { session, tool, access, paths, command, has_more, hears: false }
    }

    fn collect(&mut self, arguments: &Value, depth: usize) {
        match arguments {
            _ if depth == 0 => self.has_more = true,
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.argument(&plain(name), value, depth);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, depth - 1)),
            // If the arguments are a single string, that string is a patch.
            Value::String(text) => self.patch(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn argument(&mut self, name: &str, value: &Value, depth: usize) {
        match value {
            Value::String(text) if is_path_name(name) => self.path(text),
            Value::String(text) if COMMANDS.contains(&name) => self.shell(text),
            Value::String(text) if PATCHES.contains(&name) => self.patch(text),
            Value::Array(items) if is_path_name(name) => {
                for item in items {
                    match item {
                        Value::String(text) => self.path(text),
                        Value::Object(_) | Value::Array(_) => self.collect(item, depth - 1),
                        Value::Null | Value::Bool(_) | Value::Number(_) => {}
                    }
                }
            }
            // Some agents pass the command as a list, such as `["bash", "-lc", "make"]`.
            Value::Array(items) if COMMANDS.contains(&name) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                self.shell(words.last().copied().unwrap_or_default());
                self.shell(&words.join(" "));
            }
            Value::Object(_) | Value::Array(_) => self.collect(value, depth - 1),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn path(&mut self, text: &str) {
        if self.paths.len() == MAX_PATHS {
            self.has_more = true;
        } else {
            self.paths.push(text.strip_prefix("file://").unwrap_or(text).to_owned());
        }
    }

    /// Adds a shell command. Some tools pass a patch instead of a command.
    fn shell(&mut self, text: &str) {
        if text.contains("*** Begin Patch") {
            return self.patch(text);
        }
        let command = self.command.take().map_or_else(String::new, |before| before + "\n");
        self.command = Some(command + text);
    }

    fn patch(&mut self, text: &str) {
        for line in text.lines() {
            let named = PATCH_LINES.iter().find_map(|start| line.strip_prefix(start));
            if let Some(path) = named.filter(|path| *path != "/dev/null") {
                self.access = ToolAccess::Write;
                self.path(path.trim());
            }
        }
    }
}

fn is_path_name(name: &str) -> bool {
    PATHS.split_whitespace().any(|path| path == name)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}

/// Returns whether the tool's name suggests that it changes files.
fn writes(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    // Tools that update a task list, a plan or memories do not change files.
    let is_list = tool.contains("todo") || tool.contains("plan") || tool.contains("memory");
    !is_list && WRITING.split_whitespace().any(|word| tool.contains(word))
}
