//! Tool calls of the agent as an editor shows them: a title, a kind, the files, and what changes in them.

use std::path::Path;

use nacre_api::wire::{ApprovalRequest, FilePatch, ToolOutcome};
use serde_json::Value;

use super::diffs::pairs;
use super::paths::inside;
use super::protocol::{Diff, Location, ToolCall, ToolContent, ToolKind, ToolStatus};

/// What each tool is, and the verb of its title. Others are shown by their name.
const TOOLS: &[(&str, ToolKind, &str)] = &[
    ("file_read", ToolKind::Read, "Read"),
    ("file_find", ToolKind::Search, "Find files"),
    ("file_search", ToolKind::Search, "Search"),
    ("file_create", ToolKind::Edit, "Create"),
    ("file_edit", ToolKind::Edit, "Edit"),
    ("file_delete", ToolKind::Delete, "Delete"),
    ("file_move", ToolKind::Move, "Move"),
    ("code_outline", ToolKind::Read, "Outline"),
    ("code_symbols", ToolKind::Search, "Find symbol"),
    ("code_search", ToolKind::Search, "Search code"),
    ("git_status", ToolKind::Read, "Git status"),
    ("git_diff", ToolKind::Read, "Git diff"),
    ("git_log", ToolKind::Read, "Git log"),
    ("git_show", ToolKind::Read, "Git show"),
    ("git_add", ToolKind::Execute, "Git add"),
    ("git_commit", ToolKind::Execute, "Git commit"),
    ("shell_run", ToolKind::Execute, "Run"),
    ("web_fetch", ToolKind::Fetch, "Fetch"),
    ("checklist_set", ToolKind::Think, "Plan"),
    ("checklist_update", ToolKind::Think, "Update the plan"),
    ("memory_search", ToolKind::Search, "Search memory"),
    ("memory_add", ToolKind::Other, "Remember"),
    ("memory_remove", ToolKind::Other, "Forget"),
    ("skill_list", ToolKind::Read, "List skills"),
    ("skill_activate", ToolKind::Read, "Take up skill"),
    ("delegate", ToolKind::Think, "Delegate"),
];

/// Larger changes are not shown before they are made.
const MAX_SHOWN_BYTES: usize = 64 << 10;

/// Text of a result that is shown.
const MAX_RESULT_BYTES: usize = 8 << 10;

/// The id of a call in its session: models count their calls from the start in each turn.
pub(super) fn call_id(task: &str, call: &str) -> String {
    format!("{task}/{call}")
}

/// A call that begins.
pub(super) fn begun(
    root: &Path,
    id: String,
    tool: &str,
    summary: &str,
    arguments: Value,
) -> ToolCall {
    let diffs = diffs_of(root, tool, &arguments);
    ToolCall {
        title: Some(title(tool, summary)),
        name: Some(tool.to_owned()),
        kind: Some(kind(tool)),
        status: Some(ToolStatus::InProgress),
        content: (!diffs.is_empty()).then_some(diffs),
        locations: Some(locations(root, tool, &arguments)),
        raw_input: Some(arguments),
        tool_call_id: id,
    }
}

/// A call that is over. A change that is already shown stays, unless it did not happen.
pub(super) fn ended(
    root: &Path,
    id: String,
    tool: &str,
    outcome: ToolOutcome,
    text: &str,
    patches: &[FilePatch],
) -> ToolCall {
    let status = match outcome {
        ToolOutcome::Done => ToolStatus::Completed,
        ToolOutcome::Failed | ToolOutcome::Denied => ToolStatus::Failed,
    };
    let is_change = matches!(kind(tool), ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let content = match (outcome, patches) {
        (ToolOutcome::Done, [_, ..]) => {
            Some(patches.iter().flat_map(|it| patch(root, it)).collect())
        }
        (ToolOutcome::Done, []) if is_change => None,
        _ => Some(result_text(text)),
    };
    ToolCall { tool_call_id: id, status: Some(status), content, ..ToolCall::default() }
}

/// A call that waits for a person's yes, with everything that it would do.
pub(super) fn asked_about(root: &Path, task: &str, question: &ApprovalRequest) -> ToolCall {
    let mut content = Vec::new();
    if let Some(command) = &question.command {
        content.push(text(fenced("sh", command)));
    }
    if let Some(diff) = &question.diff {
        match pairs(root, diff).filter(|_| !question.is_diff_cut) {
            Some(pairs) => content.extend(pairs.into_iter().map(ToolContent::Diff)),
            None => content.push(text(fenced("diff", diff))),
        }
    }
    if question.is_diff_cut {
        content.push(text("Only the beginning of the change is shown.".to_owned()));
    }
    let touches: Vec<String> = question.touches.iter().map(|line| format!("- {line}")).collect();
    if !touches.is_empty() {
        content.push(text(touches.join("\n")));
    }
    ToolCall {
        tool_call_id: call_id(task, &question.call),
        title: Some(question.summary.clone()),
        name: Some(question.tool.clone()),
        kind: Some(kind(&question.tool)),
        status: Some(ToolStatus::Pending),
        content: Some(content),
        ..ToolCall::default()
    }
}

/// What a stored call is about: the argument that says most, on one line.
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

fn row(tool: &str) -> Option<&'static (&'static str, ToolKind, &'static str)> {
    TOOLS.iter().find(|(name, ..)| *name == tool)
}

fn kind(tool: &str) -> ToolKind {
    row(tool).map_or(ToolKind::Other, |(_, kind, _)| *kind)
}

fn title(tool: &str, summary: &str) -> String {
    let verb = row(tool).map_or(tool, |(_, _, verb)| *verb);
    match (summary, kind(tool)) {
        ("", _) => verb.to_owned(),
        (summary, ToolKind::Execute) => format!("{verb} `{summary}`"),
        (summary, _) => format!("{verb} {summary}"),
    }
}

/// The files that a call is about, so that an editor can follow along.
fn locations(root: &Path, tool: &str, arguments: &Value) -> Vec<Location> {
    if !tool.starts_with("file_") && tool != "code_outline" {
        return Vec::new();
    }
    let line = arguments["first_line"].as_u64().and_then(|line| u32::try_from(line).ok());
    let paths = ["path", "from", "to"].iter().filter_map(|name| arguments[*name].as_str());
    let paths = paths.filter_map(|path| inside(root, path));
    paths.map(|path| Location { path, line }).collect()
}

/// What a call is about to change, as far as its arguments say it.
fn diffs_of(root: &Path, tool: &str, arguments: &Value) -> Vec<ToolContent> {
    let Some(path) = arguments["path"].as_str().and_then(|path| inside(root, path)) else {
        return Vec::new();
    };
    let diffs = match tool {
        // With a version it replaces a file whose text is not known here.
        "file_create" if arguments["version"].is_null() => {
            let content = arguments["content"].as_str();
            content.map(|text| diff(&path, None, text)).into_iter().collect()
        }
        "file_edit" => edits(&path, &arguments["edits"]).unwrap_or_default(),
        _ => Vec::new(),
    };
    let n_bytes: usize = diffs.iter().map(|diff| diff.new_text.len()).sum();
    if MAX_SHOWN_BYTES < n_bytes {
        return Vec::new();
    }
    diffs.into_iter().map(ToolContent::Diff).collect()
}

/// Every replacement of a text; `None` where one is by line, whose old text is not known here.
fn edits(path: &str, edits: &Value) -> Option<Vec<Diff>> {
    let edit =
        |edit: &Value| Some(diff(path, Some(edit["find"].as_str()?), edit["replace"].as_str()?));
    edits.as_array()?.iter().map(edit).collect()
}

fn diff(path: &str, old: Option<&str>, new: &str) -> Diff {
    Diff { path: path.to_owned(), old_text: old.map(str::to_owned), new_text: new.to_owned() }
}

/// A change that was made; one that cannot be read as pairs is shown as the text it is.
fn patch(root: &Path, patch: &FilePatch) -> Vec<ToolContent> {
    match pairs(root, &patch.diff) {
        Some(pairs) => pairs.into_iter().map(ToolContent::Diff).collect(),
        None => vec![text(fenced("diff", &patch.diff))],
    }
}

fn result_text(result: &str) -> Vec<ToolContent> {
    let shown = &result[..result.floor_char_boundary(MAX_RESULT_BYTES)];
    if shown.trim().is_empty() { Vec::new() } else { vec![text(fenced("", shown))] }
}

fn text(text: String) -> ToolContent {
    ToolContent::Content { content: text.into() }
}

/// Text in a block of code that nothing in it can close.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.lines().map(str::trim_start).filter(|line| line.starts_with("```"));
    let longest = longest.map(|line| line.len() - line.trim_start_matches('`').len()).max();
    let fence = "`".repeat(longest.map_or(3, |longest| longest + 1));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn begin(tool: &str, summary: &str, arguments: Value) -> Value {
        let call = begun(Path::new("/w"), call_id("task_1", "c"), tool, summary, arguments);
        serde_json::to_value(call).unwrap()
    }

    #[test]
    fn a_call_has_a_title_a_kind_and_its_files() {
        let call = begin("file_read", "src/a.rs", json!({ "path": "src/a.rs", "first_line": 3 }));
        assert_eq!(
            call,
            json!({
                "toolCallId": "task_1/c", "title": "Read src/a.rs", "name": "file_read", "kind": "read",
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
            let call = ended(Path::new("/w"), "c".to_owned(), tool, outcome, text, patches);
            serde_json::to_value(call).unwrap()
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
        let call = serde_json::to_value(asked_about(Path::new("/w"), "task_1", &question)).unwrap();
        assert_eq!(call["content"][0]["type"], "diff");
        assert_eq!(call["content"][1]["content"]["text"], "- Changes `a`");
        assert_eq!(call["status"], "pending");
        question.is_diff_cut = true;
        question.command = Some("make".to_owned());
        let call = serde_json::to_value(asked_about(Path::new("/w"), "task_1", &question)).unwrap();
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
}
