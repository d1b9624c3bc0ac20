//! Classifies tool calls from all agents: running a command, changing a file, or asking the user.
//! Tool and argument names differ between agents, so only parts of names are matched.

use std::borrow::Cow;

use memchr::memmem;
use nacre_traces::transcript::TranscriptEvent;

const MAX_COMMAND: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Command(String),
    Edit(Vec<String>),
    Ask,
    Other,
}

const SHELLS: &[&str] = &["bash", "shell", "exec", "terminal", "run_command"];
const EDITORS: &[&str] = &["edit", "write", "patch", "str_replace", "create_file"];
/// Tools that do not edit files, although their names suggest that they do.
const NO_EDITORS: &[&str] = &["todowrite", "write_stdin"];
const QUESTIONS: &[&str] = &["askuserquestion", "request_user_input", "question", "ask_user"];

pub(crate) fn step_of(event: &TranscriptEvent) -> Step {
    let tool = event.call.as_ref().and_then(|call| call.tool.as_deref()).unwrap_or_default();
    let tool = tool.to_ascii_lowercase();
    let is_one_of = |names: &[&str]| names.iter().any(|name| tool.contains(name));
    let text = event.text.head();
    if QUESTIONS.contains(&tool.as_str()) {
        return Step::Ask;
    }
    if is_one_of(EDITORS) && !is_one_of(NO_EDITORS) {
        return Step::Edit(find_edited_files(text));
    }
    if !is_one_of(SHELLS) {
        return Step::Other;
    }
    match command(text) {
        // Agents that only have a shell tool use it to apply patches.
        Some(command) if command.contains("*** Begin Patch") => {
            Step::Edit(find_patched_files(&command))
        }
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

/// Returns the command as a slice of the JSON text, in which escapes are not decoded.
pub(crate) fn command_of(arguments: &str) -> Option<&str> {
    let literal = literal(arguments, "command").or_else(|| literal(arguments, "cmd"))?;
    Some(&literal[1..literal.len() - 1]).filter(|inside| !inside.trim().is_empty())
}

fn cut(command: &str) -> String {
    command[..command.floor_char_boundary(MAX_COMMAND)].to_owned()
}

fn find_edited_files(arguments: &str) -> Vec<String> {
    if arguments.contains("*** Begin Patch") {
        return find_patched_files(&arguments.replace("\\n", "\n"));
    }
    let names = ["file_path", "filePath", "target_file", "notebook_path", "path"];
    names.iter().find_map(|name| member(arguments, name)).into_iter().map(Cow::into_owned).collect()
}

fn find_patched_files(patch: &str) -> Vec<String> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let named = |line: &str| {
        marks.iter().find_map(|mark| line.trim().strip_prefix(mark)).map(str::to_owned)
    };
    patch.lines().filter_map(named).collect()
}

/// Returns a string member of a JSON object. If the member is a list of strings, returns its last
/// element.
fn member<'t>(json: &'t str, name: &str) -> Option<Cow<'t, str>> {
    string(literal(json, name)?)
}

/// Like `member`, but keeps quotation marks and escapes.
fn literal<'t>(json: &'t str, name: &str) -> Option<&'t str> {
    let quoted = format!("\"{name}\"");
    let mut from = 0;
    while let Some(found) = memmem::find(&json.as_bytes()[from..], quoted.as_bytes()) {
        from += found + quoted.len();
        let Some(value) = json[from..].trim_start().strip_prefix(':') else { continue };
        let value = value.trim_start();
        return match value.as_bytes().first()? {
            b'"' => Some(&value[..string_end(value)?]),
            b'[' => last_literal(value),
            _ => None,
        };
    }
    None
}

fn last_literal(list: &str) -> Option<&str> {
    let mut rest = &list[1..];
    let mut last = None;
    loop {
        rest = rest.trim_start_matches([' ', ',', '\n']);
        if !rest.starts_with('"') {
            return last;
        }
        let end = string_end(rest)?;
        last = Some(&rest[..end]);
        rest = &rest[end..];
    }
}

pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let literal = &json[..string_end(json)?];
    if literal.contains('\\') {
        serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(&literal[1..literal.len() - 1]))
    }
}

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
    use nacre_traces::transcript::{
        BoundedText, CallLink, EventKind, Lane, Position, TextBounds, TextOrigin,
    };

    use super::*;

    fn call(tool: &str, text: &str) -> TranscriptEvent {
        TranscriptEvent {
            sequence: 0,
            kind: EventKind::ToolCall,
            timestamp: None,
            place: Position::Line { line: 1, offset: 0 },
            key: None,
            call: Some(CallLink { id: "k".to_owned(), tool: Some(tool.to_owned()) }),
            text: BoundedText::new(text, TextBounds::of(EventKind::ToolCall)),
            origin: TextOrigin::Agent,
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
