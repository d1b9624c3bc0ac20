//! All adapters against hostile and growing traces.

use proptest::prelude::*;

use super::adapter::{Adapter, Watermark};
use super::claude::Claude;
use super::codex::Codex;
use super::generic::Generic;
use super::testing::{TestTrace, read, show};

const CLAUDE: &str = r#"{"type":"summary","summary":"Tabs","leafUuid":"l"}
{"parentUuid":null,"isSidechain":false,"cwd":"/p","sessionId":"s","version":"2.1","gitBranch":"main","type":"user","message":{"role":"user","content":"<system-reminder>x</system-reminder>\nUse tabs \ud83d\ude00"},"uuid":"u1","timestamp":"2026-03-01T10:00:00.000Z"}
{"parentUuid":"u1","type":"assistant","message":{"id":"m","model":"c","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"AskUserQuestion","input":{"a":[1,2]}}],"usage":{"input_tokens":1,"output_tokens":2}},"uuid":"a1","timestamp":"2026-03-01T10:00:01.000Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"y"}],"is_error":true}]},"toolUseResult":{"answers":{"q":"yes"},"annotations":{"q":{"notes":"n"}}},"uuid":"u2"}
{"type":"attachment","attachment":{"type":"queued_command","prompt":"later","commandMode":"prompt"},"uuid":"q1"}
{"type":"queue-operation","operation":"enqueue","content":[{"type":"text","text":"more"}]}
{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"},"uuid":"s1"}
"#;

const CODEX: &str = r#"{"timestamp":"2026-04-11T20:16:20.376Z","type":"session_meta","payload":{"id":"c","cwd":"/p","source":{"subagent":{"thread_spawn":{"parent_thread_id":"x"}}},"git":{"branch":"b"}}}
{"timestamp":"2026-04-11T20:16:20.380Z","type":"session_meta","payload":{"id":"parent"}}
{"timestamp":"2026-04-11T20:16:21.000Z","type":"turn_context","payload":{"cwd":"/p","model":"m"}}
{"timestamp":"2026-04-11T20:16:22.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}
{"timestamp":"2026-04-11T20:16:22.000Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}
{"timestamp":"2026-04-11T20:16:23.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"2026-04-11T20:16:23.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}}
{"timestamp":"2026-04-11T20:16:24.000Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"ok"}]}}}
{"timestamp":"2026-04-11T20:16:25.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":9},"last_token_usage":{"input_tokens":5}}}}
{"timestamp":"2026-04-11T20:16:26.000Z","type":"compacted","payload":{"message":"","replacement_history":[]}}
{"timestamp":"2026-04-11T20:16:27.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":3}}
"#;

const GENERIC: &str = r#"{"type":"session","version":1,"id":"g","agent":"cursor","cwd":"/p","models":["m"],"links":[{"kind":"parent","session":"x","call":null}]}
{"type":"user","text":"hi","time":"2026-01-31T12:00:00Z","place":{"row":{"key":"k"}},"lane":"sidechain"}
{"role":"assistant","content":[{"type":"text","text":"ok"}]}
{"type":"tool_call","text":"{}","tool":"Bash","call":"c","origin":"injected","reason":"nacre"}
{"type":"end","tokens":{"input":1,"output":2,"cached":0,"cache_write":0,"reasoning":0},"undone":[{"from":0,"to":1}],"ending":"finished"}
"#;

fn adapters() -> [(&'static dyn Adapter, &'static str, &'static str); 4] {
    [
        (&Claude, "agent-x.jsonl", CLAUDE),
        (&Codex, "rollout-x.jsonl", CODEX),
        (&Codex, "rollout-x.json", CODEX),
        (&Generic, "x.jsonl", GENERIC),
    ]
}

/// One change of a trace's bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Copy(prop::sample::Index, prop::sample::Index, u8),
    Truncate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..6),
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\\",
            "\\u",
            "\\ud83d",
            "null",
            "1e9",
            "\n",
            "\0",
            "<system-reminder>"
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 1_u8..60).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (at(), at(), 1_u8..90).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        at().prop_map(Change::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: Change) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match change {
        Change::Set(at, byte) => bytes[at.index(length)] = byte,
        Change::Remove(at, count) => {
            let start = at.index(length);
            bytes.drain(start..(start + usize::from(count)).min(length));
        }
        Change::Insert(at, piece) => {
            let start = at.index(length);
            bytes.splice(start..start, piece);
        }
        Change::Copy(from, to, count) => {
            let start = from.index(length);
            let piece = bytes[start..(start + usize::from(count)).min(length)].to_vec();
            let to = to.index(length);
            bytes.splice(to..to, piece);
        }
        Change::Truncate(at) => bytes.truncate(at.index(length)),
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for (adapter, name, _) in adapters() {
            let _ = read(adapter, name, &bytes);
        }
    }

    #[test]
    fn changed_traces_never_panic(changes in prop::collection::vec(change(), 1..8)) {
        for (adapter, name, content) in adapters() {
            let mut bytes = content.as_bytes().to_vec();
            for change in changes.clone() {
                apply(&mut bytes, change);
            }
            let (events, outcome) = read(adapter, name, &bytes);
            prop_assert!(events.iter().enumerate().all(|(at, event)| event.sequence == at as u64));
            prop_assert!(outcome.report.bad_lines <= outcome.report.lines);
        }
    }

    #[test]
    fn a_trace_that_grows_while_it_is_read_gives_every_line_once(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        for (adapter, name, content) in [adapters()[0], adapters()[1], adapters()[3]] {
            let expected = read(adapter, name, content);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(content.len())).collect();
            cuts.push(content.len());
            cuts.sort_unstable();
            let trace = TestTrace::new(name, "");
            let (mut shown, mut mark, mut end): (String, Option<Watermark>, usize) = Default::default();
            let mut facts = None;
            for cut in cuts {
                trace.append(&content.as_bytes()[end..cut]);
                end = cut;
                let (events, outcome) = trace.read(adapter, mark.as_ref());
                shown.push_str(&show(&events));
                facts = Some(outcome.facts);
                mark = outcome.watermark;
            }
            prop_assert_eq!(shown, show(&expected.0));
            prop_assert_eq!(facts, Some(expected.1.facts));
        }
    }
}

#[test]
fn a_megabyte_of_anything_is_read_at_once() {
    let broken_line = "{\"type\":\"user\",".repeat(70_000);
    let quotes = "{\"".repeat(500_000);
    let nested = "[".repeat(1_000_000);
    let tags = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}",
        "<system-reminder>".repeat(60_000)
    );
    let escapes =
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}", "\\\\".repeat(500_000));
    for content in [broken_line, quotes, nested, tags, escapes] {
        for (adapter, name, _) in adapters() {
            let (events, _) = read(adapter, name, format!("{content}\n"));
            assert!(events.len() <= 2);
        }
    }
}
