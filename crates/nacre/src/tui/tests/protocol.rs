//! Tests which requests user actions send, and how messages change the state.

use nacre_types::{RpcCall, TaskUpdate};
use serde_json::json;

use super::play::Play;
use crate::tui::event::{Effect, Outside, ScreenEvent};

#[test]
fn a_prompt_is_sent_with_what_was_pasted_and_named() {
    let mut play = Play::new(80, 24);
    play.take(ScreenEvent::Files(vec!["src/main.rs".to_owned()]));
    play.keys("see ");
    play.take(ScreenEvent::Paste("line\n".repeat(120)));
    play.keys("and @src/main.rs, <A-Enter>then go<Enter>");
    let sent = play.last_call();
    assert_eq!(sent["method"], "chat.start");
    let text = sent["params"]["text"].as_str().unwrap();
    assert_eq!(text, "see [pasted 1: 120 lines] and @src/main.rs, \nthen go");
    assert_eq!(sent["params"]["attachments"][0]["name"], "pasted 1");
    assert_eq!(
        sent["params"]["attachments"][1],
        json!({"attachment": "file", "path": "src/main.rs"})
    );
    assert!(play.state.editor.is_empty());
}

#[test]
fn a_chip_that_is_deleted_is_not_sent() {
    let mut play = Play::new(80, 24);
    play.take(ScreenEvent::Paste("line\n".repeat(120)));
    play.keys("<Backspace><Backspace>go<Enter>");
    assert_eq!(play.last_call()["params"]["text"], "go");
    assert_eq!(play.last_call()["params"]["attachments"], json!([]));
}

#[test]
fn enter_queues_and_ctrl_s_steers_while_it_works() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.keys("next<Enter>");
    assert_eq!(play.last_call()["method"], "chat.start");
    play.keys("other way<C-s>");
    assert_eq!(
        play.last_call(),
        json!({"method": "chat.steer", "params": {"task": "t1", "text": "other way"}})
    );
    play.say(json!({"type": "steered", "text": "other way"}));
    let frame = play.frame();
    assert!(frame.contains("queued 1: next") && frame.contains("» other way"), "{frame}");
}

#[test]
fn escape_stops_at_once_and_twice_takes_the_queue_back() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.keys("next<Enter>");
    play.answer(json!({"task": "t2", "session": "s1"}));
    play.keys("<Esc>");
    assert_eq!(play.last_call(), json!({"method": "chat.abort", "params": {"task": "t1"}}));
    play.now += 300;
    play.keys("<Esc>");
    assert_eq!(play.last_call(), json!({"method": "chat.abort", "params": {"task": "t2"}}));
    assert_eq!(play.state.editor.text(), "next");
    play.now += 5_000;
    play.keys("<Esc>");
    assert_eq!(play.state.editor.text(), "next");
    play.now += 300;
    play.keys("<Esc>");
    assert!(play.state.editor.is_empty());
}

#[test]
fn a_prompt_that_is_taken_back_before_its_task_is_known_is_stopped() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.keys("next<Enter>");
    let id = play.sent.last().map(|request| request.id);
    play.keys("<A-Up>");
    assert_eq!(play.state.editor.text(), "next");
    play.answer_to(id, json!({"task": "t2", "session": "s1"}));
    assert_eq!(play.last_call(), json!({"method": "chat.abort", "params": {"task": "t2"}}));
}

#[test]
fn ctrl_c_leaves_the_second_time() {
    let mut play = Play::new(80, 24);
    play.keys("words<C-c>");
    assert!(play.state.editor.is_empty() && play.effects.is_empty());
    play.now += 500;
    play.keys("<C-c>");
    assert_eq!(play.effects, [Effect::Quit]);
}

fn request_approval(play: &mut Play) {
    play.say(json!({
        "type": "approval.request", "approval": "a1", "call": "c1", "tool": "run", "summary": "Run it",
        "touches": [], "is_diff_cut": false, "command": "make",
    }));
}

#[test]
fn questions_are_answered_by_their_keys() {
    let cases = [
        ("y", json!({"approval": "a1", "answer": "once"})),
        ("s", json!({"approval": "a1", "answer": "session"})),
        ("n", json!({"approval": "a1", "answer": "deny", "reason": ""})),
        ("enot yet<Enter>", json!({"approval": "a1", "answer": "deny", "reason": "not yet"})),
    ];
    for (keys, expected) in cases {
        let mut play = Play::new(80, 24);
        play.work("Go");
        request_approval(&mut play);
        play.wait(600);
        play.keys(keys);
        assert_eq!(
            play.last_call(),
            json!({"method": "approval.answer", "params": expected}),
            "{keys}"
        );
        assert!(play.state.approvals.is_empty());
    }
}

/// If a question appears while the user is typing a word, the remaining letters must not answer it.
#[test]
fn typing_does_not_answer_a_question_that_comes_up() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.now += 10_000;
    play.keys("wh");
    request_approval(&mut play);
    for letter in ["y", "s", "n", "e"] {
        play.now += 120;
        play.keys(letter);
    }
    assert!(!play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
    assert_eq!(play.state.editor.text(), "whysne");
    let keys = "y once";
    assert!(!play.frame().contains(keys), "they do not answer yet");
    assert_eq!(play.state.next_change(), Some(play.now + 500));
    play.wait(500);
    assert!(play.frame().contains(keys));
    play.keys("y");
    assert!(play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
}

/// Keys buffered by the terminal while the screen was busy must not answer a question that was not
/// yet visible.
#[test]
fn keys_typed_before_a_question_was_drawn_do_not_answer_it() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.frame();
    request_approval(&mut play);
    play.now += 10_000;
    play.keys("y");
    assert!(!play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
    play.frame();
    play.keys("ys");
    assert!(!play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
    play.wait(500);
    play.keys("y");
    assert!(play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
}

#[test]
fn a_long_command_is_allowed_only_when_its_end_was_on_the_screen() {
    let lines: Vec<String> = (0..60).map(|n| format!("echo {n}")).collect();
    for (key, answer) in [("y", "once"), ("s", "session")] {
        let mut play = Play::new(80, 24);
        play.work("Go");
        play.say(json!({
            "type": "approval.request", "approval": "a1", "call": "c1", "tool": "run", "summary": "Run it",
            "touches": ["starts a program"], "is_diff_cut": false, "command": lines.join("\n"),
        }));
        play.wait(600);
        let frame = play.frame();
        for shown in ["$ echo 0", "… 60 lines, shown in full below …", "echo 59", "End to the end"]
        {
            assert!(frame.contains(shown), "{shown}\n{frame}");
        }
        play.keys(key);
        assert!(!play.is_sent(|call| matches!(call, RpcCall::ApprovalAnswer { .. })));
        play.wait(600);
        play.keys("<End>");
        play.wait(600);
        assert!(play.frame().contains("end; press Up to see more"));
        play.keys(key);
        assert_eq!(play.last_call()["params"]["answer"], answer);
    }
}

#[test]
fn a_question_that_was_answered_elsewhere_goes() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    request_approval(&mut play);
    play.say(json!({"type": "approval.decided", "approval": "a1", "answer": {"answer": "deny"}, "by": "timeout"}));
    assert!(play.state.approvals.is_empty());
    assert!(play.frame().contains("Not allowed: the request timed out"));
}

#[test]
fn a_message_is_shown_once_and_a_missing_one_is_asked_for() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    let text = |text: &str| TaskUpdate::Text { text: text.to_owned() };
    play.message(4, text("one "));
    play.message(4, text("one "));
    play.message(6, text("three"));
    assert_eq!(
        play.last_call(),
        json!({"method": "task.follow", "params": {"task": "t1", "after": 4}})
    );
    play.message(5, text("two "));
    play.message(6, text("three"));
    assert!(play.frame().contains("one two three"));
}

#[test]
fn what_is_said_again_of_a_task_that_is_over_is_no_news() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.say(json!({"type": "task.cancelled", "by": "person"}));
    play.begin_task("t1");
    play.say(json!({"type": "task.accepted", "text": "Go"}));
    play.say(json!({"type": "task.running", "model": "m"}));
    assert!(play.state.turn.is_none() && play.state.prompts.is_empty());
}

#[test]
fn the_next_turn_waits_for_the_end_of_this_one() {
    let mut play = Play::new(80, 24);
    play.work("One");
    play.keys("Two<Enter>");
    play.answer(json!({"task": "t2", "session": "s1"}));
    play.begin_task("t2");
    play.say(json!({"type": "task.accepted", "text": "Two"}));
    play.say(json!({"type": "task.running", "model": "model-a"}));
    play.say(json!({"type": "text", "text": "Second."}));
    assert_eq!(play.state.turn.as_ref().unwrap().task, "t1");
    play.wait(1_500);
    play.begin_task("t1");
    let usage = json!({"input": 1, "output": 1, "context": 1, "window": 10, "cost_usd": null});
    let end = json!({"type": "task.completed", "signal": "done", "reason": null, "text": "", "changed": [], "usage": usage});
    play.message(4, serde_json::from_value(end).unwrap());
    assert_eq!(play.state.turn.as_ref().unwrap().task, "t2");
    let frame = play.frame();
    let at = |text: &str| frame.find(text).unwrap_or_else(|| panic!("{text}: {frame}"));
    assert!(at("Done in") < at("> Two") && at("> Two") < at("Second."), "{frame}");
}

#[test]
fn words_that_are_void_go() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.say(json!({"type": "text", "text": "wrong words"}));
    play.say(json!({"type": "text.replaced", "text": "right words"}));
    let frame = play.frame();
    assert!(frame.contains("right words") && !frame.contains("wrong"), "{frame}");
}

#[test]
fn messages_of_another_session_are_not_shown() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.state.session.as_mut().unwrap().id = "s2".to_owned();
    play.say(json!({"type": "text", "text": "not here"}));
    assert!(!play.frame().contains("not here"));
}

#[test]
fn commands_send_their_requests() {
    let cases = [
        ("/new", json!({"method": "session.create"})),
        ("/resume ab", json!({"method": "session.get"})),
        ("/fork", json!({"method": "session.fork"})),
        ("/rename A title", json!({"method": "session.change"})),
        ("/sessions", json!({"method": "session.list"})),
        ("/search words", json!({"method": "session.search"})),
        ("/export", json!({"method": "session.export"})),
        ("/model big", json!({"method": "session.change"})),
        ("/policy full", json!({"method": "session.change"})),
        ("/undo", json!({"method": "chat.undo"})),
        ("/skills", json!({"method": "skill.list"})),
    ];
    for (command, expected) in cases {
        let mut play = Play::new(80, 24);
        play.keys(command);
        play.keys("<Enter>");
        assert_eq!(play.last_call()["method"], expected["method"], "{command}");
        assert!(play.state.editor.is_empty(), "{command}");
    }
}

#[test]
fn an_unknown_command_names_the_nearest_and_stays() {
    let mut play = Play::new(80, 24);
    let n_sent = play.sent.len();
    play.keys("/thmee dark<Enter>");
    assert!(play.frame().contains("Did you mean `/theme`?"));
    assert_eq!(play.state.editor.text(), "/thmee dark");
    assert_eq!(play.sent.len(), n_sent);
}

#[test]
fn a_skill_is_started_by_its_name() {
    let mut play = Play::new(80, 24);
    play.keys("/skills<Enter>");
    play.answer(json!({"skills": [{"name": "review", "description": "Reviews", "origin": "bundled", "path": null, "license": null, "allowed_tools": null}], "problems": []}));
    play.keys("<Esc>/review the last commit<Enter>");
    let sent = play.last_call();
    assert_eq!(sent["params"]["skill"], "review");
    assert_eq!(sent["params"]["text"], "the last commit");
}

#[test]
fn a_memory_is_opened_and_corrected_outside() {
    let mut play = Play::new(80, 24);
    play.work("Go");
    play.say(json!({"type": "memory", "recalled": [{"id": "m1", "title": "One"}, {"id": "m1", "title": "One"}]}));
    play.keys("/memory<Enter><Enter>e");
    let id = || "m1".to_owned();
    let expected = [Outside::OpenMemory { id: id() }, Outside::EditMemory { id: id() }];
    assert_eq!(play.effects, expected.map(Effect::Outside));
}

#[test]
fn an_export_is_kept_outside() {
    let mut play = Play::new(80, 24);
    play.keys("/export<Enter>");
    play.answer(json!({"session": "s1", "transcript": "{}\n"}));
    let action = Outside::SaveExport { session: "s1".to_owned(), transcript: "{}\n".to_owned() };
    assert_eq!(play.effects, [Effect::Outside(action)]);
}

#[test]
fn what_was_before_is_fetched_where_the_person_reads_up() {
    let mut play = Play::new(80, 24);
    let mut session = serde_json::to_value(super::play::session()).unwrap();
    session["items"] = json!(5_000);
    play.keys("/resume<Enter>");
    play.answer(json!({"session": session}));
    assert_eq!(play.last_call()["params"]["after"], 4_000);
    let items = |from: u64, to: u64| -> Vec<_> {
        (from..=to)
            .map(|n| json!({"sequence": n, "task": null, "at": "", "kind": "notice", "text": format!("item {n}")}))
            .collect()
    };
    play.answer(json!({"session": session, "items": items(4_001, 5_000), "more": false}));
    play.frame();
    play.keys("<C-Home>");
    assert_eq!(play.last_call()["params"], json!({"session": "s1", "after": 3_800, "limit": 200}));
    play.answer(json!({"session": session, "items": items(3_801, 4_000), "more": true}));
    play.frame();
    play.keys("<PageUp>");
    let frame = play.frame();
    assert!(frame.contains("item 3999") && frame.contains("more below: Ctrl-End"), "{frame}");
}

#[test]
fn a_turn_that_runs_is_followed_from_its_beginning() {
    let mut play = Play::new(80, 24);
    let mut session = serde_json::to_value(super::play::session()).unwrap();
    session["items"] = json!(2);
    session["running"] = json!("t9");
    play.keys("/resume<Enter>");
    play.answer(json!({"session": session}));
    let items = [
        json!({"sequence": 1, "task": "t8", "at": "", "kind": "user", "text": "before"}),
        json!({"sequence": 2, "task": "t9", "at": "", "kind": "user", "text": "now"}),
    ];
    play.answer(json!({"session": session, "items": items, "more": false}));
    assert_eq!(
        play.last_call(),
        json!({"method": "task.follow", "params": {"task": "t9", "after": 0}})
    );
    play.begin_task("t9");
    play.say(json!({"type": "task.accepted", "text": "now"}));
    play.say(json!({"type": "task.running", "model": "m"}));
    let frame = play.frame();
    assert_eq!(frame.matches("> now").count(), 1, "{frame}");
    assert!(frame.contains("> before") && frame.contains("working"), "{frame}");
}
