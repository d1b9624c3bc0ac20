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

/// What stands in one line of an agent's file and of no other's; the first row that fits tells the agent.
const MARKS: &[(Agent, &[&str])] = &[
    (Agent::Droid, &["\"type\":\"session_start\""]),
    (Agent::Copilot, &["\"type\":\"session.start\""]),
    (Agent::Copilot, &["\"type\":\"user.message\""]),
    (Agent::Copilot, &["\"type\":\"assistant.message\""]),
    (Agent::Gemini, &["\"projectHash\""]),
    (Agent::Qwen, &["\"parentUuid\"", "\"systemPayload\""]),
    (Agent::Qwen, &["\"parentUuid\"", "\"parts\":["]),
    (Agent::Continue, &["\"workspaceDirectory\""]),
    (Agent::Pi, &["\"type\":\"session\"", "\"timestamp\":", "\"cwd\":"]),
    (Agent::Generic, &["\"type\":\"session\""]),
    (Agent::Generic, &["\"type\": \"session\""]),
    (Agent::Codex, &["\"payload\""]),
    (Agent::Codex, &["\"record_type\""]),
    (Agent::Codex, &["\"session_meta\""]),
    (Agent::Codex, &["\"call_id\""]),
    (Agent::OpenCode, &["\"projectID\""]),
    (Agent::OpenCode, &["\"sessionID\""]),
    (Agent::OpenCode, &["\"providerID\""]),
    (Agent::Claude, &["\"sessionId\""]),
    (Agent::Claude, &["\"parentUuid\""]),
    (Agent::Claude, &["\"leafUuid\""]),
    (Agent::Claude, &["\"isSidechain\""]),
];

/// How the names of files end that only one agent gives.
const NAMES: &[(Agent, &str)] = &[
    (Agent::Cline, ".messages.json"),
    (Agent::Cline, "api_conversation_history.json"),
    (Agent::Aider, "aider.chat.history.md"),
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
    if let Some((agent, _)) = NAMES.iter().find(|(_, end)| name.ends_with(end)) {
        return *agent;
    }
    if text.lines().take(SEEN_LINES).any(|line| line.starts_with("# aider chat started at ")) {
        return Agent::Aider;
    }
    let lines: Vec<&str> = text.lines().take(SEEN_LINES).collect();
    let has =
        |marks: &[&str]| lines.iter().any(|line| marks.iter().all(|mark| line.contains(mark)));
    let marked = MARKS.iter().find(|(_, marks)| has(marks)).map(|(agent, _)| *agent);
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
            ("a.jsonl", r#"{"sessionId":"x","projectHash":"y","startTime":"t"}"#, Agent::Gemini),
            ("a.json", "{\n  \"sessionId\": \"x\",\n  \"projectHash\": \"y\"", Agent::Gemini),
            (
                "a.jsonl",
                r#"{"uuid":"u","parentUuid":null,"sessionId":"x","type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
                Agent::Qwen,
            ),
            ("a.jsonl", r#"{"type":"session.start","data":{"sessionId":"x"}}"#, Agent::Copilot),
            (
                "a.jsonl",
                r#"{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/p"}"#,
                Agent::Pi,
            ),
            ("a.jsonl", r#"{"type":"session_start","id":"x","title":"t"}"#, Agent::Droid),
            ("1.messages.json", r#"{"sessionId":"x","messages":[]}"#, Agent::Cline),
            ("api_conversation_history.json", "[]", Agent::Cline),
            (
                "a.json",
                r#"{"sessionId":"x","workspaceDirectory":"/p","history":[]}"#,
                Agent::Continue,
            ),
            (".aider.chat.history.md", "", Agent::Aider),
            ("a.md", "\n# aider chat started at 2026-01-02 03:04:05\n", Agent::Aider),
            ("a.json", r#"{"info":{"id":"ses_1","model":{"providerID":"p"}}}"#, Agent::OpenCode),
            ("state.vscdb", "SQLite format 3\0", Agent::Cursor),
            ("opencode.db", "SQLite format 3\0", Agent::OpenCode),
        ];
        for (name, text, agent) in cases {
            assert_eq!(told_by(name, text), agent, "{name} {text}");
        }
    }
}
