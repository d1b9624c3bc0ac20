//! Converts tool calls and permission requests to what editors show: title, kind, files and
//! changes.

use std::path::{Component, Path};

use nacre_types::{ApprovalAnswer, ApprovalRequest, FilePatch, ToolOutcome};
use serde_json::{Value, json};

use super::protocol::text_content;

/// Each tool's name, its kind in the protocol, and the verb used in its title.
const TOOLS: &[(&str, &str, &str)] = &[
    ("file_read", "read", "Read"),
    ("file_find", "search", "Find files"),
    ("file_search", "search", "Search"),
    ("file_create", "edit", "Create"),
    ("file_edit", "edit", "Edit"),
    ("file_delete", "delete", "Delete"),
    ("file_move", "move", "Move"),
    ("code_outline", "read", "Outline"),
    ("code_symbols", "search", "Find symbol"),
    ("code_search", "search", "Search code"),
    ("git_status", "read", "Git status"),
    ("git_diff", "read", "Git diff"),
    ("git_log", "read", "Git log"),
    ("git_show", "read", "Git show"),
    ("git_add", "execute", "Git add"),
    ("git_commit", "execute", "Git commit"),
    ("shell_run", "execute", "Run"),
    ("web_fetch", "fetch", "Fetch"),
    ("checklist_set", "think", "Plan"),
    ("memory_search", "search", "Search memory"),
    ("memory_add", "other", "Remember"),
    ("memory_remove", "other", "Forget"),
    ("skill_list", "read", "List skills"),
    ("skill_activate", "read", "Take up skill"),
    ("delegate", "think", "Delegate"),
];

/// Larger changes are not previewed.
const MAX_SHOWN_BYTES: usize = 64 << 10;

const MAX_RESULT_BYTES: usize = 8 << 10;

/// Returns an id that is unique within the session, because models reuse call ids across turns.
pub(super) fn call_id(task: &str, call: &str) -> String {
    format!("{task}/{call}")
}

pub(super) fn begin_call(
    root: &Path,
    id: &str,
    tool: &str,
    summary: &str,
    arguments: Value,
) -> Value {
    let mut call = json!({
        "sessionUpdate": "tool_call",
        "toolCallId": id,
        "title": title(tool, summary),
        "name": tool,
        "kind": kind(tool),
        "status": "in_progress",
        "locations": locations(root, tool, &arguments),
    });
    let diffs = diffs_of(root, tool, &arguments);
    if !diffs.is_empty() {
        call["content"] = diffs.into();
    }
    call["rawInput"] = arguments;
    call
}

/// Reports the end of a call. The change shown as a preview remains visible unless the call failed.
pub(super) fn end_call(
    root: &Path,
    id: &str,
    tool: &str,
    outcome: ToolOutcome,
    text: &str,
    patches: &[FilePatch],
) -> Value {
    let is_done = outcome == ToolOutcome::Done;
    let mut call = json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": id,
        "status": if is_done { "completed" } else { "failed" },
    });
    let is_change = matches!(kind(tool), "edit" | "delete" | "move");
    if is_done && !patches.is_empty() {
        call["content"] = patches.iter().flat_map(|it| patch(root, it)).collect();
    } else if !(is_done && is_change) {
        call["content"] = result_text(text).into();
    }
    call
}

fn pending_call(root: &Path, task: &str, question: &ApprovalRequest) -> Value {
    let mut content = Vec::new();
    if let Some(command) = &question.command {
        content.push(text(code_block("sh", command)));
    }
    if let Some(diff) = &question.diff {
        match pairs(root, diff).filter(|_| !question.is_diff_cut) {
            Some(pairs) => content.extend(pairs),
            None => content.push(text(code_block("diff", diff))),
        }
    }
    if question.is_diff_cut {
        content.push(text("Only the beginning of the change is shown.".to_owned()));
    }
    let touches: Vec<String> = question.touches.iter().map(|line| format!("- {line}")).collect();
    if !touches.is_empty() {
        content.push(text(touches.join("\n")));
    }
    json!({
        "toolCallId": call_id(task, &question.call),
        "title": question.summary,
        "name": question.tool,
        "kind": kind(&question.tool),
        "status": "pending",
        "content": content,
    })
}

/// Returns a stored call's most informative argument as a single line.
pub(super) fn summary(arguments: &Value) -> String {
    const TELLING: &[&str] =
        &["path", "from", "script", "url", "query", "pattern", "name", "title", "message"];
    let argv = arguments["argv"]
        .as_array()
        .map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
    let telling = || TELLING.iter().find_map(|name| arguments[*name].as_str().map(str::to_owned));
    let text = argv.or_else(telling).unwrap_or_default();
    text.lines().next().unwrap_or_default().chars().take(120).collect()
}

fn row(tool: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    TOOLS.iter().find(|(name, ..)| *name == tool)
}

fn kind(tool: &str) -> &'static str {
    row(tool).map_or("other", |(_, kind, _)| *kind)
}

fn title(tool: &str, summary: &str) -> String {
    let verb = row(tool).map_or(tool, |(_, _, verb)| *verb);
    match (summary, kind(tool)) {
        ("", _) => verb.to_owned(),
        (summary, "execute") => format!("{verb} `{summary}`"),
        (summary, _) => format!("{verb} {summary}"),
    }
}

/// Returns the files that a call uses, so the editor can show where the agent is working.
fn locations(root: &Path, tool: &str, arguments: &Value) -> Vec<Value> {
    if !tool.starts_with("file_") && tool != "code_outline" {
        return Vec::new();
    }
    let line = arguments["first_line"].as_u64().filter(|line| u32::try_from(*line).is_ok());
    let paths = ["path", "from", "to"].iter().filter_map(|name| arguments[*name].as_str());
    let paths = paths.filter_map(|path| inside(root, path));
    let location = |path: String| match line {
        Some(line) => json!({ "path": path, "line": line }),
        None => json!({ "path": path }),
    };
    paths.map(location).collect()
}

fn diffs_of(root: &Path, tool: &str, arguments: &Value) -> Vec<Value> {
    let Some(path) = arguments["path"].as_str().and_then(|path| inside(root, path)) else {
        return Vec::new();
    };
    let diffs = match tool {
        // If a version is given, the call replaces an existing file, whose old text is not
        // available here.
        "file_create" if arguments["version"].is_null() => {
            let content = arguments["content"].as_str();
            content.map(|text| diff(&path, None, text)).into_iter().collect()
        }
        "file_edit" => edits(&path, &arguments["edits"]).unwrap_or_default(),
        _ => Vec::new(),
    };
    let new_bytes = |diff: &Value| diff["newText"].as_str().map_or(0, str::len);
    let n_bytes: usize = diffs.iter().map(new_bytes).sum();
    if n_bytes <= MAX_SHOWN_BYTES { diffs } else { Vec::new() }
}

/// Converts edits to diffs. Returns `None` if an edit gives only line numbers, because the old text
/// is not available here.
fn edits(path: &str, edits: &Value) -> Option<Vec<Value>> {
    let edit =
        |edit: &Value| Some(diff(path, Some(edit["find"].as_str()?), edit["replace"].as_str()?));
    edits.as_array()?.iter().map(edit).collect()
}

fn diff(path: &str, old: Option<&str>, new: &str) -> Value {
    // `oldText` is null for a new file.
    json!({ "type": "diff", "path": path, "oldText": old, "newText": new })
}

fn patch(root: &Path, patch: &FilePatch) -> Vec<Value> {
    pairs(root, &patch.diff).unwrap_or_else(|| vec![text(code_block("diff", &patch.diff))])
}

fn result_text(result: &str) -> Vec<Value> {
    let shown = &result[..result.floor_char_boundary(MAX_RESULT_BYTES)];
    if shown.trim().is_empty() { Vec::new() } else { vec![text(code_block("", shown))] }
}

fn text(text: String) -> Value {
    json!({ "type": "content", "content": text_content(text) })
}

fn code_block(language: &str, text: &str) -> String {
    let longest = text.lines().map(str::trim_start).filter(|line| line.starts_with("```"));
    let longest = longest.map(|line| line.len() - line.trim_start_matches('`').len()).max();
    let fence = "`".repeat(longest.map_or(3, |longest| longest + 1));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Returns a diff's hunks as pairs of old and new text, or `None` if the diff is malformed or
/// truncated.
fn pairs(root: &Path, unified: &str) -> Option<Vec<Value>> {
    let mut lines = unified.lines();
    let mut found = Vec::new();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next()?.strip_prefix("+++ ")?;
            file = Some((old, new));
            continue;
        }
        let (mut n_old, mut n_new) = counts(line)?;
        let (old, new) = file?;
        let (mut old_text, mut new_text) = (String::new(), String::new());
        let push = |text: &mut String, line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        while 0 < n_old || 0 < n_new {
            let line = lines.next()?;
            let (sign, rest) = line.split_at_checked(1)?;
            if matches!(sign, " " | "-") {
                n_old = n_old.checked_sub(1)?;
                push(&mut old_text, rest);
            }
            if matches!(sign, " " | "+") {
                n_new = n_new.checked_sub(1)?;
                push(&mut new_text, rest);
            }
            if !matches!(sign, " " | "-" | "+") {
                return None;
            }
        }
        let name = if new == NO_FILE { old } else { new };
        let old_text = Some(old_text.as_str()).filter(|_| old != NO_FILE);
        found.push(diff(&inside(root, name)?, old_text, &new_text));
    }
    Some(found)
}

const NO_FILE: &str = "/dev/null";

fn counts(header: &str) -> Option<(usize, usize)> {
    let rest = header.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, n)| n.parse().ok());
    Some((count(old)?, count(new)?))
}

/// Returns the absolute path, or `None` if it is outside `root`.
fn inside(root: &Path, path: &str) -> Option<String> {
    let path = Path::new(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    (path.components().all(is_plain) && path.components().next().is_some())
        .then(|| root.join(path).display().to_string())
}

const ONCE: &str = "allow_once";
const SESSION: &str = "allow_always";
const NO: &str = "reject_once";

pub(super) fn permission_request(
    session: &str,
    root: &Path,
    task: &str,
    question: &ApprovalRequest,
) -> Value {
    let option = |id, name| json!({ "optionId": id, "name": name, "kind": id });
    json!({
        "sessionId": session,
        "toolCall": pending_call(root, task, question),
        "options": [
            option(ONCE, "Allow once"),
            option(SESSION, "Allow for this session"),
            option(NO, "Reject"),
        ],
    })
}

/// Converts the client's response. Anything but explicit approval counts as rejection.
pub(super) fn answer_of(reply: Result<Value, Value>) -> ApprovalAnswer {
    let deny = |reason: &str| ApprovalAnswer::Deny { reason: reason.to_owned() };
    let Ok(result) = reply else { return deny("The editor could not ask the user") };
    let outcome = &result["outcome"];
    match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
        (Some("selected"), Some(ONCE)) => ApprovalAnswer::Once,
        (Some("selected"), Some(SESSION)) => ApprovalAnswer::Session,
        (Some("selected"), Some(_)) => deny("The user rejected the request"),
        (Some("cancelled"), _) => deny("The user stopped the turn"),
        _ => deny("The editor returned an invalid answer"),
    }
}

#[cfg(test)]
mod tests {
    use nacre_base::format_unified_diff;

    use super::*;

    fn begin(tool: &str, summary: &str, arguments: Value) -> Value {
        begin_call(Path::new("/w"), &call_id("task_1", "c"), tool, summary, arguments)
    }

    #[test]
    fn a_call_has_a_title_a_kind_and_its_files() {
        let call = begin("file_read", "src/a.rs", json!({ "path": "src/a.rs", "first_line": 3 }));
        assert_eq!(
            call,
            json!({
                "sessionUpdate": "tool_call", "toolCallId": "task_1/c", "title": "Read src/a.rs", "name": "file_read", "kind": "read",
                "status": "in_progress", "locations": [{ "path": "/w/src/a.rs", "line": 3 }],
                "rawInput": { "path": "src/a.rs", "first_line": 3 },
            })
        );
        for (tool, arguments, title, kind) in [
            ("shell_run", json!({ "argv": ["ls"] }), "Run `x`", "execute"),
            ("file_move", json!({ "from": "a", "to": "../b" }), "Move x", "move"),
            ("unheard_of", json!("no object"), "unheard_of x", "other"),
            ("checklist_set", json!({}), "Plan x", "think"),
        ] {
            let call = begin(tool, "x", arguments);
            assert_eq!((call["title"].as_str(), call["kind"].as_str()), (Some(title), Some(kind)));
        }
    }

    #[test]
    fn a_change_is_shown_before_it_is_made_where_its_arguments_say_it() {
        let edit = json!({ "path": "a", "edits": [{ "find": "x", "replace": "y" }] });
        let shown = json!([{ "type": "diff", "path": "/w/a", "oldText": "x", "newText": "y" }]);
        assert_eq!(begin("file_edit", "a", edit)["content"], shown);
        let create = json!({ "path": "a", "content": "y" });
        let shown = json!([{ "type": "diff", "path": "/w/a", "oldText": null, "newText": "y" }]);
        assert_eq!(begin("file_create", "a", create)["content"], shown);
        for (tool, arguments) in [
            ("file_create", json!({ "path": "a", "content": "y", "version": "1" })),
            ("file_create", json!({ "path": "../a", "content": "y" })),
            ("file_create", json!({ "path": "a", "content": "y".repeat(1 << 20) })),
            ("file_edit", json!({ "path": "a", "edits": [{ "first_line": 1, "replace": "y" }] })),
            ("file_edit", json!({ "path": "a", "edits": "all" })),
        ] {
            assert_eq!(begin(tool, "a", arguments.clone())["content"], Value::Null, "{arguments}");
        }
    }

    #[test]
    fn a_result_is_text_or_a_diff() {
        let end = |tool: &str, outcome, text: &str, patches: &[FilePatch]| {
            end_call(Path::new("/w"), "c", tool, outcome, text, patches)
        };
        let patch = FilePatch {
            path: "a".to_owned(),
            diff: "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n".to_owned(),
            added: 1,
            removed: 1,
        };
        let shown = json!([{ "type": "diff", "path": "/w/a", "oldText": "x\n", "newText": "y\n" }]);
        assert_eq!(
            end("file_edit", ToolOutcome::Done, "ok", std::slice::from_ref(&patch))["content"],
            shown
        );
        assert_eq!(end("file_edit", ToolOutcome::Done, "ok", &[])["content"], Value::Null);
        let denied = end("file_edit", ToolOutcome::Denied, "no", &[]);
        assert_eq!(denied["status"], "failed");
        assert_eq!(denied["content"][0]["content"]["text"], "```\nno\n```");
        let cut = FilePatch { diff: "--- a\n+++ a\n@@ -1,9 +1,1 @@\n-x\n".to_owned(), ..patch };
        let shown = end("file_edit", ToolOutcome::Done, "ok", &[cut]);
        assert!(shown["content"][0]["content"]["text"].as_str().unwrap().starts_with("```diff\n"));
        let text = end("file_read", ToolOutcome::Done, "a\n````\nb", &[]);
        assert_eq!(text["content"][0]["content"]["text"], "`````\na\n````\nb\n`````");
    }

    #[test]
    fn a_question_shows_everything_that_would_happen() {
        let mut question = ApprovalRequest {
            approval: "ask_1".to_owned(),
            call: "c".to_owned(),
            tool: "file_edit".to_owned(),
            summary: "Edit a".to_owned(),
            touches: vec!["Changes `a`".to_owned()],
            diff: Some("--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n".to_owned()),
            is_diff_cut: false,
            command: None,
            host: None,
        };
        let call = pending_call(Path::new("/w"), "task_1", &question);
        assert_eq!(call["content"][0]["type"], "diff");
        assert_eq!(call["content"][1]["content"]["text"], "- Changes `a`");
        assert_eq!(call["status"], "pending");
        question.is_diff_cut = true;
        question.command = Some("make".to_owned());
        let call = pending_call(Path::new("/w"), "task_1", &question);
        let texts: Vec<&str> = call["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|content| content["content"]["text"].as_str().unwrap())
            .collect();
        assert_eq!(texts[0], "```sh\nmake\n```");
        assert!(texts[1].starts_with("```diff\n--- a"));
        assert_eq!(texts[2], "Only the beginning of the change is shown.");
    }

    fn list_pairs(unified: &str) -> Option<Vec<(String, Option<String>, String)>> {
        let found = pairs(Path::new("/w"), unified)?;
        let text = |content: &Value, name: &str| content[name].as_str().map(str::to_owned);
        let fields = |content: Value| {
            let path = text(&content, "path").expect("a diff");
            (path, text(&content, "oldText"), text(&content, "newText").unwrap())
        };
        Some(found.into_iter().map(fields).collect())
    }

    #[test]
    fn each_hunk_is_a_pair() {
        let lines =
            |range: std::ops::Range<u32>| range.map(|n| format!("{n}\n")).collect::<String>();
        let before = lines(0..40);
        let after = before.replace("\n3\n", "\nthree\n").replace("\n30\n", "\n--- a\n+++ b\n");
        let mut unified = format_unified_diff("src/a.rs", Some(&before), Some(&after));
        unified += &format_unified_diff("new.txt", None, Some("x\n"));
        unified += &format_unified_diff("old.txt", Some("x\n"), None);
        let found = list_pairs(&unified).unwrap();
        let names: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(names, ["/w/src/a.rs", "/w/src/a.rs", "/w/new.txt", "/w/old.txt"]);
        assert!(found[0].1.as_deref().unwrap().contains("\n3\n"));
        assert!(found[0].2.contains("\nthree\n"));
        assert!(found[1].2.contains("--- a\n+++ b\n"), "lines that look like headers: {found:?}");
        assert_eq!((found[2].1.as_deref(), found[2].2.as_str()), (None, "x\n"));
        assert_eq!((found[3].1.as_deref(), found[3].2.as_str()), (Some("x\n"), ""));
    }

    #[test]
    fn what_was_cut_or_leaves_the_workspace_is_no_pair() {
        let unified = format_unified_diff("a", Some("1\n2\n3\n"), Some("1\n2\nthree\n"));
        let end = unified.rfind("+three").unwrap();
        for wrong in [
            &unified[..end],
            "@@ -1,1 +1,1 @@\n-a\n+b\n",
            "--- a\n+++ a\n@@ -1,99999999999999999999 +1,1 @@\n",
            "--- a\n",
            "--- ../a\n+++ ../a\n@@ -1,1 +1,1 @@\n-a\n+b\n",
            "--- a\n+++ a\n@@ -1,1 +1,1 @@\nxa\n",
            "--- a\n+++ a\n@@ -1,1 +1,1 @@\n é\n-b\n",
            "words",
        ] {
            assert_eq!(list_pairs(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_paths_below_the_root_become_absolute() {
        let root = Path::new("/w");
        for (path, expected) in [
            ("a/b.rs", Some("/w/a/b.rs")),
            ("../b", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(inside(root, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let selected =
            |id: &str| Ok(json!({ "outcome": { "outcome": "selected", "optionId": id } }));
        assert_eq!(answer_of(selected("allow_once")), ApprovalAnswer::Once);
        assert_eq!(answer_of(selected("allow_always")), ApprovalAnswer::Session);
        for reply in [
            selected("reject_once"),
            selected("ALLOW_ONCE"),
            selected(""),
            Ok(json!({ "outcome": { "outcome": "cancelled" } })),
            Ok(json!({ "outcome": { "outcome": "allowed", "optionId": "allow_once" } })),
            Ok(json!({ "outcome": "allow_once" })),
            Ok(Value::Null),
            Err(json!({ "code": -32603, "message": "allow_once" })),
        ] {
            let shown = format!("{reply:?}");
            assert!(matches!(answer_of(reply), ApprovalAnswer::Deny { .. }), "{shown}");
        }
    }
}
