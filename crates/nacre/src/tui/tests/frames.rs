//! Snapshots of the screen in each mode.

use insta::assert_snapshot;
use nacre_types::SessionRequest;
use serde_json::json;

use super::play::Play;
use crate::tui::event::ScreenEvent;
use crate::tui::state::ScreenOptions;
use crate::tui::theme::Theme;
use nacre_ops::terminal::ThemeChoice;

const ANSWER: &str = "## Why it fails\n\nThe parser drops the **last** token, see `parse.rs`:\n\n```rust\n// one too few\nfor token in &tokens[..n - 1] {\n    take(token);\n}\n```\n\n1. Count to `n`.\n2. Run the tests.\n\n| case | before | after |\n|---|---|---|\n| empty | ok | ok |\n| one | fails | ok |\n";

const DIFF: &str = "--- a/src/parse.rs\n+++ b/src/parse.rs\n@@ -10,3 +10,3 @@\n     let n = tokens.len();\n-    for token in &tokens[..n - 1] {\n+    for token in &tokens[..n] {\n         take(token);\n";

fn play_edit(play: &mut Play) {
    play.say(json!({"type": "tool.call", "call": "c1", "tool": "edit_file", "summary": "src/parse.rs", "arguments": {}}));
    play.say(json!({
        "type": "tool.result", "call": "c1", "tool": "edit_file", "outcome": "done", "text": "1 place changed",
        "patches": [{"path": "src/parse.rs", "diff": DIFF, "added": 1, "removed": 1}], "duration_ms": 12,
    }));
}

fn end(play: &mut Play) {
    play.say(json!({
        "type": "task.completed", "signal": "done", "reason": null, "text": "", "changed": ["src/parse.rs"],
        "usage": {"input": 12345, "output": 678, "context": 13000, "window": 200000, "cost_usd": 0.0421},
    }));
}

#[test]
fn the_first_screen() {
    let mut play = Play::new(80, 24);
    assert_snapshot!(play.frame());
}

#[test]
fn an_answer_in_markdown_with_calls() {
    let mut play = Play::new(80, 40);
    play.work("Why does the parser test fail?");
    play.say(json!({"type": "reasoning", "text": "Look at the loop.\nThen at the test."}));
    play.say(json!({"type": "tool.call", "call": "c0", "tool": "read_file", "summary": "src/parse.rs lines 1-80", "arguments": {}}));
    play.say(json!({"type": "tool.result", "call": "c0", "tool": "read_file", "outcome": "done", "text": "fn parse() {}", "duration_ms": 3}));
    for piece in ANSWER.split_inclusive(' ') {
        play.say(json!({"type": "text", "text": piece}));
    }
    play_edit(&mut play);
    play.say(json!({"type": "tool.call", "call": "c2", "tool": "run", "summary": "cargo test -p parser", "arguments": {}}));
    play.wait(12_500);
    assert_snapshot!("working", play.frame());
    play.say(json!({"type": "tool.result", "call": "c2", "tool": "run", "outcome": "failed", "text": "1 failed", "duration_ms": 64_000}));
    end(&mut play);
    assert_snapshot!("done", play.frame());
}

#[test]
fn an_unfolded_call_with_a_diff() {
    let mut play = Play::new(80, 30);
    play.work("Mend it");
    play_edit(&mut play);
    end(&mut play);
    play.frame();
    play.keys("<C-o>");
    play.keys("<Enter>");
    assert_snapshot!("unfolded", play.frame());
    play.keys("<Esc>/diff<Enter>");
    assert_snapshot!("diff", play.frame());
}

#[test]
fn a_question_about_a_change_and_about_a_program() {
    let mut play = Play::new(80, 24);
    play.work("Mend it");
    play.say(json!({
        "type": "approval.request", "approval": "a1", "call": "c1", "tool": "edit_file", "summary": "Change src/parse.rs",
        "touches": ["may change src/parse.rs"], "diff": DIFF, "is_diff_cut": false,
    }));
    play.say(json!({
        "type": "approval.request", "approval": "a2", "call": "c2", "tool": "run", "summary": "Run the tests",
        "touches": ["may change the whole workspace", "may use the network"], "is_diff_cut": false,
        "command": "cargo test -p parser -- --nocapture",
    }));
    play.wait(1_000);
    assert_snapshot!("change", play.frame());
    play.keys("y");
    play.wait(1_000);
    assert_snapshot!("program", play.frame());
    play.keys("e");
    play.keys("not now");
    assert_snapshot!("reason", play.frame());
}

#[test]
fn a_plan_and_a_queue() {
    let mut play = Play::new(80, 24);
    play.work("Mend it");
    let item = |id: usize, state: &str| json!({"id": id.to_string(), "label": format!("Step number {id}"), "state": state});
    let items = [item(1, "done"), item(2, "in_progress"), item(3, "pending"), item(4, "failed")];
    play.say(json!({"type": "checklist", "items": items}));
    for prompt in ["then run the linter", "and commit", "and push", "and rest"] {
        play.keys(prompt);
        play.keys("<Enter>");
    }
    play.keys("half a thou");
    assert_snapshot!(play.frame());
}

#[test]
fn completion_of_commands_and_files() {
    let mut play = Play::new(80, 24);
    play.take(ScreenEvent::Files(
        ["src/main.rs", "src/parse.rs", "docs/parsing.md"].map(str::to_owned).to_vec(),
    ));
    play.keys("/");
    assert_snapshot!("commands", play.frame());
    play.keys("<C-u>look at @pars");
    assert_snapshot!("files", play.frame());
    play.keys("<Down><Tab>");
    assert_snapshot!("second", play.frame());
}

#[test]
fn memories() {
    let mut play = Play::new(80, 24);
    play.work("Mend it");
    play.say(json!({"type": "memory", "recalled": [
        {"id": "mem-1", "title": "The parser counts tokens from one"},
        {"id": "mem-2", "title": "Tests run with cargo nextest"},
    ]}));
    play.keys("<C-g>");
    play.keys("<Down>");
    assert_snapshot!(play.frame());
}

#[test]
fn lists_of_sessions_and_hits() {
    let mut play = Play::new(80, 24);
    play.keys("/sessions<Enter>");
    let mut other = serde_json::to_value(super::play::session()).unwrap();
    other["title"] =
        json!("日本語のタイトル 🙂 and a rather long title that goes on and on and on");
    other["items"] = json!(1234);
    play.answer(json!({"sessions": [super::play::session(), other]}));
    assert_snapshot!("sessions", play.frame());
    play.keys("<Esc>/search parser<Enter>");
    play.answer(json!({"hits": [{"session": "s2", "title": "Old", "sequence": 4, "at": "", "excerpt": "the parser was wrong"}]}));
    assert_snapshot!("hits", play.frame());
}

#[test]
fn help_and_cost() {
    let mut play = Play::new(100, 30);
    play.keys("/help<Enter>");
    assert_snapshot!("help", play.frame());
    play.keys("<Esc>");
    play.work("Mend it");
    end(&mut play);
    play.keys("/cost<Enter>");
    assert_snapshot!("cost", play.frame());
}

#[test]
fn long_output_is_cut_in_the_middle() {
    let mut play = Play::new(80, 20);
    play.work("List all");
    let text: String = (0..10_000).map(|idx| format!("line {idx}\n")).collect();
    play.say(json!({"type": "tool.call", "call": "c1", "tool": "run", "summary": "seq 10000", "arguments": {}}));
    play.say(json!({"type": "tool.result", "call": "c1", "tool": "run", "outcome": "done", "text": text, "duration_ms": 900}));
    play.keys("<C-o>");
    play.keys("<Enter>");
    assert_snapshot!("top", play.frame());
    for _ in 0..66 {
        play.keys("<PageDown>");
        play.frame();
    }
    assert_snapshot!("middle", play.frame());
}

#[test]
fn wide_characters_and_hostile_sequences() {
    let mut play = Play::new(40, 20);
    play.work("日本語 👍🏽 ok?");
    play.say(json!({"type": "text", "text": "日本語のとても長い文章がここで折り返されます。🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂 end"}));
    play.say(json!({"type": "tool.call", "call": "c1", "tool": "ru\u{1b}[2Jn", "summary": "cat \u{1b}]0;owned\u{7}\u{202e}x", "arguments": {}}));
    play.say(json!({"type": "tool.result", "call": "c1", "tool": "run", "outcome": "done", "text": "\u{1b}[31mred\u{1b}[0m \u{1b}[2J\u{1b}[H\u{9b}2J\rgone\u{8}\u{8}", "duration_ms": 1}));
    play.keys("<C-o>");
    play.keys("<Enter>");
    assert_snapshot!(play.frame());
}

#[test]
fn refusals_and_ends() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.say(json!({"type": "text", "text": "I begin"}));
    play.keys("<Esc>");
    assert_snapshot!("stopping", play.frame());
    play.say(json!({"type": "task.cancelled", "by": "person"}));
    play.keys("Again<Enter>");
    play.refuse("Session `s1` already has 25 queued tasks");
    assert_snapshot!("refused", play.frame());
    play.take(ScreenEvent::Closed);
    assert_snapshot!("closed", play.frame());
}

#[test]
fn small_screens() {
    for (columns, rows) in [(20, 6), (10, 3), (3, 2), (1, 1)] {
        let mut play = Play::new(columns, rows);
        play.work("Mend the parser");
        play.say(json!({"type": "text", "text": "Some **words** of it"}));
        let frame = play.frame();
        assert_eq!(frame.lines().count(), usize::from(rows));
        if columns == 20 {
            assert_snapshot!("small", frame);
        }
    }
}

#[test]
fn a_session_that_is_resumed() {
    let resume = Some(SessionRequest::default());
    let options = ScreenOptions { resume, ..ScreenOptions::default() };
    let mut play = Play::new_unopened(options, 80, 24);
    play.answer(json!({"version": 1, "nacre": "0", "methods": []}));
    let mut session = serde_json::to_value(super::play::session()).unwrap();
    session["items"] = json!(5);
    play.answer(json!({"session": session}));
    let item = |sequence: u64, rest: serde_json::Value| {
        let mut item = json!({"sequence": sequence, "task": "t0", "at": ""});
        item.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        item
    };
    let items = [
        item(
            1,
            json!({"kind": "user", "text": "Mend it", "attachments": [{"attachment": "file", "path": "a.rs"}]}),
        ),
        item(
            2,
            json!({"kind": "tool_call", "call": "c", "tool": "run", "arguments": {"command": "make test"}}),
        ),
        item(
            3,
            json!({"kind": "tool_result", "call": "c", "tool": "run", "outcome": "denied", "text": "no"}),
        ),
        item(
            4,
            json!({"kind": "assistant", "text": "It was *not* allowed", "is_interrupted": true}),
        ),
        item(5, json!({"kind": "ended", "state": "cancelled", "reason": "by the person"})),
    ];
    play.answer(json!({"session": session, "items": items, "more": false}));
    assert_snapshot!("resumed", play.frame());
    play.keys("<Up>");
    assert_eq!(play.state.editor.text(), "Mend it");
}

#[test]
fn themes_differ_in_colors_alone() {
    let colored = |theme: ThemeChoice| {
        let theme = Theme { name: theme, has_true_color: true };
        let options = ScreenOptions { theme, ..ScreenOptions::default() };
        let mut play = Play::new_unopened(options, 60, 20);
        play.answer(json!({"version": 1, "nacre": "0", "methods": []}));
        play.answer(json!({"session": super::play::session()}));
        play.work("Mend it");
        play_edit(&mut play);
        play.keys("<C-o>");
        play.keys("<Enter>");
        let (buffer, _) = play.draw();
        let is_colored = buffer.content.iter().any(|cell| {
            cell.fg != ratatui_core::style::Color::Reset
                || cell.bg != ratatui_core::style::Color::Reset
        });
        (super::play::text_of(&buffer), is_colored)
    };
    let (dark, light, plain) =
        (colored(ThemeChoice::Dark), colored(ThemeChoice::Light), colored(ThemeChoice::Plain));
    assert_eq!(dark.0, plain.0);
    assert_eq!(light.0, plain.0);
    assert_eq!((dark.1, light.1, plain.1), (true, true, false));
}
