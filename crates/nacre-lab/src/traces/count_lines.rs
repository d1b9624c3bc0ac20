//! Compares the events that the adapters read with independent counts from `tools/trace-checks/`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use nacre_traces::agents::ADAPTERS;
use nacre_traces::transcript::Sink;
use nacre_traces::transcript::{Adapter, Trace, TraceSource};
use nacre_traces::transcript::{EventKind, Position, TranscriptEvent};
use serde_json::Value;

use crate::Outcome;

const MORE: [&str; 9] =
    ["gemini", "qwen", "copilot", "pi", "droid", "cline", "continue", "aider", "opencode"];

/// Compare the events that the adapters read with independent counts from `tools/trace-checks/`
#[derive(Debug, clap::Args)]
pub(crate) struct CountLinesArgs {
    /// The directory that contains the traces
    root: PathBuf,
    /// Print the number of messages read and counted in each trace
    #[arg(long)]
    table: bool,
}

pub(super) fn run(args: &CountLinesArgs) -> Outcome {
    let CountLinesArgs { root, table: has_table } = args;
    let has_table = *has_table;
    let mut n_wrong = 0;
    for agent in ["claude", "codex"].into_iter().chain(MORE) {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
        let roots = [root.join(agent), root.join("mixed/jazzyalex__agent-sessions").join(agent)];
        let mut sources = adapter.discover(&roots).sources;
        for path in extra_files(&roots[1]) {
            sources.extend(adapter.discover(&[path]).sources);
        }
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        sources.dedup_by(|a, b| a.path == b.path);
        // OpenCode's databases are covered by `count_databases`, and its exports are not
        // line-based.
        let is_counted = |source: &TraceSource| {
            let name = source.path.file_name().unwrap().to_string_lossy();
            (agent != "opencode" || name.ends_with(".json")) && !name.starts_with("stream_json")
        };
        sources.retain(is_counted);
        let expected = count_expected(agent, &sources);
        let mut totals = [0_usize; 4];
        for (source, expected) in sources.iter().zip(&expected) {
            let (events, outcome) = read_all(*adapter, source);
            let problems = match outcome {
                Ok(()) => compare(&events, expected),
                Err(error) => vec![error],
            };
            if has_table && MORE.contains(&agent) {
                print_row(root, source, &events, expected);
            }
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
    Ok(n_wrong == 0)
}

fn read_all(
    adapter: &dyn Adapter,
    source: &TraceSource,
) -> (Vec<TranscriptEvent>, Result<(), String>) {
    let mut events = Vec::new();
    let traces = match adapter.agent().as_str() {
        "aider" => adapter.sessions(source).unwrap_or_default(),
        _ => vec![Trace::whole(source.clone())],
    };
    for trace in traces {
        let mut each = |event| events.push(event);
        let outcome = adapter.read(&trace, None, Sink::everything(&mut each));
        if let Err(error) = outcome {
            return (events, Err(error.to_string()));
        }
    }
    (events, Ok(()))
}

/// Returns the number of distinct positions of user messages.
fn n_persons(events: &[TranscriptEvent]) -> u64 {
    let spoken = events.iter().filter(|event| event.person().is_some());
    let places: HashSet<String> = spoken.map(|event| format!("{:?}", event.place)).collect();
    places.len() as u64
}

/// Prints one line with the counts of user messages, assistant texts, calls and results: first the
/// adapter's, then the independent ones.
fn print_row(root: &Path, source: &TraceSource, events: &[TranscriptEvent], expected: &Value) {
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let path = source.path.strip_prefix(root).unwrap_or(&source.path);
    println!(
        "{} | {} {} {} {} | {} {} {} {}",
        path.display(),
        n_persons(events),
        count(EventKind::Assistant),
        count(EventKind::ToolCall),
        count(EventKind::ToolResult),
        expected["persons"],
        expected["assistant"].as_array().map_or(0, Vec::len),
        expected["calls"],
        expected["results"],
    );
}

fn extra_files(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

fn count_expected(agent: &str, sources: &[TraceSource]) -> Vec<Value> {
    let is_more = MORE.contains(&agent);
    let script = if is_more { "more_counts.py".to_owned() } else { format!("{agent}_counts.py") };
    let paths = sources.iter().map(|source| &source.path);
    let output = Command::new("python3")
        .current_dir("tools/trace-checks")
        .arg(script)
        .args(is_more.then_some(agent))
        .args(paths)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn compare(events: &[TranscriptEvent], expected: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let count = |kind| events.iter().filter(|event| event.kind == kind).count() as u64;
    for (kind, name) in [(EventKind::ToolCall, "calls"), (EventKind::ToolResult, "results")] {
        if count(kind) != expected[name].as_u64().unwrap() {
            problems.push(format!("{name}: {} instead of {}", count(kind), expected[name]));
        }
    }
    compare_assistant(events, expected, &mut problems);
    if let Some(persons) = expected["persons"].as_u64()
        && persons != n_persons(events)
    {
        problems.push(format!("user messages: {} instead of {persons}", n_persons(events)));
    }
    for name in ["user", "queued", "prompts"] {
        for said in expected[name].as_array().into_iter().flatten() {
            let (line, text) = (said[0].as_u64().unwrap(), said[1].as_str().unwrap());
            // Background task notifications and image placeholders were not written by the user.
            if text.starts_with("<task-notification>") || text.starts_with("<image ") {
                continue;
            }
            if let Some(lost) = lost_word(events, line, text) {
                problems.push(format!("{name} at {line}: `{lost}` is missing from {text:?}"));
            }
        }
    }
    problems
}

/// Checks that each assistant text is returned exactly as often as it occurs in the trace.
fn compare_assistant(events: &[TranscriptEvent], expected: &Value, problems: &mut Vec<String>) {
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

/// Returns the first word of a user message that does not appear in the events for its line.
/// Returns `None` if any user event in the trace contains the whole message, because the adapter
/// may return a queued message at an earlier position.
fn lost_word(events: &[TranscriptEvent], line: u64, text: &str) -> Option<String> {
    let said =
        |event: &&TranscriptEvent| matches!(event.kind, EventKind::User | EventKind::Summary);
    let at_line = |event: &&TranscriptEvent| match &event.place {
        // The adapter may return a Codex prompt one line after its item.
        Position::Line { line: number, .. } => *number == line || *number == line + 1,
        Position::Row { key } => key.ends_with(&format!("/{line}")) || key.starts_with("part:"),
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

fn text_of(event: &TranscriptEvent) -> String {
    format!("{}{} ", event.text.head(), event.text.tail())
}

/// Returns whether `word` is a tag that the adapters remove from user messages.
fn is_tag(word: &str) -> bool {
    matches!(
        word.trim_start_matches('/'),
        "command-args" | "bash-input" | "user_query" | "image" | "user_input" | "task" | "feedback"
    ) || word.starts_with("mode=")
}
