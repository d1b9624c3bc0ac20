//! Tests that parse handwritten rollouts and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const ID: &str = "019d7e30-0000-7000-8000-000000000001";
const NAME: &str = "rollout-2026-04-11T20-16-20-019d7e30-0000-7000-8000-000000000001.jsonl";

fn at(ms: u32, kind: &str, payload: &str) -> String {
    let (second, ms) = (ms / 1000, ms % 1000);
    format!(
        r#"{{"timestamp":"2026-04-11T20:16:{second:02}.{ms:03}Z","type":"{kind}","payload":{payload}}}"#
    ) + "\n"
}

fn meta(rest: &str) -> String {
    let payload = format!(
        r#"{{"id":"{ID}","cwd":"/home/u/p","cli_version":"0.118.0","git":{{"branch":"main","repository_url":"https://u:token@github.com/o/r.git"}},"base_instructions":{{"text":"You are"}}{rest}}}"#
    );
    at(0, "session_meta", &payload)
}

fn item(payload: &str) -> String {
    at(0, "response_item", payload)
}

fn event(payload: &str) -> String {
    at(0, "event_msg", payload)
}

fn user_item(text: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
    ))
}

fn user_event(text: &str) -> String {
    event(&format!(r#"{{"type":"user_message","message":"{text}","images":[]}}"#))
}

fn agent_item(text: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
    ))
}

fn agent_event(text: &str) -> String {
    event(&format!(r#"{{"type":"agent_message","message":"{text}"}}"#))
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Codex, NAME, content, expected);
}

#[test]
fn each_message_of_the_two_streams_comes_once() {
    let content = [
        meta(""),
        user_item("<environment_context>\\n<cwd>/p</cwd>\\n</environment_context>"),
        user_item("Use tabs"),
        user_event("Use tabs"),
        event(r#"{"type":"agent_reasoning","text":"Thinking"}"#),
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Thinking"}],"encrypted_content":"x"}"#),
        agent_event("Yes"),
        agent_item("Yes"),
        agent_event("Yes"),
        agent_item("Yes"),
        user_item("Yes"),
        user_event("Yes"),
    ]
    .concat();
    expect(
        &content,
        &[
            "user injected.environment: <environment_context>\\n<cwd>/p</cwd>\\n</environment_context>",
            "user person.prompt: Use tabs",
            "reasoning agent: Thinking",
            "assistant agent: Yes",
            "assistant agent: Yes",
            "user person.prompt: Yes",
        ],
    );
    let outcome = read(&Codex, NAME, content).1;
    assert_eq!(outcome.report.repeated, 5);
    let facts = outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), (ID, Some("/home/u/p")));
    assert_eq!(facts.repository.as_deref(), Some("https://github.com/o/r.git"));
    assert_eq!(
        (facts.git_branch.as_deref(), facts.agent_version.as_deref()),
        (Some("main"), Some("0.118.0"))
    );
}

#[test]
fn an_item_that_no_event_claims_is_nobodys_words() {
    let content = [
        meta(""),
        user_item("a"),
        user_event("a"),
        user_item("told by a program"),
        agent_item("b"),
    ];
    expect(
        &content.concat(),
        &["user person.prompt: a", "user injected.host: told by a program", "assistant agent: b"],
    );
    // Without shown events, nothing confirms that the user typed a user item.
    expect(
        &[meta(""), user_item("a"), agent_item("b")].concat(),
        &["user person.unverified: a", "assistant agent: b"],
    );
}

#[test]
fn a_prompt_with_pictures_is_one_prompt() {
    let content = [
        meta(""),
        item(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"see this"},{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:image/png;base64,AA"},{"type":"input_text","text":"</image>"}]}"#,
        ),
        user_event("see this"),
        item(
            r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:x"}]}"#,
        ),
        event(r#"{"type":"user_message","message":"","images":["x"]}"#),
    ];
    expect(&content.concat(), &["user person.prompt: see this", "user person.prompt: [image]"]);
}

#[test]
fn tools_of_all_kinds() {
    let content = [
        meta(""),
        item(
            r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}"#,
        ),
        item(
            r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}"#,
        ),
        item(
            r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c2","status":"completed"}"#,
        ),
        item(
            r#"{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"x"}]}"#,
        ),
        item(r#"{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c3"}"#),
        item(
            r#"{"type":"function_call_output","call_id":"c3","output":"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nboom"}"#,
        ),
        item(
            r#"{"type":"function_call","name":"search","namespace":"mcp__nacre__","arguments":"{}","call_id":"c4"}"#,
        ),
        item(r#"{"type":"function_call_output","call_id":"c4","output":"use tabs"}"#),
        item(
            r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}"#,
        ),
        item(r#"{"type":"local_shell_call","call_id":"c5","action":{"command":["pwd"]}}"#),
        event(
            r#"{"type":"exec_command_end","call_id":"c5","stdout":"echo","aggregated_output":"echo"}"#,
        ),
        item(
            r#"{"type":"function_call_output","call_id":"gone","output":{"content":"late","success":false}}"#,
        ),
        item(r#"{"type":"image_generation_call","id":"i","status":"completed","result":"AAAA"}"#),
    ];
    expect(
        &content.concat(),
        &[
            r#"tool_call agent shell#c1: {"command":["ls"]}"#,
            "tool_result tool ! shell#c1: no\\n",
            "tool_call agent apply_patch#c2: *** Begin",
            "tool_result tool apply_patch#c2: ok",
            "tool_call agent exec_command#c3: {}",
            "tool_result tool ! exec_command#c3: Chunk ID: 1\\nWall time: 0.1 seconds\\nProcess exited with code 1\\nOutput:\\nboom",
            "tool_call injected.nacre mcp__nacre__search#c4: {}",
            "tool_result injected.nacre mcp__nacre__search#c4: use tabs",
            r#"tool_call agent web_search#: {"type":"search","query":"x"}"#,
            r#"tool_call agent local_shell#c5: {"command":["pwd"]}"#,
            "tool_result tool ! ?#gone: late",
            "tool_call agent image_generation#i: ",
        ],
    );
}

#[test]
fn answers_to_questions_are_the_persons() {
    let content = [
        meta(""),
        item(
            r#"{"type":"function_call","name":"request_user_input","arguments":"{}","call_id":"q"}"#,
        ),
        item(
            r#"{"type":"function_call_output","call_id":"q","output":"{\"answers\":{\"scope\":{\"answers\":[\"only core\"]}}}"}"#,
        ),
    ];
    let (events, _) = read(&Codex, NAME, content.concat());
    assert!(show(&events).ends_with("user person.answer request_user_input#q: only core\n"));
}

#[test]
fn paginated_rollouts_have_no_user_messages() {
    let completed = |item: &str| {
        event(&format!(
            r#"{{"type":"item_completed","thread_id":"t","turn_id":"u","item":{item}}}"#
        ))
    };
    let content = [
        meta(r#","history_mode":"paginated""#),
        user_item("Use tabs"),
        completed(
            r#"{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"Use tabs"}]}"#,
        ),
        completed(r#"{"type":"Reasoning","id":"i2","summary_text":["Hm"],"raw_content":[]}"#),
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}"#),
        completed(r#"{"type":"AgentMessage","id":"i3","content":[{"type":"Text","text":"Done"}]}"#),
        agent_item("Done"),
        completed(r#"{"type":"CommandExecution","id":"i4","command":["ls"],"stdout":"x"}"#),
        completed(r#"{"type":"Plan","id":"i5","text":"First tabs"}"#),
    ];
    expect(
        &content.concat(),
        &[
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            "assistant agent: Done",
            "assistant agent: First tabs",
        ],
    );
}

#[test]
fn a_copied_history_is_the_parents() {
    let parent = at(1, "session_meta", r#"{"id":"parent","cwd":"/elsewhere","source":"cli"}"#);
    let content = [
        meta(r#","forked_from_id":"parent","source":{"subagent":{"thread_spawn":{"parent_thread_id":"parent","depth":1}}}"#),
        parent,
        at(2, "event_msg", r#"{"type":"task_started","turn_id":"old"}"#),
        at(3, "event_msg", r#"{"type":"user_message","message":"said to the parent"}"#),
        at(4, "event_msg", r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":900},"last_token_usage":{"input_tokens":900}}}"#),
        at(1000, "turn_context", r#"{"cwd":"/home/u/p","model":"gpt-x"}"#),
        at(1100, "event_msg", r#"{"type":"user_message","message":"Review this"}"#),
        at(1200, "event_msg", r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":930},"last_token_usage":{"input_tokens":20,"cached_input_tokens":5,"output_tokens":10,"reasoning_output_tokens":4}}}"#),
        at(1201, "event_msg", r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":930},"last_token_usage":{"input_tokens":20,"output_tokens":10}}}"#),
        at(1202, "event_msg", r#"{"type":"token_count","info":null}"#),
        at(1300, "event_msg", r#"{"type":"agent_message","message":"Fine"}"#),
    ]
    .concat();
    expect(
        &content,
        &[
            "user person.prompt ~inherited: said to the parent",
            "user agent ~sidechain: Review this",
            "assistant agent ~sidechain: Fine",
        ],
    );
    let facts = read(&Codex, NAME, content).1.facts;
    assert_eq!((facts.id.as_str(), facts.role), (ID, SessionRole::SubAgent));
    assert_eq!(
        (facts.tokens.input, facts.tokens.cached, facts.tokens.output, facts.tokens.reasoning),
        (15, 5, 10, 4)
    );
    let links: Vec<(LinkKind, &str)> =
        facts.links.iter().map(|link| (link.kind, link.session.as_str())).collect();
    assert_eq!(links, [(LinkKind::ForkOf, "parent"), (LinkKind::Parent, "parent")]);
    assert_eq!((facts.models, facts.other_cwds.len()), (vec!["gpt-x".to_owned()], 0));
}

#[test]
fn own_records_can_be_told_by_their_number() {
    let numbered = |ordinal: u32, text: &str| {
        user_event(text).replace(
            "\"type\":\"event_msg\"",
            &format!("\"ordinal\":{ordinal},\"type\":\"event_msg\""),
        )
    };
    let content = [
        meta(r#","subagent_history_start_ordinal":5,"history_base":{"thread_id":"base","end_byte_offset":9}"#),
        numbered(4, "theirs"),
        numbered(5, "ours"),
    ]
    .concat();
    expect(&content, &["user person.prompt ~inherited: theirs", "user person.prompt: ours"]);
    let facts = read(&Codex, NAME, content).1.facts;
    assert_eq!(
        (facts.links[0].kind, facts.links[0].session.as_str()),
        (LinkKind::Continues, "base")
    );
}

#[test]
fn compactions_repeat_nothing() {
    let content = [
        meta(""),
        user_event("Use tabs"),
        at(
            9,
            "compacted",
            r#"{"message":"so far","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Use tabs"}]}]}"#,
        ),
        event(r#"{"type":"context_compacted"}"#),
    ];
    expect(&content.concat(), &["user person.prompt: Use tabs", "compaction host: so far"]);
}

#[test]
fn turns_end_abort_and_roll_back() {
    let turn =
        |kind: &str| event(&format!(r#"{{"type":"{kind}","turn_id":"t","reason":"interrupted"}}"#));
    let content = [
        meta(""),
        turn("task_started"),
        user_event("one"),
        turn("task_complete"),
        turn("turn_started"),
        user_event("two"),
        agent_event("no"),
        turn("turn_aborted"),
        event(r#"{"type":"thread_rolled_back","num_turns":1}"#),
    ];
    let (events, outcome) = read(&Codex, NAME, content.concat());
    assert!(show(&events).ends_with("meta injected.interruption: interrupted\n"));
    assert_eq!(outcome.facts.ending, Ending::Finished);
    assert_eq!(outcome.facts.undone, [Undone { from: 1, to: 3 }]);
    let open = read(&Codex, NAME, content[..3].concat()).1.facts.ending;
    assert_eq!(open, Ending::Active);
}

#[test]
fn rollouts_without_an_envelope() {
    let content = [
        r#"{"id":"5973b6c0-94b8-487b-a530-2aeb6098ae0e","timestamp":"2025-05-07T17:24:21.123Z","instructions":null,"git":{"branch":"dev"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}"#,
        r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
        r#"{"type":"function_call_output","call_id":"c","output":"done"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#,
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    expect(
        &content,
        &[
            "user person.unverified: hello",
            "tool_call agent shell#c: {}",
            "tool_result tool shell#c: done",
            "assistant agent: hi",
        ],
    );
    let facts = read(&Codex, NAME, content).1.facts;
    assert_eq!(
        (facts.id.as_str(), facts.git_branch.as_deref()),
        ("5973b6c0-94b8-487b-a530-2aeb6098ae0e", Some("dev"))
    );
    assert_eq!(facts.ending, Ending::Finished);
}

#[test]
fn growing_in_any_step_gives_the_same_transcript() {
    let content = [
        meta(""),
        user_item("one"),
        user_event("one"),
        agent_event("two"),
        agent_item("two"),
        item(r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#),
        item(r#"{"type":"function_call_output","call_id":"c","output":"done"}"#),
        event(r#"{"type":"thread_rolled_back","num_turns":1}"#),
    ];
    let (expected, whole) = read(&Codex, NAME, content.concat());
    let trace = TestTrace::new(NAME, "");
    let (mut shown, mut mark): (String, Option<Watermark>) = (String::new(), None);
    let mut facts = None;
    for piece in &content {
        trace.append(piece.as_bytes());
        let (events, outcome) = trace.read(&Codex, mark.as_ref());
        shown.push_str(&show(&events));
        facts = Some(outcome.facts);
        mark = outcome.watermark;
    }
    // A prompt that is read before its event is `unverified`, but it is still emitted only once.
    assert_eq!(shown.replace("unverified", "prompt"), show(&expected));
    assert_eq!(facts, Some(whole.facts));
}

#[test]
fn unknown_records_are_kept_and_counted() {
    let content = [
        meta(""),
        at(0, "hologram", r#"{"x":1}"#),
        event(r#"{"type":"levitated"}"#),
        item(r#"{"type":"sculpture"}"#),
        "{\"created_at\":1,\"role\":\"user\"}\n".to_owned(),
    ];
    let (events, outcome) = read(&Codex, NAME, content.concat());
    assert_eq!((events.len(), outcome.report.unknown_records), (4, 4));
    assert!(events.iter().all(|event| event.kind == EventKind::Meta));
}

#[test]
fn rollouts_are_found_plain_before_packed() {
    let folder = tempfile::tempdir().unwrap();
    let codex = folder.path().join("codex");
    for name in [
        "sessions/2026/04/11/rollout-a.jsonl",
        "sessions/2026/04/11/rollout-a.jsonl.zst",
        "sessions/2026/04/12/rollout-b.jsonl.zst",
        "archived_sessions/rollout-d.jsonl",
        "sessions/2026/04/12/.rollout-b.jsonl.x.tmp",
        "history.jsonl",
        "sessions/notes.jsonl",
    ] {
        write(&codex.join(name), b"{}\n");
    }
    let homes = Homes::at(folder.path()).with("CODEX_HOME", codex);
    let found = Codex.discover(&Codex.roots(&homes));
    let mut names: Vec<String> = found
        .sources
        .iter()
        .map(|source| source.path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["rollout-a.jsonl", "rollout-b.jsonl.zst", "rollout-d.jsonl"]);
}

#[test]
fn a_trace_that_vanished_is_an_error_that_names_it() {
    let trace = TestTrace::new(NAME, "");
    let stamp = crate::transcript::walk::stamp(&std::fs::metadata(&trace.path).unwrap());
    let source =
        TraceSource { agent: Agent::Codex, path: trace.folder.path().join("gone.jsonl"), stamp };
    let error = Codex.read(&Trace::whole(source), None, Sink::everything(&mut |_| {})).unwrap_err();
    assert!(matches!(error, Error::Open { .. }));
    assert!(error.to_string().starts_with("Cannot open trace `"));
}

#[test]
fn ids_are_read_out_of_names() {
    assert_eq!(id_in_name(NAME), ID);
    assert_eq!(
        id_in_name(&NAME.replace(".jsonl", "_019d7e30-1111-7000-8000-000000000002.jsonl.zst")),
        ID
    );
    assert_eq!(id_in_name("rollout-x.jsonl"), "rollout-x");
    assert_eq!(id_in_name("é.jsonl"), "é");
}

#[test]
fn prompts_of_programs_are_not_the_persons() {
    for (rest, source) in [
        (r#","originator":"codex_exec","source":"exec""#, "unverified"),
        (r#","originator":"new","source":"new""#, "unverified"),
        (r#","originator":"codex_exec""#, "unverified"),
        (r#","originator":"codex-tui","source":"cli""#, "prompt"),
        ("", "prompt"),
    ] {
        let content = [meta(rest), user_event("ship it")].concat();
        expect(&content, &[&format!("user person.{source}: ship it")]);
    }
}
