//! Tests that every plan fits, keeps related messages together, and notes what it omits.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{
    Arguments, Content, Message, ModelRef, Reasoning, Speaker, ToolCall, ToolResult, ToolStatus,
};

fn call(id: &str) -> ToolCall {
    let arguments = Arguments::Object(json!({ "path": "src/main.rs" }));
    ToolCall { id: id.to_owned(), name: "file_read".to_owned(), arguments }
}

fn exchange(id: &str, reasoning: usize, result: usize, spill: Option<&str>) -> Exchange {
    let call = call(id);
    let reasoning = Reasoning { text: "r".repeat(reasoning), signature: None };
    let said = Message {
        speaker: Speaker::Assistant,
        content: vec![Content::Reasoning(reasoning), Content::ToolUse(call.clone())],
        model: Some(ModelRef::for_script()),
    };
    let text = "x".repeat(result);
    let result = ToolResult { call_id: id.to_owned(), text, status: ToolStatus::Done };
    let kept = KeptResult::new(result, &call, spill.map(str::to_owned));
    Exchange { results: vec![kept], ..Exchange::new(said) }
}

fn turn(asked: &str, steps: Vec<Exchange>) -> Turn {
    Turn { steps, ..Turn::new(asked) }
}

/// Formats the conversation with one line per message. Long runs of the same letter are replaced by
/// their length.
fn shown(plan: &ContextPlan) -> String {
    let line = |message: &Message| {
        let parts: Vec<String> = message
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => text.clone(),
                Content::Reasoning(reasoning) => format!("r{}", reasoning.text.len()),
                Content::HiddenReasoning(_) => "hidden".to_owned(),
                Content::ToolUse(call) => format!("call {}", call.id),
                Content::ToolResult(result) if result.text.starts_with('x') => {
                    format!("x{}", result.text.len())
                }
                Content::ToolResult(result) => result.text.clone(),
                Content::Image(image) => image.media_type.clone(),
            })
            .collect();
        parts.join(" | ")
    };
    plan.conversation.messages().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn two_turns() -> Conversation {
    let first = turn("one", vec![exchange("a", 300, 3000, None), exchange("b", 300, 3000, None)]);
    let second = turn(
        "two",
        vec![exchange("c", 300, 3000, Some("/spill/c.txt")), exchange("d", 300, 3000, None)],
    );
    Conversation { turns: vec![first, second], ..Conversation::default() }
}

#[test]
fn what_fits_is_left_as_it_is() {
    let all = two_turns();
    let planned = plan(all.clone(), 10_000).unwrap();
    assert_eq!((planned.conversation, planned.shortened, planned.dropped), (all, 0, 0));
}

#[test]
fn old_reasoning_goes_before_old_results_and_those_before_old_turns() {
    let planned = plan(two_turns(), 4550).unwrap();
    assert_eq!(
        shown(&planned),
        "one\ncall a\n[result of `file_read`, 3000 bytes, left out; call the tool again if you need it]\n\
         call b\nx3000 | two\nr300 | call c\nx3000\nr300 | call d\nx3000"
    );
    let planned = plan(two_turns(), 3100).unwrap();
    assert_eq!(
        shown(&planned),
        "[1 earlier turn was left out here to save room.] | two\nr300 | call c\nx3000\nr300 | call d\nx3000"
    );
}

#[test]
fn the_turn_in_progress_keeps_its_question_and_its_last_result_longest() {
    let planned = plan(two_turns(), 1800).unwrap();
    assert_eq!(
        shown(&planned),
        "[1 earlier turn was left out here to save room.] | two\nr300 | call c\n\
         [result of `file_read`, 3000 bytes, left out; the full text is in `/spill/c.txt`]\nr300 | call d\nx3000"
    );
    let planned = plan(two_turns(), 300).unwrap();
    assert_eq!(
        shown(&planned),
        "[1 earlier turn was left out here to save room.] | two | [1 earlier step was left out here to save room.]\n\
         r300 | call d\n[result of `file_read`, 3000 bytes, left out; call the tool again if you need it]"
    );
    assert!(plan(two_turns(), 100).is_err());
}

fn calls_in(message: &Message) -> Vec<&str> {
    let mut ids = Vec::new();
    for content in &message.content {
        if let Content::ToolUse(call) = content {
            ids.push(call.id.as_str());
        }
    }
    ids
}

fn results_in(message: &Message) -> Vec<&str> {
    let mut ids = Vec::new();
    for content in &message.content {
        if let Content::ToolResult(result) = content {
            ids.push(result.call_id.as_str());
        }
    }
    ids
}

fn any_conversation() -> impl Strategy<Value = Conversation> {
    let step = (0_usize..900, 0_usize..9000, any::<bool>());
    let turn = (1_usize..2000, proptest::collection::vec(step, 0..6));
    proptest::collection::vec(turn, 1..8).prop_map(|turns| {
        let mut n_calls = 0;
        let mut all = Conversation::default();
        for (asked, steps) in turns {
            let mut one = Turn::new(&"q".repeat(asked));
            for (reasoning, result, has_spill) in steps {
                n_calls += 1;
                let spill = has_spill.then_some("/spill/some.txt");
                one.steps.push(exchange(&format!("call_{n_calls}"), reasoning, result, spill));
            }
            all.turns.push(one);
        }
        all
    })
}

proptest! {
    #[test]
    fn a_plan_fits_and_keeps_pairs_together(all in any_conversation(), room in 50_usize..20_000) {
        let Ok(planned) = plan(all.clone(), room) else { return Ok(()) };
        let cut = &planned.conversation;
        prop_assert!(cut.tokens() <= room);
        prop_assert_eq!(cut.tokens(), planned.tokens);
        // Every call is directly followed by its result, and every result has a call.
        let messages = cut.messages();
        for (number, message) in messages.iter().enumerate() {
            let results = messages.get(number + 1).map(|next| results_in(next)).unwrap_or_default();
            prop_assert_eq!(calls_in(message), results);
        }
        // The plan keeps complete turns from the end of the conversation and counts the ones it
        // omits.
        prop_assert_eq!(cut.turns.len() + cut.turns_left_out, all.turns.len());
        for (kept, whole) in cut.turns.iter().rev().zip(all.turns.iter().rev()) {
            prop_assert_eq!(&kept.asked, &whole.asked);
            prop_assert_eq!(kept.steps.len() + kept.steps_left_out, whole.steps.len());
        }
        for old in cut.turns.iter().rev().skip(1) {
            prop_assert_eq!(old.steps_left_out, 0);
        }
    }

    #[test]
    fn a_plan_is_the_same_every_time_and_needs_no_second_one(
        all in any_conversation(),
        room in 50_usize..20_000,
    ) {
        let once = plan(all.clone(), room);
        prop_assert_eq!(&once, &plan(all, room));
        if let Ok(once) = once {
            let twice = plan(once.conversation.clone(), room).unwrap();
            prop_assert_eq!(twice.conversation, once.conversation);
            prop_assert_eq!(twice.shortened + twice.dropped, 0);
        }
    }
}
