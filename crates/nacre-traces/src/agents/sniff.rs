//! Detects which agent wrote a file from its first lines, because file and directory names are
//! unreliable.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::{AGENTS, AgentSpec, Mark};
use crate::transcript::toolkit::*;

const HEAD_BYTES: u64 = 64 * 1024;
const HEAD_LINES: usize = 24;

/// Returns the session in a file passed by the user, which must contain exactly one.
pub fn trace_at(path: &Path) -> Result<Trace> {
    trace_in(path, "")
}

/// Returns the session in the file whose id is `prefix`, or the only one that starts with it.
pub fn trace_in(path: &Path, prefix: &str) -> Result<Trace> {
    let mut sessions = traces_at(path)?;
    let id = |trace: &Trace| trace.session.clone().unwrap_or_default();
    let is_whole = sessions.iter().any(|trace| id(trace) == prefix);
    sessions.retain(|trace| id(trace).starts_with(prefix) && (!is_whole || id(trace) == prefix));
    let unreadable = |reason| Error::Unreadable { path: path.to_owned(), reason };
    match sessions.len() {
        1 => Ok(sessions.remove(0)),
        0 => Err(unreadable("the file contains no session")),
        _ => Err(unreadable("the file contains several sessions; name one of them: FILE:ID")),
    }
}

pub fn traces_at(path: &Path) -> Result<Vec<Trace>> {
    let unreadable = |reason| Error::Unreadable { path: path.to_owned(), reason };
    let adapter =
        agent_of(path)?.adapter.ok_or_else(|| unreadable("the agent that wrote it is unknown"))?;
    let mut found = adapter.discover(&[path.to_owned()]);
    if let Some(problem) = found.problems.pop() {
        return Err(problem.error);
    }
    let source = found.sources.pop().ok_or_else(|| unreadable("the file contains no session"))?;
    adapter.sessions(&source)
}

fn agent_of(path: &Path) -> Result<&'static AgentSpec> {
    let opened =
        File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    let mut bytes = Vec::new();
    let read = opened.take(HEAD_BYTES).read_to_end(&mut bytes);
    read.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(agent_by_head(&file_name(path), &String::from_utf8_lossy(&bytes)))
}

/// Detects the agent from the file's name and first lines. A file without a known marker is read in
/// Nacre's own format.
fn agent_by_head(name: &str, text: &str) -> &'static AgentSpec {
    let is_database = text.starts_with("SQLite format 3");
    let lines: Vec<&str> = text.lines().take(HEAD_LINES).collect();
    let matches = |mark: &Mark| match mark {
        Mark::Database(end) => is_database && name.ends_with(end),
        Mark::NameStart(start) => name.starts_with(start),
        Mark::NameEnd(end) => name.ends_with(end),
        Mark::LineStart(start) => lines.iter().any(|line| line.starts_with(start)),
        Mark::Line(parts) => lines.iter().any(|line| parts.iter().all(|part| line.contains(part))),
    };
    let rank = |spec: &AgentSpec| {
        spec.marks.iter().filter(|(_, mark)| matches(mark)).map(|(rank, _)| *rank).min()
    };
    let found = AGENTS.iter().filter_map(|spec| Some((rank(spec)?, *spec)));
    found.min_by_key(|(rank, _)| *rank).map_or(&super::generic::SPEC, |(_, spec)| spec)
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
            assert_eq!(agent_by_head(name, text).name, agent.as_str(), "{name} {text}");
        }
    }
}
