//! Which agent wrote a file: told by its first lines, because names and folders lie.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::ADAPTERS;
use super::adapter::Trace;
use super::error::{Error, Result};
use super::facts::Agent;

/// What is looked at of a file.
const SEEN_BYTES: u64 = 64 * 1024;
const SEEN_LINES: usize = 24;

/// Keys that only one agent writes, as they stand in a line.
const MARKS: &[(Agent, &[&str])] = &[
    (Agent::Claude, &["\"sessionId\"", "\"parentUuid\"", "\"leafUuid\"", "\"isSidechain\""]),
    (Agent::Codex, &["\"payload\"", "\"record_type\"", "\"session_meta\"", "\"call_id\""]),
    (Agent::Generic, &["\"type\":\"session\"", "\"type\": \"session\""]),
];

/// The one session in a file that a person named.
pub fn trace_at(path: &Path) -> Result<Trace> {
    let mut sessions = traces_at(path)?;
    let unreadable = |reason| Error::Unreadable { path: path.to_owned(), reason };
    match sessions.len() {
        1 => Ok(sessions.remove(0)),
        0 => Err(unreadable("it holds no session")),
        _ => Err(unreadable("it holds several sessions; name one of them")),
    }
}

/// All sessions in a file.
pub fn traces_at(path: &Path) -> Result<Vec<Trace>> {
    let agent = agent_of(path)?;
    let unreadable = |reason| Error::Unreadable { path: path.to_owned(), reason };
    let adapter = ADAPTERS
        .iter()
        .find(|adapter| adapter.agent() == agent)
        .ok_or_else(|| unreadable("its agent is not known here"))?;
    let mut found = adapter.discover(&[path.to_owned()]);
    if let Some(problem) = found.problems.pop() {
        return Err(problem.error);
    }
    let source = found.sources.pop().ok_or_else(|| unreadable("it holds no session"))?;
    adapter.sessions(&source)
}

fn agent_of(path: &Path) -> Result<Agent> {
    let opened =
        File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    let mut bytes = Vec::new();
    let read = opened.take(SEEN_BYTES).read_to_end(&mut bytes);
    read.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(told_by(&name, &String::from_utf8_lossy(&bytes)))
}

fn told_by(name: &str, text: &str) -> Agent {
    if text.starts_with("SQLite format 3") {
        let is_cursor = name.ends_with(".vscdb") || name == "store.db";
        return if is_cursor { Agent::Cursor } else { Agent::OpenCode };
    }
    // Packed rollouts show nothing of their lines.
    if name.starts_with("rollout-") || name.ends_with(".zst") {
        return Agent::Codex;
    }
    let lines: Vec<&str> = text.lines().take(SEEN_LINES).collect();
    let has =
        |marks: &[&str]| lines.iter().any(|line| marks.iter().any(|mark| line.contains(mark)));
    let marked = MARKS.iter().rev().find(|(_, marks)| has(marks)).map(|(agent, _)| *agent);
    let is_cursor =
        name.ends_with(".txt") || (has(&["\"role\""]) && has(&["\"message\":{\"content\""]));
    match marked {
        Some(agent) => agent,
        None if is_cursor => Agent::Cursor,
        None => Agent::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_by_what_it_writes() {
        let cases = [
            (
                "a.jsonl",
                r#"{"type":"user","message":{},"sessionId":"x","parentUuid":null}"#,
                Agent::Claude,
            ),
            ("a.jsonl", r#"{"timestamp":"t","type":"event_msg","payload":{}}"#, Agent::Codex),
            ("rollout-1.jsonl", "{}", Agent::Codex),
            ("a.jsonl", r#"{"type":"session","version":1,"id":"x"}"#, Agent::Generic),
            ("a.jsonl", r#"{"type":"user","text":"hello"}"#, Agent::Generic),
            ("a.jsonl", r#"{"role":"user","message":{"content":[]}}"#, Agent::Cursor),
            ("state.vscdb", "SQLite format 3\0", Agent::Cursor),
            ("opencode.db", "SQLite format 3\0", Agent::OpenCode),
        ];
        for (name, text, agent) in cases {
            assert_eq!(told_by(name, text), agent, "{name} {text}");
        }
    }
}
