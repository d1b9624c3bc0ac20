//! Tests every adapter on hostile and growing traces.

mod connection;
mod samples;
mod strangers;
mod stream;

use crate::transcript::tests::*;
use crate::transcript::toolkit::*;
use proptest::prelude::*;

use super::ADAPTERS;
use super::aider::Aider;
use super::claude::Claude;
use super::cline::Cline;
use super::codex::Codex;
use super::continue_dev::Continue;
use super::copilot::Copilot;
use super::droid::Droid;
use super::gemini::Gemini;
use super::generic::Generic;
use super::opencode::OpenCode;
use super::pi::Pi;
use super::qwen::Qwen;

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

/// Tool output from which the parser derives more than text: the author, a failure, or the user's
/// words.
const TELLING_CLAUDE: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"nacre memory list"}},{"type":"tool_use","id":"t2","name":"mcp__nacre__search","input":{}},{"type":"tool_use","id":"t3","name":"Read","input":{"path":"\u006eacre"}}]},"uuid":"a1","timestamp":"2026-03-01T10:00:01.000Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a\nb"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"c"},{"type":"image"}]},{"type":"tool_result","tool_use_id":"t3","content":"\u003cnacre-brief>d"}]},"uuid":"u1"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t4","content":"<\u006eacre-brief>e"},{"type":"tool_result","tool_use_id":"t5","content":[{"type":"text","text":"<nacre-brief>f"}]}]},"uuid":"u2"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t6","is_error":true,"content":"The user doesn't want to proceed. the user said:\nUse tabs\u0021"},{"type":"tool_result","tool_use_id":"t7","content":[{"type":"text","text":"\u0054he user doesn\u0027t want to proceed. the user said:\nUse spaces"}]},{"type":"tool_result","tool_use_id":"t8","content":"\u001b[1mThe user doesn't want to\u001b[0m the user said: no"}]},"uuid":"u3"}
{"type":"attachment","attachment":{"type":"hook_success","content":"\u00a0 \n","stdout":"\u003cnacre-brief>g"},"uuid":"h1"}
{"type":"attachment","attachment":{"type":"hook_success","content":"  h"},"uuid":"h2"}
{"type":"attachment","attachment":{"type":"hook_error","content":["<nacre-brief>i"]},"uuid":"h3"}
{"type":"attachment","attachment":{"type":"file","content":"plain \"j\""},"uuid":"h4"}
{"type":"system","subtype":"local_command","content":"<command-args>k</command-args>","uuid":"s1"}
{"type":"system","subtype":"informational","content":"\n","uuid":"s2"}
{"type":"system","subtype":"away_summary","content":"l","uuid":"s3"}
{"type":"odd","text":"\u0041"}
"#;

const TELLING_CODEX: &str = r#"{"timestamp":"2026-04-11T20:16:20.376Z","type":"session_meta","payload":{"id":"c","cwd":"/p"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"nacre memory list\"]}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\u0022command\":[\"\u006eacre memory list\"]}","call_id":"c2"}}
{"type":"response_item","payload":{"type":"function_call","name":"request_user_input","arguments":"{}","call_id":"c3"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Exit code: 1\nOutput:\nx"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"Chunk ID: 1\nWall time: 2\nProcess exited with code 3\nOutput:\n"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"{\"answers\":{\"q\":{\"answers\":[\"Use tabs\"]}}}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c4","output":"{\"output\":\"a \\\"b\\\\\\\"\\n\\\\\",\"metadata\":{\"exit_code\":2}}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c5","output":"{\"output\":\"\\u0045xit code: 4\",\"metadata\":{\"exit_code\":0}}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c6","output":"{\"output\":\"Exit code: 0\\nx\",\"metadata\":{\"exit_code\":0},\"output\":\"execution error\"}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c7","output":"{\"output\":\"<nacre-brief>\"}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c8","output":"{\"output\":\"torn"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c9","output":[{"type":"input_text","text":"Exit code: 1\n"},{"type":"input_text","text":"\u003cnacre-brief>"}]}}
{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin\n+\"x\"","call_id":"d1"}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"d1","output":{"content":"failed in sandbox","success":false}}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions>x</permissions>"}]}}
{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm \u0021"}]}}
{"type":"event_msg","payload":{"type":"agent_reasoning","text":"hm !"}}
{"type":"event_msg","payload":{"type":"agent_message","message":"done \"a\""}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done \"a\""}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done \u0022a\""}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":" \n"}]}}
{"type":"event_msg","payload":{"type":"agent_message","message":" \n"}}
{"type":"compacted","payload":{"message":"so \"far\""}}
{"type":"event_msg","payload":{"type":"error","message":"no \"more\""}}
"#;

type Sample = (&'static dyn Adapter, &'static str, &'static str);

/// Samples in formats that can be read incrementally.
fn growing() -> Vec<Sample> {
    vec![
        (&Claude, "agent-x.jsonl", CLAUDE),
        (&Codex, "rollout-x.jsonl", CODEX),
        (&Generic, "x.jsonl", GENERIC),
        (&Qwen, "x.jsonl", samples::QWEN),
        (&Copilot, "events.jsonl", samples::COPILOT),
        (&Pi, "t_x.jsonl", samples::PI),
        (&Droid, "x.jsonl", samples::DROID),
    ]
}

/// Samples in formats that are always read completely.
fn whole() -> Vec<Sample> {
    vec![
        (&Gemini, "session-x.jsonl", samples::GEMINI),
        (&Gemini, "session-x.json", samples::GEMINI),
        (&Cline, "s1.messages.json", samples::CLINE),
        (&Continue, "s1.json", samples::CONTINUE),
        (&Aider, ".aider.chat.history.md", samples::AIDER),
    ]
}

fn adapters() -> Vec<Sample> {
    growing().into_iter().chain(whole()).collect()
}

/// The tests below would miss an adapter without a sample. Database adapters have separate tests.
#[test]
fn every_adapter_has_a_name_and_a_sample() {
    for agent in ADAPTERS.iter().map(|adapter| adapter.agent()) {
        assert_eq!(Agent::from_name(agent.as_str()), Some(agent));
        let has_sample = adapters().iter().any(|(adapter, ..)| adapter.agent() == agent);
        assert!(
            has_sample || matches!(agent, Agent::Cursor | Agent::OpenCode),
            "`{}` is in neither `growing` nor `whole`",
            agent.as_str()
        );
        assert!(
            strangers::has_trace_of(agent) || agent == Agent::Generic,
            "`{}` is not in `HOSTING` of tests/strangers.rs",
            agent.as_str()
        );
    }
    assert_eq!(Agent::from_name("emacs"), None);
}

/// Removes the event's text if the given detail level does not include it.
fn given(detail: Detail, event: &TranscriptEvent) -> TranscriptEvent {
    let text = match event.kind {
        kind if detail.wants(kind) => event.text.clone(),
        _ => BoundedText::default(),
    };
    TranscriptEvent { text, ..event.clone() }
}

/// Reads a trace at both detail levels. Only text that `Said` omits may differ.
fn check_details(adapter: &dyn Adapter, name: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    let trace = TestTrace::new(name, bytes);
    let (whole, mut outcome) = trace.read_detail(adapter, None, Detail::Everything);
    let (said, said_outcome) = trace.read_detail(adapter, None, Detail::Said);
    let whole: Vec<TranscriptEvent> =
        whole.iter().map(|event| given(Detail::Said, event)).collect();
    let is_bare = |event: &&TranscriptEvent| !Detail::Said.wants(event.kind);
    prop_assert!(said.iter().filter(is_bare).all(|event| event.text.is_empty()));
    let said: Vec<TranscriptEvent> = said.iter().map(|event| given(Detail::Said, event)).collect();
    prop_assert_eq!(said, whole);
    outcome.report.cut_texts = said_outcome.report.cut_texts;
    prop_assert_eq!(said_outcome, outcome);
    Ok(())
}

fn telling() -> [(&'static dyn Adapter, &'static str, &'static str); 2] {
    [(&Claude, "x.jsonl", TELLING_CLAUDE), (&Codex, "rollout-x.jsonl", TELLING_CODEX)]
}

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
    fn what_was_said_is_the_same_in_either_detail(changes in prop::collection::vec(change(), 0..6)) {
        for (adapter, name, content) in adapters().into_iter().chain(telling()) {
            let mut bytes = content.as_bytes().to_vec();
            for change in changes.clone() {
                apply(&mut bytes, change);
            }
            check_details(adapter, name, &bytes)?;
        }
    }

    #[test]
    fn a_trace_that_grows_while_it_is_read_gives_every_line_once(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        for (adapter, name, content) in growing() {
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

/// A truncated export may be unrecognizable and thus unreadable, so the general tests skip this
/// format.
#[test]
fn torn_exports_never_panic() {
    for end in (0..samples::EXPORT.len()).filter(|end| samples::EXPORT.is_char_boundary(*end)) {
        let trace = TestTrace::new("export.json", &samples::EXPORT[..end]);
        if end > 0 {
            let (events, outcome) = trace.read(&OpenCode, None);
            assert!(events.len() <= 6 && outcome.report.bad_lines <= outcome.report.lines);
        }
    }
}

/// Every adapter must mark calls to Nacre's tools, and their results, as Nacre's own text.
#[test]
fn answers_of_our_own_are_not_the_tools() {
    let samples: &[Sample] = &[
        (&Gemini, "session-x.jsonl", samples::GEMINI),
        (&Qwen, "x.jsonl", samples::QWEN),
        (&Copilot, "events.jsonl", samples::COPILOT),
        (&Pi, "t_x.jsonl", samples::PI),
        (&Droid, "x.jsonl", samples::DROID),
        (&Cline, "s1.messages.json", samples::CLINE),
        (&Continue, "s1.json", samples::CONTINUE),
        (&OpenCode, "export.json", samples::EXPORT),
    ];
    for &(adapter, name, content) in samples {
        let shown = show(&read(adapter, name, content).0);
        let mut results = shown.lines().filter(|line| line.starts_with("tool_result"));
        assert!(
            results.next().is_some_and(|line| line.contains("injected.nacre")),
            "{name}: {shown}"
        );
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
            assert!(events.len() <= 2, "{name}");
        }
    }
}

#[test]
fn unwanted_texts_still_tell_whose_they_are() {
    for (adapter, name, content) in telling() {
        check_details(adapter, name, content.as_bytes()).unwrap();
    }
    let trace = TestTrace::new("x.jsonl", TELLING_CLAUDE);
    let (events, outcome) = trace.read_detail(&Claude, None, Detail::Said);
    let words: Vec<&str> = events
        .iter()
        .filter(|event| event.person().is_some())
        .map(|event| event.text.head())
        .collect();
    assert_eq!(words, ["Use tabs!", "Use spaces", "k"]);
    assert_eq!((outcome.facts.counts.injected, outcome.facts.counts.tool_results), (9, 3));
    let trace = TestTrace::new("rollout-x.jsonl", TELLING_CODEX);
    let (events, outcome) = trace.read_detail(&Codex, None, Detail::Said);
    let failed: Vec<&str> = events
        .iter()
        .filter(|event| event.is_error && event.kind == EventKind::ToolResult)
        .map(|event| event.call.as_ref().unwrap().id.as_str())
        .collect();
    assert_eq!(failed, ["c1", "c2", "c4", "c5", "c6", "c9", "d1"]);
    assert_eq!((outcome.facts.counts.injected, outcome.facts.counts.user), (5, 1));
    assert_eq!((outcome.facts.counts.assistant, outcome.report.repeated), (2, 2));
}

/// Nacre's own text, in every place where this agent records hook output.
const OWN_CLAUDE: &str = r#"{"type":"attachment","attachment":{"type":"hook_additional_context","content":["<nacre-brief>\nUse spaces\n</nacre-brief>"],"hookName":"SessionStart","hookEvent":"SessionStart"},"uuid":"h1","cwd":"/p","sessionId":"s","timestamp":"2026-03-01T10:00:00.000Z"}
{"type":"user","message":{"role":"user","content":"<nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs"},"uuid":"u1","timestamp":"2026-03-01T10:00:00.000Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text","text":"<system-reminder>\nPreToolUse:Edit hook additional context: <nacre-note>\nUse spaces\n</nacre-note>\n</system-reminder>"}]},"uuid":"u2"}
{"type":"user","isMeta":true,"message":{"role":"user","content":"Stop hook feedback:\n<nacre-ask>\nUse spaces\n</nacre-ask>"},"uuid":"u3"}
"#;

const OWN_CODEX: &str = r#"{"timestamp":"2026-04-11T20:16:20.376Z","type":"session_meta","payload":{"id":"c","cwd":"/p"}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<nacre-brief>\nUse spaces\n</nacre-brief>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<nacre-memory>\nUse spaces\n</nacre-memory>\n\nUse tabs"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt>\n<nacre-ask>\nUse spaces\n</nacre-ask>\n</hook_prompt>"}]}}
"#;

const OWN_GENERIC: &str = r#"{"type":"session","version":1,"id":"g","agent":"gemini","cwd":"/p"}
{"type":"user","text":"<hook_context><nacre-memory>\nUse spaces\n</nacre-memory></hook_context>\n\nUse tabs","time":"2026-01-31T12:00:00Z"}
{"type":"user","text":"<nacre-memory>\nUse spaces\n</nacre-memory>","time":"2026-01-31T12:00:00Z"}
"#;

#[test]
fn text_of_our_own_is_never_taken_for_the_persons_words() {
    let own: &[Sample] = &[
        (&Claude, "x.jsonl", OWN_CLAUDE),
        (&Codex, "rollout-x.jsonl", OWN_CODEX),
        (&Generic, "x.jsonl", OWN_GENERIC),
        (&Gemini, "session-x.jsonl", samples::GEMINI),
        (&Qwen, "x.jsonl", samples::QWEN),
        (&Copilot, "events.jsonl", samples::COPILOT),
        (&Pi, "t_x.jsonl", samples::PI),
        (&Droid, "x.jsonl", samples::DROID),
        (&Cline, "s1.messages.json", samples::CLINE),
        (&Continue, "s1.json", samples::CONTINUE),
        (&Aider, ".aider.chat.history.md", samples::AIDER),
        (&OpenCode, "export.json", samples::EXPORT),
    ];
    for &(adapter, name, content) in own {
        let (events, _) = read(adapter, name, content);
        let shown = show(&events);
        let persons: Vec<&str> = shown.lines().filter(|line| line.contains("person.")).collect();
        assert!(persons.iter().any(|line| line.ends_with(": Use tabs")), "{name}: {shown}");
        assert!(persons.iter().all(|line| !line.contains("spaces")), "{name}: {shown}");
    }
}
