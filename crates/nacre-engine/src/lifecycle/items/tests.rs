//! Tests that items are read back as they were written, and that an interrupted conversation can
//! still be sent to a model.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::lifecycle::{Conversation, Exchange, KeptResult, Turn};
use crate::model::{Content, Message, Reasoning, Speaker, ToolCall, ToolResult};
use crate::record::{Signal, TaskState};

impl Conversation {
    /// Returns the items that a run writes for this conversation, oldest first.
    pub(crate) fn to_items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self.summary.clone().map(Item::Summary).into_iter().collect();
        let mut n_before = self.summary.as_ref().map_or(0, |summary| summary.n_steps);
        for turn in &self.turns {
            items.push(turn.opening_item());
            for (idx, step) in turn.steps.iter().enumerate() {
                items.extend(step.to_items((n_before + turn.steps_left_out + idx + 1) as u32));
            }
            items.extend(turn.interrupted.clone().map(|text| Item::Interrupted { text }));
            items.extend(turn.end.clone().map(Item::End));
            n_before = 0;
        }
        items
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-z \n\"{}é]{0,20}"
}

fn content(call: String) -> impl Strategy<Value = Content> {
    let arguments = prop_oneof![
        text().prop_map(|text| Arguments::Object(json!({ "path": text, "n": 1 }))),
        text().prop_map(|text| Arguments::Malformed { text, error: "no JSON".to_owned() }),
    ];
    prop_oneof![
        text().prop_map(Content::Text),
        (text(), proptest::option::of(text()))
            .prop_map(|(text, signature)| Content::Reasoning(Reasoning { text, signature })),
        text().prop_map(Content::HiddenReasoning),
        (arguments, 0..3_u8).prop_map(move |(arguments, n)| {
            // Some models give several calls the same ID.
            let id = if n == 0 { "call".to_owned() } else { format!("{call}-{n}") };
            Content::ToolUse(ToolCall { id, name: "file_read".to_owned(), arguments })
        }),
    ]
}

fn exchange(number: usize) -> impl Strategy<Value = Exchange> {
    let said = proptest::collection::vec(content(format!("c{number}")), 1..5);
    let result = (text(), any::<bool>(), proptest::option::of(text()));
    let results = proptest::collection::vec(result, 5);
    let words = (proptest::option::of(text()), proptest::collection::vec(text(), 0..3));
    (said, results, words, any::<bool>()).prop_map(
        |(content, results, (remark, steered), named)| {
            let model = named.then(ModelRef::for_script);
            let said = Message { speaker: Speaker::Assistant, content, model };
            let mut exchange = Exchange { remark, steered, ..Exchange::new(said) };
            let calls: Vec<ToolCall> = exchange.calls().cloned().collect();
            for (call, (text, is_done, spill)) in calls.iter().zip(results) {
                let status = if is_done { ToolStatus::Done } else { ToolStatus::Failed };
                let result = ToolResult { call_id: call.id.clone(), text, status };
                exchange.results.push(KeptResult::new(result, call, spill));
            }
            exchange
        },
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    let steps = (0..4_usize).prop_flat_map(|n| (0..n).map(exchange).collect::<Vec<_>>());
    let attachment = (text(), text()).prop_map(|(name, text)| Attachment::text(name, text));
    let state = proptest::sample::select(TaskState::all());
    let end =
        (state, proptest::option::of(text())).prop_map(|(state, text)| TurnEnd { state, text });
    let attachments = proptest::collection::vec(attachment, 0..3);
    let ends = (proptest::option::of(text()), proptest::option::of(end));
    (text(), attachments, steps, ends).prop_map(
        |(asked, attachments, steps, (interrupted, end))| Turn {
            attachments,
            steps,
            interrupted,
            end,
            ..Turn::new(&asked)
        },
    )
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let summary = (text(), 0..9_usize, 0..9_usize);
    let summary = summary.prop_map(|(text, n_turns, n_steps)| Summary { text, n_turns, n_steps });
    (proptest::collection::vec(turn(), 0..5), proptest::option::of(summary))
        .prop_map(|(turns, summary)| Conversation { turns, turns_left_out: 0, summary })
}

fn stored(items: &[Item]) -> Vec<Item> {
    items
        .iter()
        .map(|item| {
            let new = item.to_new();
            assert!(!new.kind.is_empty());
            Item::from_json(&new.json)
        })
        .collect()
}

/// Checks that a model accepts the messages: the user and the model alternate, and every call has a
/// result.
fn check_messages(conversation: &Conversation) {
    let messages = conversation.messages();
    for pair in messages.windows(2) {
        assert_ne!((pair[0].speaker, pair[1].speaker), (Speaker::User, Speaker::User));
        let mut calls: Vec<&str> = Vec::new();
        let mut results: Vec<&str> = Vec::new();
        for content in &pair[0].content {
            if let Content::ToolUse(call) = content {
                calls.push(&call.id);
            }
        }
        for content in &pair[1].content {
            if let Content::ToolResult(result) = content {
                results.push(&result.call_id);
            }
        }
        calls.sort_unstable();
        results.sort_unstable();
        assert_eq!(calls, results);
    }
}

proptest! {
    #[test]
    fn a_conversation_comes_back_as_it_was(conversation in conversation()) {
        let items = conversation.to_items();
        let read = Conversation::from_items(stored(&items));
        prop_assert_eq!(&read, &conversation);
        prop_assert_eq!(read.to_items(), items);
    }

    #[test]
    fn items_that_stop_anywhere_are_a_conversation(
        conversation in conversation(),
        at in any::<proptest::sample::Index>(),
        noise in proptest::collection::vec((any::<proptest::sample::Index>(), 0..3_u8), 0..4),
    ) {
        let mut items = conversation.to_items();
        for (at, which) in noise {
            let other = match which {
                0 => Item::Unknown,
                1 => Item::Notice { text: "Something.".to_owned() },
                _ => Item::Checklist { items: json!([]) },
            };
            items.insert(at.index(items.len() + 1), other);
        }
        items.truncate(at.index(items.len() + 1));
        let read = Conversation::from_items(stored(&items));
        check_messages(&read);
        let again = Conversation::from_items(read.to_items());
        prop_assert_eq!(again, read);
    }
}

fn user(text: &str) -> Item {
    Item::User { text: text.to_owned(), attachments: Vec::new() }
}

fn said(step: u32, text: &str) -> Item {
    Item::Assistant { step, model: None, text: text.to_owned() }
}

#[test]
fn a_summary_takes_the_place_of_what_it_covers() {
    let summary = |n_turns, n_steps| {
        Item::Summary(Summary { text: format!("sum {n_turns} {n_steps}"), n_turns, n_steps })
    };
    let mut items = vec![user("one"), said(1, "a"), user("two"), said(1, "b"), user("three")];
    items.extend([said(1, "c"), summary(2, 0), said(2, "d"), said(3, "e")]);
    let shown = |items: &[Item]| {
        let read = Conversation::from_items(items.to_vec());
        read.to_items()
            .iter()
            .map(|item| item.to_new().json["text"].to_string())
            .collect::<String>()
    };
    assert_eq!(shown(&items), r#""sum 2 0""three""c""d""e""#);
    items.push(summary(2, 2));
    assert_eq!(shown(&items), r#""sum 2 2""three""e""#);
    items.extend([said(4, "f"), user("four"), said(1, "g"), said(2, "h"), summary(3, 1)]);
    assert_eq!(shown(&items), r#""sum 3 1""four""h""#);
}

#[test]
fn reasoning_that_lost_a_secret_is_not_sent_back() {
    let reasoning = |text: &str, signature: Option<&str>| Item::Reasoning {
        step: 1,
        model: None,
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    for (item, is_kept) in [
        (reasoning("plain", Some("proof")), true),
        (reasoning("uses [redacted:key]", None), true),
        (reasoning("uses [redacted:key]", Some("proof")), false),
        (reasoning("plain", Some("[redacted:key]")), false),
        (Item::HiddenReasoning { step: 1, model: None, data: "[redacted:key]".to_owned() }, false),
    ] {
        let read = Conversation::from_items([user("q"), item.clone(), said(1, "a")]);
        assert_eq!(read.turns[0].steps[0].said.content.len() == 2, is_kept, "{item:?}");
    }
}

#[test]
fn an_item_that_nobody_here_wrote_is_passed_over() {
    for json in [json!({ "kind": "hologram", "text": "x" }), json!({ "kind": "user" }), json!(3)] {
        assert_eq!(Item::from_json(&json), Item::Unknown, "{json}");
    }
    let end = TurnEnd { state: TaskState::Completed { signal: Signal::Done }, text: None };
    let json = json!({ "kind": "end", "state": "completed", "signal": "done" });
    assert_eq!(Item::End(end).to_new().json, json);
}
