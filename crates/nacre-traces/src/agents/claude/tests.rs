//! Tests that parse handwritten Claude Code transcripts and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

fn line(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","isSidechain":false,"userType":"external","cwd":"/home/u/p","sessionId":"{ID}","version":"2.1.7","gitBranch":"main","type":"{kind}",{rest},"uuid":"{uuid}","timestamp":"2026-03-01T10:00:00.000Z"}}"#
    ) + "\n"
}

fn user(uuid: &str, parent: &str, content: &str) -> String {
    line("user", uuid, parent, &format!(r#""message":{{"role":"user","content":{content}}}"#))
}

fn assistant(uuid: &str, parent: &str, block: &str) -> String {
    let message = format!(
        r#""message":{{"id":"msg_{uuid}","model":"claude-x","role":"assistant","content":[{block}]}}"#
    );
    line("assistant", uuid, parent, &message)
}

fn name() -> String {
    format!("{ID}.jsonl")
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Claude, &name(), content, expected);
}

#[test]
fn a_short_session() {
    let content = [
        user("u1", "", r#""Fix the login""#),
        assistant("a1", "u1", r#"{"type":"thinking","thinking":"Where?","signature":"x"}"#),
        assistant("a2", "a1", r#"{"type":"text","text":"Looking."}"#),
        assistant("a3", "a2", r#"{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"#),
        user("u2", "a3", r#"[{"type":"tool_result","tool_use_id":"t1","content":"no such dir","is_error":true}]"#),
        assistant("a4", "u2", r#"{"type":"text","text":"Done."}"#),
    ]
    .concat();
    expect(
        &content,
        &[
            "user person.prompt: Fix the login",
            "reasoning agent: Where?",
            "assistant agent: Looking.",
            r#"tool_call agent Bash#t1: {"command":"ls"}"#,
            "tool_result tool ! Bash#t1: no such dir",
            "assistant agent: Done.",
        ],
    );
    let (events, outcome) = read(&Claude, &name(), &content);
    assert_eq!(events[3].key.as_deref(), Some("a3"));
    assert_eq!(
        events[3].place,
        Position::Line {
            line: 4,
            offset: content.lines().take(3).map(|l| l.len() as u64 + 1).sum()
        }
    );
    let facts = outcome.facts;
    assert_eq!(
        (facts.id.as_str(), facts.role, facts.ending),
        (ID, SessionRole::Main, Ending::Finished)
    );
    assert_eq!(
        (facts.cwd.as_deref(), facts.git_branch.as_deref()),
        (Some("/home/u/p"), Some("main"))
    );
    assert_eq!(
        (facts.models, facts.agent_version.as_deref()),
        (vec!["claude-x".to_owned()], Some("2.1.7"))
    );
    assert_eq!((facts.counts.user, facts.counts.assistant, facts.counts.errors), (1, 2, 1));
    assert_eq!(facts.started.unwrap().to_string(), "2026-03-01T10:00:00Z");
}

#[test]
fn every_shape_of_content_is_read() {
    let content = [
        user("u1", "", r#"["bare",{"type":"text","text":"block"}]"#),
        user("u2", "", r#"{"type":"text","text":"one"}"#),
        line("user", "u3", "", r#""message":"only a string""#),
        user("u4", "", r#"[{"type":"image","source":{"type":"base64","data":"AAAA"}}]"#),
        user(
            "u5",
            "",
            r#"[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image"}]}]"#,
        ),
        user("u6", "", "null"),
        line("user", "u7", "", r#""message":null"#),
        assistant("a1", "", r#"{"type":"text","text":"lone \ud83d"}"#),
    ];
    expect(
        &content.concat(),
        &[
            "user person.prompt: bare",
            "user person.prompt: block",
            "user person.prompt: one",
            "user person.prompt: only a string",
            "user person.prompt: [image]",
            "tool_result tool ?#t: x\\n[image]",
            "assistant agent: lone \u{fffd}",
        ],
    );
}

#[test]
fn injected_text_is_told_from_the_persons() {
    let meta =
        r#""isMeta":true,"message":{"role":"user","content":"Continue from where you left off."}"#;
    let notice =
        r#""origin":{"kind":"task-notification"},"message":{"role":"user","content":"agent done"}"#;
    let sdk = r#""promptSource":"sdk","message":{"role":"user","content":"from a script"}"#;
    let print = r#""entrypoint":"sdk-cli","origin":{"kind":"human"},"message":{"role":"user","content":"claude -p"}"#;
    let unknown = r#""promptSource":"new","message":{"role":"user","content":"of a new kind"}"#;
    let typed = r#""entrypoint":"cli","promptSource":"typed","origin":{"kind":"human"},"message":{"role":"user","content":"by hand"}"#;
    let content = [
        line("user", "u1", "", meta),
        line("user", "u2", "", notice),
        user("u3", "", r#""<system-reminder>x</system-reminder>\nship it""#),
        user(
            "u4",
            "",
            r#""<command-name>/fix</command-name>\n<command-args>the docs</command-args>""#,
        ),
        user("u5", "", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#),
        line("user", "u6", "", sdk),
        line("user", "u7", "", print),
        line("user", "u8", "", unknown),
        line("user", "u9", "", typed),
    ];
    expect(
        &content.concat(),
        &[
            "user injected.host: Continue from where you left off.",
            "user injected.task_notice: agent done",
            "user injected.system_reminder: <system-reminder>x</system-reminder>",
            "user person.prompt: ship it",
            "user injected.command: <command-name>/fix</command-name>",
            "user person.command_args: the docs",
            "user injected.interruption: [Request interrupted by user]",
            "user person.unverified: from a script",
            "user person.unverified: claude -p",
            "user person.unverified: of a new kind",
            "user person.prompt: by hand",
        ],
    );
}

#[test]
fn words_hidden_in_tool_results_are_found() {
    let ask = r#"{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[]}}"#;
    let answer = r#""toolUseResult":{"questions":[],"answers":{"Which?":"the small one","Why?":""},"annotations":{"Which?":{"notes":"for now"}}},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"q","content":"User has answered"}]}"#;
    let edit = r#"{"type":"tool_use","id":"e","name":"Edit","input":{}}"#;
    let refusal = r#"[{"type":"tool_result","tool_use_id":"e","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the helper instead"}]"#;
    let quoted = r#"[{"type":"tool_result","tool_use_id":"r","content":"1: The doc says: the user said:\nnothing"}]"#;
    let content = [
        assistant("a1", "", ask),
        line("user", "u1", "a1", answer),
        assistant("a2", "u1", edit),
        user("u2", "a2", refusal),
        user("u3", "u2", quoted),
    ];
    expect(
        &content.concat(),
        &[
            r#"tool_call agent AskUserQuestion#q: {"questions":[]}"#,
            "tool_result tool AskUserQuestion#q: User has answered",
            "user person.answer AskUserQuestion#q: the small one",
            "user person.answer AskUserQuestion#q: for now",
            "tool_call agent Edit#e: {}",
            "tool_result tool ! Edit#e: The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\\nuse the helper instead",
            "user person.refusal Edit#e: use the helper instead",
            "tool_result tool ?#r: 1: The doc says: the user said:\\nnothing",
        ],
    );
}

#[test]
fn queued_prompts_are_given_once() {
    let enqueue = |content: &str| {
        format!(
            r#"{{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-01T10:00:01.000Z","sessionId":"{ID}","content":{content}}}"#
        ) + "\n"
    };
    let queued = |prompt: &str, mode: &str| {
        line(
            "attachment",
            "q",
            "",
            &format!(
                r#""attachment":{{"type":"queued_command","prompt":{prompt},"commandMode":"{mode}"}}"#
            ),
        )
    };
    let content = [
        enqueue(r#""also the docs""#),
        enqueue(r#"[{"type":"text","text":"and the tests"}]"#),
        enqueue(r#""never taken up""#),
        enqueue(r#""<task-notification>x</task-notification>""#),
        enqueue(r#""/fix the menu""#),
        "{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}\n".to_owned(),
        user("u1", "", r#""also the docs""#),
        queued(r#""and the tests""#, "prompt"),
        queued(r#""typed meanwhile""#, "prompt"),
        queued(r#""<task-notification>x</task-notification>""#, "task-notification"),
        user(
            "u2",
            "",
            r#""<command-name>/fix</command-name>\n<command-args>the menu</command-args>""#,
        ),
        user("u3", "", r#""also the docs""#),
    ]
    .concat();
    expect(
        &content,
        &[
            "user person.queued: also the docs",
            "user person.queued: and the tests",
            "user person.queued: never taken up",
            "user person.queued: /fix the menu",
            "user person.queued: typed meanwhile",
            "user injected.task_notice: <task-notification>x</task-notification>",
            "user injected.command: <command-name>/fix</command-name>",
            "user person.prompt: also the docs",
        ],
    );
    assert_eq!(read(&Claude, &name(), &content).1.report.repeated, 3);
}

#[test]
fn compactions_and_summaries_are_not_talk() {
    let boundary = r#""subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":9}"#;
    let summary =
        r#""isCompactSummary":true,"message":{"role":"user","content":"They talked about tabs."}"#;
    let content = [
        "{\"type\":\"summary\",\"summary\":\"Of another session\",\"leafUuid\":\"l\"}\n".to_owned(),
        user("u1", "", r#""Use tabs""#),
        line("system", "s1", "", boundary),
        line("user", "u2", "s1", summary),
        user("u3", "u2", r#""This session is being continued from a previous conversation""#),
        line("system", "s2", "u3", r#""subtype":"away_summary","content":"You chose tabs""#),
        "{\"type\":\"ai-title\",\"aiTitle\":\"Tabs\"}\n".to_owned(),
    ];
    let content = content.concat();
    expect(
        &content,
        &[
            "summary host: Of another session",
            "user person.prompt: Use tabs",
            r#"compaction host: {"trigger":"auto","preTokens":9}"#,
            "summary injected.compaction_summary: They talked about tabs.",
            "summary injected.compaction_summary: This session is being continued from a previous conversation",
            "summary agent: You chose tabs",
        ],
    );
    assert_eq!(read(&Claude, &name(), &content).1.facts.title.as_deref(), Some("Tabs"));
}

#[test]
fn tokens_of_a_message_in_several_lines_count_once() {
    let part = |uuid: &str, output: u64| {
        let message = format!(
            r#""message":{{"id":"m1","model":"claude-x","content":[{{"type":"text","text":"{uuid}"}}],"usage":{{"input_tokens":10,"output_tokens":{output},"cache_read_input_tokens":5,"cache_creation_input_tokens":2}}}}"#
        );
        line("assistant", uuid, "", &message)
    };
    let other = part("x", 7).replace("\"m1\"", "\"m2\"");
    let content = [part("a", 1), other, part("b", 30), part("c", 30)].concat();
    let tokens = read(&Claude, &name(), content).1.facts.tokens;
    assert_eq!((tokens.input, tokens.output, tokens.cached, tokens.cache_write), (20, 37, 10, 4));
}

#[test]
fn a_rewound_prompt_is_taken_back() {
    let content = [
        user("u1", "", r#""first""#),
        assistant("a1", "u1", r#"{"type":"text","text":"one"}"#),
        user("u2", "a1", r#""wrong way""#),
        assistant("a2", "u2", r#"{"type":"text","text":"two"}"#),
        user("u3", "a1", r#"["right way","and this"]"#),
    ];
    let facts = read(&Claude, &name(), content.concat()).1.facts;
    assert_eq!(facts.undone, [Undone { from: 2, to: 3 }]);
}

#[test]
fn sidechains_and_sub_agents_are_not_the_persons_talk() {
    let side = |kind: &str, rest: &str| {
        line(kind, "x", "", rest).replace("\"isSidechain\":false", "\"isSidechain\":true")
    };
    let content = [
        user("u1", "", r#""Go""#),
        side("user", r#""message":{"role":"user","content":"Search the tree"}"#),
        side("assistant", r#""message":{"content":[{"type":"text","text":"Found"}]}"#),
    ]
    .concat();
    expect(
        &content,
        &[
            "user person.prompt: Go",
            "user agent ~sidechain: Search the tree",
            "assistant agent ~sidechain: Found",
        ],
    );
    let trace = TestTrace::new("agent-ab12.jsonl", &content);
    write(
        &trace.folder.path().join("agent-ab12.meta.json"),
        br#"{"agentType":"x","toolUseId":"toolu_7"}"#,
    );
    let facts = trace.read(&Claude, None).1.facts;
    assert_eq!((facts.role, facts.id), (SessionRole::SubAgent, format!("agent-ab12@{ID}")));
    let link = &facts.links[0];
    assert_eq!(
        (link.kind, link.session.as_str(), link.call.as_deref()),
        (LinkKind::Parent, ID, Some("toolu_7"))
    );
}

#[test]
fn guesses_of_the_next_prompt_are_nobodys_words() {
    let content = user("u1", "", r#""add more tests""#);
    let (events, outcome) = read(&Claude, "agent-aprompt_suggestion-d8.jsonl", content);
    assert_eq!(show(&events), "user injected.prompt_suggestion ~sidechain: add more tests\n");
    assert_eq!(outcome.facts.role, SessionRole::Helper);
}

#[test]
fn forked_records_belong_to_the_other_session() {
    let fork = r#""forkedFrom":{"sessionId":"old","messageUuid":"m"},"message":{"role":"user","content":"said there"}"#;
    let content = [line("user", "u1", "", fork), user("u2", "u1", r#""said here""#)].concat();
    expect(
        &content,
        &["user person.prompt ~inherited: said there", "user person.prompt: said here"],
    );
    let facts = read(&Claude, &name(), content).1.facts;
    assert_eq!((facts.links[0].kind, facts.links[0].session.as_str()), (LinkKind::ForkOf, "old"));
    assert_eq!((facts.counts.user, facts.counts.inherited), (1, 1));
}

#[test]
fn nacre_never_reads_itself_as_news() {
    let hook = r#""attachment":{"type":"hook_additional_context","content":["<nacre-brief>\nuse tabs\n</nacre-brief>"],"hookName":"SessionStart"}"#;
    let call = r#"{"type":"tool_use","id":"n","name":"mcp__nacre__ask","input":{"q":"?"}}"#;
    let shell =
        r#"{"type":"tool_use","id":"s","name":"Bash","input":{"command":"nacre ask tabs"}}"#;
    let content = [
        line("attachment", "h", "", hook),
        assistant("a1", "", call),
        user("u1", "a1", r#"[{"type":"tool_result","tool_use_id":"n","content":"use tabs"}]"#),
        assistant("a2", "u1", shell),
        user("u2", "a2", r#"[{"type":"tool_result","tool_use_id":"s","content":"use tabs"}]"#),
        user(
            "u3",
            "u2",
            r#"[{"type":"tool_result","tool_use_id":"z","content":"x <nacre-brief> y"}]"#,
        ),
    ];
    let (events, _) = read(&Claude, &name(), content.concat());
    let reasons: Vec<bool> = events
        .iter()
        .map(|event| event.injection_reason() == Some(crate::transcript::InjectedReason::Nacre))
        .collect();
    assert_eq!(reasons, [true, true, true, false, true, true]);
}

#[test]
fn hooks_and_host_records_are_meta() {
    let hook = r#""attachment":{"type":"hook_blocking_error","blockingError":{"blockingError":"ruff failed"},"toolUseID":"t1"}"#;
    let silent =
        r#""attachment":{"type":"hook_success","content":"","stdout":"","hookName":"Stop"}"#;
    let api = r#""subtype":"api_error","level":"error","error":{"message":"529"}"#;
    let synthetic = r#""isApiErrorMessage":true,"message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}"#;
    let content = [
        line("attachment", "h1", "", hook),
        line("attachment", "h2", "", silent),
        line("system", "s1", "", api),
        line("assistant", "a1", "", synthetic),
        line("progress", "p1", "", r#""data":{"type":"bash_progress","output":"x"}"#),
        "{\"type\":\"brand-new\",\"x\":1}\n".to_owned(),
        assistant("a2", "", r#"{"type":"hologram","text":"?"}"#),
    ]
    .concat();
    expect(
        &content,
        &[
            r#"meta injected.hook ! ?#t1: {"blockingError":"ruff failed"}"#,
            r#"meta host !: {"message":"529"}"#,
            "assistant host !: API Error",
            r#"meta host: {"type":"brand-new","x":1}"#,
            "meta host: ?",
        ],
    );
    let outcome = read(&Claude, &name(), content).1;
    assert_eq!(outcome.report.unknown_types.keys().collect::<Vec<_>>(), ["brand-new", "hologram"]);
    assert_eq!(outcome.facts.models, ["claude-x"]);
}

#[test]
fn the_ending_is_that_of_the_last_turn() {
    let prompt = user("u1", "", r#""Go""#);
    let call = assistant("a1", "u1", r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#);
    let stop = line("system", "s", "a1", r#""subtype":"turn_duration","durationMs":1"#);
    let interrupted =
        user("u2", "a1", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#);
    let ending = |parts: &[&String]| {
        let content: String = parts.iter().map(|part| part.as_str()).collect();
        read(&Claude, &name(), content).1.facts.ending
    };
    assert_eq!(ending(&[]), Ending::Unknown);
    assert_eq!(ending(&[&prompt]), Ending::Active);
    assert_eq!(ending(&[&prompt, &call]), Ending::Active);
    assert_eq!(ending(&[&prompt, &call, &interrupted]), Ending::Finished);
    assert_eq!(ending(&[&prompt, &stop]), Ending::Finished);
}

#[test]
fn the_project_is_the_first_directory() {
    let moved = user("u2", "", r#""b""#)
        .replace("/home/u/p", "/home/u/p/sub")
        .replace("\"gitBranch\":\"main\"", "\"gitBranch\":\"HEAD\"");
    let stray = user("u3", "", r#""c""#).replace(ID, "another-session");
    let facts = read(&Claude, &name(), [user("u1", "", r#""a""#), moved, stray].concat()).1.facts;
    assert_eq!(
        (facts.cwd.as_deref(), facts.other_cwds),
        (Some("/home/u/p"), vec!["/home/u/p/sub".to_owned()])
    );
    assert_eq!((facts.id.as_str(), facts.other_branches.len()), (ID, 0));
}

#[test]
fn growing_in_any_step_gives_the_same_transcript() {
    let content = [
        user("u1", "", r#""first""#),
        assistant(
            "a1",
            "u1",
            r#"{"type":"tool_use","id":"t","name":"AskUserQuestion","input":{}}"#,
        ),
        line(
            "user",
            "u2",
            "a1",
            r#""toolUseResult":{"answers":{"a":"yes"}},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}"#,
        ),
        "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"later\"}\n"
            .to_owned(),
        user("u3", "u2", r#""later""#),
        user("u4", "a1", r#""instead""#),
    ];
    let (expected, whole) = read(&Claude, &name(), content.concat());
    let trace = TestTrace::new(&name(), "");
    let (mut shown, mut mark): (String, Option<Watermark>) = (String::new(), None);
    let mut facts = None;
    for piece in &content {
        trace.append(piece.as_bytes());
        let (events, outcome) = trace.read(&Claude, mark.as_ref());
        shown.push_str(&show(&events));
        facts = Some(outcome.facts);
        mark = outcome.watermark;
    }
    assert_eq!(shown, show(&expected));
    assert_eq!(facts, Some(whole.facts));
}

#[test]
fn transcripts_are_found_and_other_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let homes = Homes::at(folder.path());
    for name in ["p/a.jsonl", "p/a/subagents/agent-1.jsonl", "p/agent-2.jsonl"] {
        write(&folder.path().join(".claude/projects").join(name), b"{}\n");
    }
    for name in [
        "p/a/tool-results/x.jsonl",
        "p/memory/MEMORY.md",
        "p/a/subagents/agent-1.meta.json",
        "p/sessions-index.json",
    ] {
        write(&folder.path().join(".claude/projects").join(name), b"{}\n");
    }
    let found = Claude.discover(&Claude.roots(&homes));
    let names: Vec<String> = found
        .sources
        .iter()
        .map(|source| source.path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["a.jsonl", "agent-1.jsonl", "agent-2.jsonl"]);
    assert!(found.problems.is_empty());
    assert_eq!(found.sources[0].stamp.size, 3);
    let moved = Homes::at(std::path::Path::new("/nowhere"))
        .with("CLAUDE_CONFIG_DIR", folder.path().join(".claude"));
    assert_eq!(Claude.discover(&Claude.roots(&moved)).sources.len(), 3);
}
