//! Tests that parse handwritten sessions and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "2026-11-16T14-53-27-946Z_s1.jsonl";
const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-11-16T14:00:00.000Z","cwd":"/home/u/p"}
"#;

fn entry(id: &str, parent: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"{id}","parentId":"{parent}","timestamp":"2026-11-16T14:53:28.000Z",{rest}}}"#
    ) + "\n"
}

fn message(id: &str, parent: &str, message: &str) -> String {
    entry(id, parent, &format!(r#""type":"message","message":{message}"#))
}

fn user(id: &str, parent: &str, text: &str) -> String {
    message(
        id,
        parent,
        &format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#),
    )
}

fn agent(id: &str, parent: &str, blocks: &str) -> String {
    message(
        id,
        parent,
        &format!(
            r#"{{"role":"assistant","content":{blocks},"model":"fake","usage":{{"input":10,"output":5,"cacheRead":3,"cacheWrite":2}},"stopReason":"stop"}}"#
        ),
    )
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Pi, NAME, content, expected);
}

#[test]
fn a_talk_with_a_tool() {
    let content = HEADER.to_owned()
        + &user("a", "", "Use tabs")
        + &agent(
            "b",
            "a",
            r#"[{"type":"thinking","thinking":"Hm"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]"#,
        )
        + &message(
            "c",
            "b",
            r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false}"#,
        )
        + &agent("d", "c", r#"[{"type":"text","text":"Done"}]"#);
    expect(
        &content,
        &[
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            r#"tool_call agent bash#c1: {"command":"ls"}"#,
            "tool_result tool bash#c1: a.txt",
            "assistant agent: Done",
        ],
    );
    let facts = read(&Pi, NAME, content).1.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    let tokens = Tokens { input: 20, output: 10, cached: 6, cache_write: 4, reasoning: 0 };
    assert_eq!((facts.tokens, facts.models), (tokens, vec!["fake".to_owned()]));
    assert_eq!(facts.ending, Ending::Finished);
}

#[test]
fn a_new_branch_takes_the_old_one_back() {
    let content = user("a", "", "First")
        + &agent("b", "a", r#"[{"type":"text","text":"One"}]"#)
        + &user("c", "b", "Second")
        + &agent("d", "c", r#"[{"type":"text","text":"Two"}]"#)
        + &user("e", "b", "Other");
    let facts = read(&Pi, NAME, content).1.facts;
    assert_eq!(facts.undone, [Undone { from: 2, to: 3 }]);
}

#[test]
fn commands_extensions_and_failures_are_told_apart() {
    let content = message(
        "a",
        "",
        r#"{"role":"bashExecution","command":"ls","output":"a.txt","exitCode":0}"#,
    ) + &entry(
        "b",
        "a",
        r#""type":"custom_message","customType":"nacre","content":"<nacre-brief>\nUse spaces\n</nacre-brief>","display":false"#,
    ) + &message(
        "c",
        "b",
        r#"{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Request was aborted"}"#,
    ) + &message(
        "d",
        "c",
        r#"{"role":"toolResult","toolCallId":"c9","content":[{"type":"text","text":"no"}],"isError":true}"#,
    );
    expect(
        &content,
        &[
            "user person.shell: ls",
            "user injected.command_output: a.txt",
            "user injected.nacre: <nacre-brief>\\nUse spaces\\n</nacre-brief>",
            "meta host !: Request was aborted",
            "tool_result tool ! ?#c9: no",
        ],
    );
}

#[test]
fn summaries_and_settings_are_known() {
    let content =
        entry("a", "", r#""type":"compaction","summary":"So far","firstKeptEntryId":"z""#)
            + &entry("b", "a", r#""type":"branch_summary","summary":"Left""#)
            + &entry("c", "b", r#""type":"session_info","name":"Tabs""#)
            + &entry("d", "c", r#""type":"model_change","modelId":"m2""#)
            + &entry("e", "d", r#""type":"label","label":"x""#)
            + &entry("f", "e", r#""type":"brand_new""#);
    let (events, outcome) = read(&Pi, NAME, content);
    let shown = show(&events);
    let shown: Vec<&str> = shown.lines().take(3).collect();
    assert_eq!(
        shown,
        [
            "compaction host: z",
            "summary injected.compaction_summary: So far",
            "summary injected.compaction_summary: Left",
        ]
    );
    assert_eq!(outcome.facts.title.as_deref(), Some("Tabs"));
    assert_eq!((outcome.facts.models, outcome.report.unknown_records), (vec!["m2".to_owned()], 1));
}

#[test]
fn what_a_fork_copied_is_inherited() {
    let content = r#"{"type":"session","version":3,"id":"s2","timestamp":"2026-11-16T15:00:00.000Z","cwd":"/p","parentSession":"/h/2026-11-16T14-00-00-000Z_s1.jsonl"}
"#
    .to_owned()
        + &user("a", "", "Old")
        + &user("b", "a", "New").replace("14:53:28", "15:00:01");
    expect(&content, &["user person.prompt ~inherited: Old", "user person.prompt: New"]);
    let facts = read(&Pi, NAME, content).1.facts;
    let link = SessionLink { kind: LinkKind::ForkOf, session: "s1".to_owned(), call: None };
    assert_eq!((facts.links, facts.counts.inherited), (vec![link], 1));
}

#[test]
fn the_first_version_has_no_ids() {
    let content = r#"{"type":"session","id":"s0","timestamp":"2025-11-20T23:33:50.805Z","cwd":"/p","provider":"x","modelId":"m"}
{"type":"message","timestamp":"2025-11-20T23:33:51.550Z","message":{"role":"user","content":"Use tabs"}}
{"type":"message","timestamp":"2025-11-20T23:33:52.550Z","message":{"role":"user","content":[{"type":"image","data":"x"}]}}
"#;
    expect(content, &["user person.prompt: Use tabs", "user person.prompt: [image]"]);
    let facts = read(&Pi, NAME, content).1.facts;
    assert_eq!((facts.models, facts.undone), (vec!["m".to_owned()], vec![]));
}

#[test]
fn sessions_are_found_where_the_agent_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("sessions/--home-u-p--/x_s1.jsonl"), b"{}\n");
    write(&folder.path().join("settings.json"), b"{}\n");
    let homes = Homes::default().with("PI_CODING_AGENT_DIR", folder.path());
    assert_eq!(Pi.discover(&Pi.roots(&homes)).sources.len(), 1);
    let usual = Pi.roots(&Homes::at(std::path::Path::new("/h")));
    assert_eq!(usual, [PathBuf::from("/h/.pi/agent/sessions")]);
    assert_eq!(id_in_name("x_s1"), "s1");
    assert_eq!(id_in_name("s1"), "s1");
}
