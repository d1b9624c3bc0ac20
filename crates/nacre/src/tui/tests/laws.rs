//! Invariants: no sequence of events may cause a panic or break the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nacre_types::{RpcAnswer, RpcMessage, TaskUpdate};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::play::{Play, session};
use crate::tui::event::ScreenEvent;

/// Something that the user, the terminal or the agent does.
#[derive(Clone, Debug)]
enum Deed {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Say(u64, Value),
    Answer(u64, Value),
    Raw(Value),
    Files(Vec<String>),
    Wait(u64),
    Draw,
    Closed,
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z /@`*#>|\n\t-]{0,60}",
        Just("\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{200d}\u{fe0f}日本🙂".to_owned()),
        (0usize..400).prop_map(|n| "long line of words\n".repeat(n * 10)),
    ]
}

fn any_key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        4 => any::<char>().prop_map(KeyCode::Char),
        6 => prop::sample::select(b"abcdefghijklmnopqrstuvwxyzG /@".to_vec()).prop_map(|c| KeyCode::Char(char::from(c))),
        8 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down,
            KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::PageDown,
            KeyCode::Backspace, KeyCode::Delete, KeyCode::F(1), KeyCode::Null,
        ]),
    ];
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ]);
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

fn any_update() -> impl Strategy<Value = Value> {
    let usage =
        json!({"input": u64::MAX, "output": 1, "context": u64::MAX, "window": 3, "cost_usd": 0.5});
    let call = prop::sample::select(vec!["c1", "c2", "c3"]);
    let approval = prop::sample::select(vec!["a1", "a2"]);
    prop_oneof![
        any_text().prop_map(|text| json!({"type": "task.accepted", "text": text})),
        any::<u32>().prop_map(|position| json!({"type": "task.queued", "position": position})),
        any_text().prop_map(|model| json!({"type": "task.running", "model": model})),
        any::<u32>().prop_map(|step| json!({"type": "step", "step": step})),
        any_text().prop_map(|text| json!({"type": "text", "text": text})),
        any_text().prop_map(|text| json!({"type": "text.replaced", "text": text})),
        any_text().prop_map(|text| json!({"type": "reasoning", "text": text})),
        (call.clone(), any_text()).prop_map(|(call, text)| json!({"type": "tool.call", "call": call, "tool": text, "summary": text, "arguments": {}})),
        (call, any_text(), any::<u64>()).prop_map(|(call, text, ms)| json!({
            "type": "tool.result", "call": call, "tool": "x", "outcome": "done", "text": text, "duration_ms": ms,
            "patches": [{"path": text, "diff": text, "added": u32::MAX, "removed": 7}, {"path": "", "diff": "", "added": 1, "removed": 0}],
        })),
        (approval.clone(), any_text()).prop_map(|(approval, text)| json!({
            "type": "approval.request", "approval": approval, "call": "c1", "tool": text, "summary": text,
            "touches": [text], "diff": text, "is_diff_cut": true, "command": text, "host": text,
        })),
        (approval, any_text()).prop_map(|(approval, text)| json!({
            "type": "approval.decided", "approval": approval, "answer": {"answer": "deny", "reason": text}, "by": "person",
        })),
        any_text().prop_map(|text| json!({"type": "checklist", "items": [{"id": "1", "label": text, "state": "in_progress"}]})),
        any_text().prop_map(|text| json!({"type": "memory", "recalled": [{"id": text, "title": text}]})),
        any_text().prop_map(|text| json!({"type": "steered", "text": text})),
        any_text().prop_map(|text| json!({"type": "notice", "text": text})),
        Just(json!({"type": "usage", "input": u64::MAX, "output": u64::MAX, "context": u64::MAX, "window": 1, "cost_usd": null})),
        any_text().prop_map({
            let usage = usage.clone();
            move |text| json!({"type": "task.completed", "signal": "done", "reason": text, "text": text, "changed": [text], "usage": usage})
        }),
        any_text().prop_map(move |text| json!({
            "type": "task.failed", "error": {"code": "usage", "message": text, "causes": [text], "hints": [text]}, "usage": usage,
        })),
        Just(json!({"type": "task.cancelled", "by": "person"})),
    ]
}

fn any_result() -> impl Strategy<Value = Value> {
    let session = serde_json::to_value(session()).unwrap();
    let busy = {
        let mut busy = session.clone();
        busy["items"] = json!(3000);
        busy["running"] = json!("t1");
        busy
    };
    let item = |text: String| {
        json!([
            {"sequence": 7, "task": "t1", "at": "", "kind": "user", "text": text},
            {"sequence": 8, "task": null, "at": "", "kind": "tool_call", "call": "c1", "tool": text, "arguments": {"a": text}},
            {"sequence": 9, "task": null, "at": "", "kind": "tool_result", "call": "c1", "tool": text, "outcome": "failed", "text": text},
            {"sequence": 10, "task": null, "at": "", "kind": "assistant", "text": text},
        ])
    };
    let (one, two) = (session.clone(), busy.clone());
    prop_oneof![
        Just(json!({"version": 1, "nacre": "0", "methods": ["skill.list"]})),
        Just(json!({"session": session})),
        Just(json!({"session": busy})),
        Just(json!({"task": "t1", "session": "s1"})),
        any_text().prop_map(move |text| json!({"session": one, "items": item(text), "more": true})),
        any_text().prop_map(move |text| {
            let mut listed = two.clone();
            listed["title"] = json!(text);
            json!({"sessions": [listed]})
        }),
        any_text().prop_map(|text| json!({"hits": [{"session": "s1", "title": text, "sequence": 1, "at": "", "excerpt": text}]})),
        any_text().prop_map(|text| json!({"task": "t1", "restored": [text], "kept": [{"path": text, "why": text}]})),
        any_text().prop_map(|text| json!({"session": "s1", "transcript": text})),
        Just(Value::Null),
    ]
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        10 => any_key().prop_map(Deed::Key),
        2 => any_text().prop_map(Deed::Paste),
        1 => (0u16..160, 0u16..70).prop_map(|(columns, rows)| Deed::Resize(columns, rows)),
        10 => (0u64..12, any_update()).prop_map(|(sequence, update)| Deed::Say(sequence, update)),
        4 => (0u64..12, any_result()).prop_map(|(id, result)| Deed::Answer(id, result)),
        1 => any_text().prop_map(|text| Deed::Raw(json!({"id": null, "error": {"code": "usage", "message": text, "causes": [], "hints": []}}))),
        1 => prop::collection::vec(any_text(), 0..5).prop_map(Deed::Files),
        2 => (0u64..3_000).prop_map(Deed::Wait),
        3 => Just(Deed::Draw),
        1 => Just(Deed::Closed),
    ]
}

fn act(play: &mut Play, deed: Deed, sequence: &mut u64) {
    match deed {
        Deed::Key(key) => play.take(ScreenEvent::Key(key)),
        Deed::Paste(text) => play.take(ScreenEvent::Paste(text)),
        Deed::Resize(columns, rows) => play.take(ScreenEvent::Resize { columns, rows }),
        Deed::Say(number, update) => {
            let update: TaskUpdate = serde_json::from_value(update).unwrap();
            // Usually the next number, but occasionally another one.
            *sequence = if number == 0 { 1 } else { *sequence + 1 };
            let number = if number == 1 { 40 } else { *sequence };
            play.message(number, update);
        }
        Deed::Answer(id, result) => play.answer_to(Some(id), result),
        Deed::Raw(value) => {
            let answer: RpcAnswer = serde_json::from_value(value).unwrap();
            play.take(ScreenEvent::Message(Box::new(RpcMessage::Answer(answer))));
        }
        Deed::Files(files) => play.take(ScreenEvent::Files(files)),
        Deed::Wait(ms) => play.wait(ms),
        Deed::Draw => {
            play.frame();
        }
        Deed::Closed => play.take(ScreenEvent::Closed),
    }
}

/// Checks the invariants after each event.
fn check(play: &mut Play) {
    let (buffer, cursor) = play.draw();
    for cell in &buffer.content {
        assert!(!cell.symbol().contains(char::is_control), "{:?}", cell.symbol());
    }
    if let Some(cursor) = cursor {
        assert!(buffer.area.contains(cursor), "{cursor:?}");
    }
    let state = &play.state;
    assert!(state.transcript.shown.len() <= state.transcript.height);
    assert!(state.editor.text().is_char_boundary(state.editor.cursor()));
    let bytes: usize = state.transcript.cells().map(|cell| cell.kind.bytes()).sum();
    assert_eq!(state.transcript.bytes(), bytes);
    let ids: Vec<_> = state.transcript.cells().map(|cell| cell.id).collect();
    assert!(ids.is_sorted());
    assert!(state.turn.is_none() || !state.is_closed);
}

proptest! {
    #[test]
    fn nothing_that_happens_breaks_the_screen(deeds in prop::collection::vec(any_deed(), 0..80)) {
        let mut play = Play::new(60, 20);
        play.begin_task("t1");
        let mut sequence = 0;
        for deed in deeds {
            act(&mut play, deed, &mut sequence);
        }
        check(&mut play);
    }
}
