//! What a tool call does, whichever agent made it: runs a command, changes a file, asks the person.
//!
//! Agents name their tools and arguments differently, so this goes by the few names that all of them vary. Arguments
//! may be cut in the middle; a member that is not whole is as good as absent.

use std::borrow::Cow;

use memchr::memmem;
use nacre_core::transcript::Event;

/// The most of a command that is looked at.
const MAX_COMMAND: usize = 1024;

/// What a call does, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Command(String),
    /// Files that it changes.
    Edit(Vec<String>),
    /// A question to the person, as written.
    Ask,
    Other,
}

/// Parts of the names of tools that run commands.
const SHELLS: &[&str] = &["bash", "shell", "exec", "terminal", "run_command"];
/// Parts of the names of tools that change files.
const EDITORS: &[&str] = &["edit", "write", "patch", "str_replace", "create_file"];
/// Tools that change nothing on disk although their names say write.
const NO_EDITORS: &[&str] = &["todowrite", "write_stdin"];
const QUESTIONS: &[&str] = &["askuserquestion", "request_user_input", "question", "ask_user"];

/// What a call does.
pub(super) fn step_of(event: &Event) -> Step {
    let tool = event.call.as_ref().and_then(|call| call.tool.as_deref()).unwrap_or_default();
    let tool = tool.to_ascii_lowercase();
    let is_one_of = |names: &[&str]| names.iter().any(|name| tool.contains(name));
    let text = event.text.head();
    if QUESTIONS.contains(&tool.as_str()) {
        return Step::Ask;
    }
    if is_one_of(EDITORS) && !is_one_of(NO_EDITORS) {
        return Step::Edit(edited(text));
    }
    if !is_one_of(SHELLS) {
        return Step::Other;
    }
    match command(text) {
        // An agent that has only a shell patches files through it.
        Some(command) if command.contains("*** Begin Patch") => Step::Edit(patched(&command)),
        Some(command) => Step::Command(command),
        None => Step::Other,
    }
}

fn command(arguments: &str) -> Option<String> {
    let arguments = arguments.trim();
    if !arguments.starts_with('{') {
        return (!arguments.is_empty()).then(|| cut(arguments));
    }
    let found = member(arguments, "command").or_else(|| member(arguments, "cmd"))?;
    Some(cut(found.trim())).filter(|command| !command.is_empty())
}

/// The command among the arguments of a call, as it is written there: a piece of them, escapes and all.
pub(super) fn command_of(arguments: &str) -> Option<&str> {
    let value = ["\"command\"", "\"cmd\""].iter().find_map(|name| {
        let at = arguments.find(name)? + name.len();
        arguments[at..].trim_start().strip_prefix(':').map(str::trim_start)
    })?;
    let literal = match value.as_bytes().first()? {
        b'"' => &value[..string_end(value)?],
        // Of `["bash", "-lc", "make"]` the last.
        b'[' => {
            let list = &value[..value.find(']')?];
            let start =
                list.rfind(", \"").map(|at| at + 2).or_else(|| list.rfind(",\"").map(|at| at + 1));
            let last = &value[start.unwrap_or(1)..];
            &last[..string_end(last.trim_start())?]
        }
        _ => return None,
    };
    let inside = literal.trim().strip_prefix('"')?.strip_suffix('"')?;
    (!inside.trim().is_empty()).then_some(inside)
}

fn cut(command: &str) -> String {
    command[..command.floor_char_boundary(MAX_COMMAND)].to_owned()
}

fn edited(arguments: &str) -> Vec<String> {
    if arguments.contains("*** Begin Patch") {
        return patched(&arguments.replace("\\n", "\n"));
    }
    let names = ["file_path", "filePath", "target_file", "notebook_path", "path"];
    names.iter().find_map(|name| member(arguments, name)).into_iter().map(Cow::into_owned).collect()
}

fn patched(patch: &str) -> Vec<String> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let named = |line: &str| {
        marks.iter().find_map(|mark| line.trim().strip_prefix(mark)).map(str::to_owned)
    };
    patch.lines().filter_map(named).collect()
}

/// The string that a JSON object holds under `name`; of a list of strings the last one.
pub(super) fn member<'t>(json: &'t str, name: &str) -> Option<Cow<'t, str>> {
    let quoted = format!("\"{name}\"");
    let mut from = 0;
    while let Some(found) = memmem::find(&json.as_bytes()[from..], quoted.as_bytes()) {
        from += found + quoted.len();
        let Some(value) = json[from..].trim_start().strip_prefix(':') else { continue };
        let value = value.trim_start();
        return match value.as_bytes().first()? {
            b'"' => string(value),
            b'[' => last_string(value),
            _ => None,
        };
    }
    None
}

fn last_string(list: &str) -> Option<Cow<'_, str>> {
    let mut rest = &list[1..];
    let mut last = None;
    loop {
        rest = rest.trim_start_matches([' ', ',', '\n']);
        if !rest.starts_with('"') {
            return last;
        }
        let end = string_end(rest)?;
        last = string(rest);
        rest = &rest[end..];
    }
}

/// The string that `json` starts with.
pub(super) fn string(json: &str) -> Option<Cow<'_, str>> {
    let literal = &json[..string_end(json)?];
    if literal.contains('\\') {
        serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(&literal[1..literal.len() - 1]))
    }
}

/// Where the string that `json` starts with ends.
fn string_end(json: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use nacre_core::transcript::{BoundedText, CallLink, EventKind, Lane, Origin, Place};

    use super::*;

    fn call(tool: &str, text: &str) -> Event {
        Event {
            sequence: 0,
            kind: EventKind::ToolCall,
            timestamp: None,
            place: Place::Line { line: 1, offset: 0 },
            key: None,
            call: Some(CallLink { id: "k".to_owned(), tool: Some(tool.to_owned()) }),
            text: BoundedText::new(text, EventKind::ToolCall.bounds()),
            origin: Origin::Agent,
            lane: Lane::Main,
            is_error: false,
        }
    }

    #[test]
    fn a_step_is_told_by_the_names_that_agents_use() {
        let command = |text: &str| Step::Command(text.to_owned());
        let edit = |path: &str| Step::Edit(vec![path.to_owned()]);
        let cases = [
            (
                "Bash",
                r#"{"command":"npm \"x\" test","description":"t"}"#,
                command("npm \"x\" test"),
            ),
            ("shell", r#"{"command":["bash","-lc","cargo test"]}"#, command("cargo test")),
            ("exec_command", r#"{"cmd":"ls"}"#, command("ls")),
            ("shell", "cargo test", command("cargo test")),
            ("Edit", r#"{"file_path":"/a/b.rs","old_string":"x"}"#, edit("/a/b.rs")),
            ("apply_patch", "*** Begin Patch\n*** Update File: src/a.rs\n@@", edit("src/a.rs")),
            (
                "shell",
                r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: b.txt\n+x"]}"#,
                edit("b.txt"),
            ),
            ("TodoWrite", r#"{"todos":[]}"#, Step::Other),
            ("AskUserQuestion", "{}", Step::Ask),
            ("Read", r#"{"file_path":"a"}"#, Step::Other),
            ("Bash", r#"{"command":"never ends"#, Step::Other),
        ];
        for (arguments, found) in [
            (r#"{"cmd":"echo \"a\"","workdir":"/x"}"#, Some(r#"echo \"a\""#)),
            (r#"{"command": ["bash", "-lc", "cargo test"]}"#, Some("cargo test")),
            (r#"{"command":["ls"]}"#, Some("ls")),
            (r#"{"path":"a"}"#, None),
            ("cargo test", None),
        ] {
            assert_eq!(command_of(arguments), found, "{arguments}");
        }
        for (tool, text, step) in cases {
            assert_eq!(step_of(&call(tool, text)), step, "{tool} {text}");
        }
    }
}
