//! Checks that no secret in a trace is ever stored or printed.

#[expect(dead_code, reason = "the places are those of the redactor's own tests")]
#[path = "../../../nacre-base/src/redact/tests/corpus.rs"]
mod corpus;

use std::fs;

use nacre_base::redact::redact;
use nacre_traces::transcript::{BoundedText, EventKind, TextBounds};
use serde_json::json;

use crate::agents::{self, Talk};
use crate::home::{TestHome, walk};
use corpus::{Dice, KINDS, Sample};

/// From this many consecutive bytes on, part of a secret counts as a leak.
const SURVIVING_RUN: usize = 16;

/// Returns overlapping parts that together cover a secret. None of them may be visible.
fn runs(secret: &str) -> Vec<Vec<u8>> {
    let lines = secret.lines().filter(|line| line.len() >= SURVIVING_RUN || !secret.contains('\n'));
    lines
        .flat_map(|line| {
            let bytes = line.as_bytes();
            let width = bytes.len().min(SURVIVING_RUN);
            bytes.windows(width).step_by(width.div_ceil(2)).map(<[u8]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns one secret of every kind, with its label.
fn secrets(seed: u64) -> Vec<(&'static str, String, Sample)> {
    let mut dice = Dice::new(seed);
    KINDS
        .iter()
        .map(|kind| {
            let sample = kind.sample(&mut dice);
            (kind.label, format!("{}={}", kind.name, sample.text), sample)
        })
        .collect()
}

/// The label of a kind of secret, and the parts that must not be visible.
type Forbidden = (&'static str, Vec<Vec<u8>>);

/// Returns a conversation with every secret in every possible place.
fn talk(id: &str, seed: u64) -> (Talk, Vec<Forbidden>) {
    let all = secrets(seed);
    let assigned: Vec<String> = all.iter().map(|(_, text, _)| text.clone()).collect();
    let dump: String = assigned.iter().map(|line| format!("{line}\nLANG=C\n")).collect();
    // Without a name next to it, a secret can be recognized only by its shape.
    let known: Vec<&str> = all
        .iter()
        .map(|(_, _, sample)| sample.text.as_str())
        .filter(|text| {
            !text.contains(['/', '\n', ' ']) && !redact(&format!("/srv/{text}/app")).contains(*text)
        })
        .collect();
    assert!(known.len() > 40);
    let titled =
        format!("{} and {}", known[usize::try_from(seed).unwrap() % known.len()], assigned[0]);
    let talk = Talk {
        id: id.to_owned(),
        cwd: format!("/srv/{}/app", known[usize::try_from(seed * 7).unwrap() % known.len()]),
        title: titled,
        user: assigned.iter().map(|text| format!("Please use\n{text}\nfrom now on")).collect(),
        assistant: assigned.iter().map(|text| format!("I set\n{text}\nas you said")).collect(),
        calls: assigned
            .iter()
            .map(|text| {
                (
                    json!({ "command": format!("export {text}\nmake deploy") }),
                    format!("+ {text}\nok"),
                )
            })
            .chain([(json!({ "command": "env", "nested": dump.clone() }), dump.clone())])
            .chain([(json!({ "body": json!({ "env": dump }).to_string() }), "sent".to_owned())])
            .collect(),
    };
    let runs = all.iter().map(|(label, _, sample)| (*label, runs(&sample.secret))).collect();
    (talk, runs)
}

/// Writes a session with different secrets in every format. Returns the parts of the secrets that
/// must not be visible.
fn write_traces(home: &TestHome) -> Vec<Forbidden> {
    let root = home.root().join("agents");
    let mut forbidden = Vec::new();
    let mut seed = 2;
    let mut talk_of = |id: &str| {
        seed += 1;
        let (talk, runs) = talk(id, seed);
        forbidden.extend(runs);
        talk
    };
    let uuid = |n: u32| format!("0a1b2c3d-0000-4000-8000-00000000000{n}");
    let one = talk_of(&uuid(1));
    agents::write(&root.join(format!("claude/p/{}.jsonl", one.id)), &agents::claude(&one));
    let one = talk_of(&uuid(2));
    let rollout = format!("codex/rollout-2026-11-01T10-00-00-{}.jsonl", one.id);
    agents::write(&root.join(rollout), &agents::codex(&one));
    agents::write(&root.join("generic/own.jsonl"), &agents::generic(&talk_of("own")));
    let one = talk_of(&uuid(3));
    let transcript = format!("cursor/projects/srv-app/agent-transcripts/{0}/{0}.jsonl", one.id);
    agents::write(&root.join(transcript), &agents::cursor_lines(&one));
    let state = root.join("cursor/globalStorage/state.vscdb");
    drop(agents::cursor_database(&state, &talk_of(&uuid(4))));
    drop(agents::opencode_database(&root.join("opencode/opencode.db"), &talk_of("ses_5")));
    agents::opencode_tree(&root.join("opencode/other/storage"), &talk_of("ses_6"));
    agents::write(&home.root().join("import.jsonl"), &agents::generic(&talk_of("imported")));
    forbidden
}

/// Returns what all trace commands print for these sessions.
fn print_all(home: &TestHome) -> String {
    let root = home.root().join("agents");
    let mut printed = String::new();
    let mut run = |args: &[&str]| {
        let shown = home.run(args);
        assert!(!shown.contains("[exit"), "{args:?}: {shown}");
        printed.push_str(&shown);
    };
    for agent in ["claude", "codex", "cursor", "opencode", "generic"] {
        run(&["connect", agent, "--path", &root.join(agent).display().to_string()]);
    }
    run(&["sync", "--no-extract"]);
    run(&["trace", "import", &home.root().join("import.jsonl").display().to_string()]);
    let (_, list) = home.json(&["trace", "--all", "-n", "0"]);
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 8, "{list}");
    for session in sessions {
        let key = session["id"].as_str().unwrap();
        let counts = &session["facts"]["counts"];
        assert!(counts["user"].as_u64().unwrap() >= KINDS.len() as u64, "{session}");
        assert!(counts["tool_results"].as_u64().unwrap() >= KINDS.len() as u64, "{session}");
        run(&["trace", "show", key, "--full"]);
        run(&["trace", "show", key, "--full", "--json"]);
    }
    for args in [
        &["trace", "--all", "-n", "0", "--json"][..],
        &["trace", "--all", "-n", "0"],
        &["trace", "search", "please use", "--all", "-n", "500"],
        &["trace", "search", "set as you said", "--all", "-n", "500", "--json"],
        &["status"],
        &["status", "--json"],
        &["queue", "-n", "0"],
        &["queue", "-n", "0", "--json"],
        &["connect", "list", "--json"],
        &["sync", "--no-extract", "--force", "--json"],
        &["doctor"],
    ] {
        run(args);
    }
    printed
}

#[test]
fn no_secret_of_a_trace_is_kept_or_printed() {
    let home = TestHome::new();
    let forbidden = write_traces(&home);
    assert!(forbidden.len() >= 8 * 56);
    let mut kept = vec![("what was printed".to_owned(), print_all(&home).into_bytes())];
    let mut files = Vec::new();
    walk(&home.root().join(".nacre"), &mut files);
    walk(&home.store(""), &mut files);
    kept.extend(files.iter().map(|file| (file.display().to_string(), fs::read(file).unwrap())));
    assert!(kept.iter().any(|(name, _)| name.ends_with("catalog.sqlite3")));
    let mut leaks = Vec::new();
    for (name, bytes) in &kept {
        for (label, runs) in &forbidden {
            let found = runs.iter().find_map(|run| memchr::memmem::find(bytes, run));
            leaks.extend(found.map(|at| {
                let around = &bytes[at.saturating_sub(60)..bytes.len().min(at + 60)];
                format!("{label} in {name}: {}", String::from_utf8_lossy(around))
            }));
        }
    }
    assert!(leaks.is_empty(), "{} leaks: {leaks:#?}", leaks.len());
}

#[test]
fn no_secret_survives_by_being_cut_in_two() {
    let bounds = TextBounds::of(EventKind::ToolResult);
    let filler = "all is well with the build, and nothing more was said about it\n".repeat(400);
    let mut leaks = Vec::new();
    for (label, text, sample) in secrets(11) {
        let runs = runs(&sample.secret);
        // Redacting earlier secrets shortens the text, so more of it moves into the inspected part.
        for n_before in [0, 40] {
            let before = format!("{}\n", &text).repeat(n_before);
            for cut in 0..6 {
                let at = |edge: usize| edge.saturating_sub(text.len() * cut / 6);
                let (head_edges, n_filler) = ([bounds.head, bounds.head + 2048], filler.len());
                for edge in head_edges {
                    let lead = at(edge).saturating_sub(before.len());
                    let whole = format!("{before}{}\n{text}\n{filler}", &filler[..lead]);
                    check(
                        &whole,
                        &runs,
                        || format!("{label} at head {edge} cut {cut} after {n_before}"),
                        &mut leaks,
                    );
                }
                for edge in [bounds.tail, bounds.tail + 2048] {
                    let rest = at(edge).saturating_sub(before.len());
                    let whole = format!("{filler}\n{text}\n{}{before}", &filler[n_filler - rest..]);
                    check(
                        &whole,
                        &runs,
                        || format!("{label} at tail {edge} cut {cut} before {n_before}"),
                        &mut leaks,
                    );
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks: {:#?}", leaks.len(), &leaks[..leaks.len().min(40)]);
}

fn check(text: &str, runs: &[Vec<u8>], what: impl Fn() -> String, leaks: &mut Vec<String>) {
    let bounded = BoundedText::new(text, TextBounds::of(EventKind::ToolResult));
    let kept = format!("{}\n{}", bounded.head(), bounded.tail());
    if runs.iter().any(|run| memchr::memmem::find(kept.as_bytes(), run).is_some()) {
        leaks.push(what());
    }
}

#[test]
fn what_names_and_types_say_is_clean_too() {
    let home = TestHome::new();
    let token = KINDS.iter().find(|kind| kind.label == "github-classic").unwrap();
    let secret = token.sample(&mut Dice::new(21)).secret;
    // In running text, this secret cannot be distinguished from part of a path.
    let weak = KINDS.iter().find(|kind| kind.label == "huggingface").unwrap();
    let weak = weak.sample(&mut Dice::new(22)).secret;
    let records = [
        json!({ "type": "session", "version": 1, "id": "odd", "cwd": format!("/srv/{weak}/app"), "git_branch": format!("fix/{secret}"),
            "agent_version": secret, "models": [secret], "repository": format!("https://x:{secret}@host/r.git") }),
        json!({ "type": "user", "text": "hello", "key": secret, "place": { "row": { "key": secret } } }),
        json!({ "type": "tool_call", "tool": secret, "call": secret, "text": "{}" }),
        json!({ "type": secret, "text": "of no known type" }),
    ];
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    agents::write(&home.root().join("traces/odd.jsonl"), &text);
    let folder = home.root().join("traces").display().to_string();
    let mut printed = home.ok(&["connect", "generic", "--path", &folder]);
    printed += &home.ok(&["sync", "--no-extract"]);
    let (_, list) = home.json(&["trace", "--all"]);
    assert_eq!(list["sessions"][0]["report"]["unknown_records"], 1, "{list}");
    let key = list["sessions"][0]["id"].as_str().unwrap();
    printed += &home.ok(&["trace", "show", key, "--full", "--json"]);
    printed += &home.ok(&["trace", "show", key, "--full"]);
    printed += &list.to_string();
    let mut files = Vec::new();
    walk(&home.root().join(".nacre"), &mut files);
    let kept = files.iter().map(|file| (file.display().to_string(), fs::read(file).unwrap()));
    for (name, bytes) in kept.chain([("the output".to_owned(), printed.into_bytes())]) {
        for secret in [&secret, &weak] {
            let run = &secret.as_bytes()[..SURVIVING_RUN];
            assert!(memchr::memmem::find(&bytes, run).is_none(), "{run:?} in {name}");
        }
    }
}
