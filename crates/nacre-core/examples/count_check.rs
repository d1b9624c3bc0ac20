//! Compares what the adapters read with counts that the scripts in `tools/trace-checks/` make on their own.
//!
//! Usage: `count_check TRACES_FOLDER`. Ends with 1 when a message is lost or given twice.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nacre_core::transcript::adapter::{Source, Trace};
use nacre_core::transcript::event::{Event, EventKind, Place};
use nacre_core::transcript::{ADAPTERS, Sink};
use serde_json::Value;

fn main() -> ExitCode {
    let root = PathBuf::from(std::env::args().nth(1).unwrap());
    let mut n_wrong = 0;
    for agent in ["claude", "codex"] {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
        let roots = [root.join(agent), root.join("mixed/jazzyalex__agent-sessions").join(agent)];
        let mut sources = adapter.discover(&roots).sources;
        for path in extra_files(&roots[1]) {
            sources.extend(adapter.discover(&[path]).sources);
        }
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        sources.dedup_by(|a, b| a.path == b.path);
        let expected = expected(agent, &sources);
        let mut totals = [0_usize; 4];
        for (source, expected) in sources.iter().zip(&expected) {
            let mut events = Vec::new();
            let outcome = adapter.read(
                &Trace::whole(source.clone()),
                None,
                Sink::everything(&mut |event| events.push(event)),
            );
            let problems = match outcome {
                Ok(_) => compare(&events, expected),
                Err(error) => vec![format!("{error}")],
            };
            let kinds =
                [EventKind::User, EventKind::Assistant, EventKind::ToolCall, EventKind::ToolResult];
            for (total, kind) in totals.iter_mut().zip(kinds) {
                *total += events.iter().filter(|event| event.kind == kind).count();
            }
            for problem in &problems {
                println!("{}: {problem}", source.path.display());
            }
            n_wrong += usize::from(!problems.is_empty());
        }
        println!(
            "{agent}: {} traces, {} user, {} assistant, {} calls, {} results",
            sources.len(),
            totals[0],
            totals[1],
            totals[2],
            totals[3]
        );
    }
    println!("{n_wrong} traces differ");
    if n_wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fixtures of other projects do not carry the names that agents give.
fn extra_files(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

fn expected(agent: &str, sources: &[Source]) -> Vec<Value> {
    let script = format!("{agent}_counts.py");
    let paths = sources.iter().map(|source| &source.path);
    let output = Command::new("python3")
        .current_dir("tools/trace-checks")
        .arg(script)
        .args(paths)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn compare(events: &[Event], expected: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let count = |kind| events.iter().filter(|event| event.kind == kind).count() as u64;
    for (kind, name) in [(EventKind::ToolCall, "calls"), (EventKind::ToolResult, "results")] {
        if count(kind) != expected[name].as_u64().unwrap() {
            problems.push(format!("{name}: {} instead of {}", count(kind), expected[name]));
        }
    }
    compare_assistant(events, expected, &mut problems);
    for name in ["user", "queued", "prompts"] {
        for said in expected[name].as_array().into_iter().flatten() {
            let (line, text) = (said[0].as_u64().unwrap(), said[1].as_str().unwrap());
            // Notices of background tasks and marks of pictures are nobody's words.
            if text.starts_with("<task-notification>") || text.starts_with("<image ") {
                continue;
            }
            if let Some(lost) = lost_word(events, line, text) {
                problems.push(format!("{name} at {line}: `{lost}` is lost from {text:?}"));
            }
        }
    }
    problems
}

/// Every assistant text must be given exactly as often as it was said.
fn compare_assistant(events: &[Event], expected: &Value, problems: &mut Vec<String>) {
    let mut balance: HashMap<String, i64> = HashMap::new();
    for said in expected["assistant"].as_array().unwrap() {
        *balance.entry(key(said[1].as_str().unwrap())).or_default() += 1;
    }
    for event in events.iter().filter(|event| event.kind == EventKind::Assistant) {
        *balance.entry(key(event.text.head())).or_default() -= 1;
    }
    for (text, count) in balance.into_iter().filter(|(_, count)| *count != 0) {
        problems.push(format!("assistant {count:+}: {text:?}"));
    }
}

fn key(text: &str) -> String {
    text.trim().chars().take(2000).collect()
}

/// The first word of a user text that stands neither in the events of its line nor, when it was
/// queued before, in those of another.
fn lost_word(events: &[Event], line: u64, text: &str) -> Option<String> {
    let said = |event: &&Event| matches!(event.kind, EventKind::User | EventKind::Summary);
    let at_line = |event: &&Event| match &event.place {
        // A prompt of Codex may be given at the event that follows its item.
        Place::Line { line: number, .. } => *number == line || *number == line + 1,
        Place::Row { key } => *key == format!("items/{line}"),
    };
    let here: String = events.iter().filter(said).filter(at_line).map(text_of).collect();
    let words: Vec<&str> =
        text.split_whitespace().flat_map(|word| word.split(['<', '>'])).collect();
    let missing = words.iter().find(|word| !here.contains(**word) && !is_tag(word))?;
    let elsewhere = events
        .iter()
        .filter(said)
        .map(text_of)
        .any(|other| words.iter().all(|word| other.contains(word) || is_tag(word)));
    (!elsewhere).then(|| (*missing).to_owned())
}

fn text_of(event: &Event) -> String {
    format!("{}{} ", event.text.head(), event.text.tail())
}

/// The names of tags that are taken off the person's words.
fn is_tag(word: &str) -> bool {
    matches!(word.trim_start_matches('/'), "command-args" | "bash-input" | "user_query" | "image")
}
