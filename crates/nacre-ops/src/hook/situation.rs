//! Reads the messages before a prompt from the end of the agent's transcript.
//!
//! The file must be in one of the agent's directories. Only its end is read, so that a long session
//! does not slow down the hook. Agents that write one JSON object per line use similar field names,
//! so a single parser handles all of them and skips lines that it cannot parse.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use nacre_traces::agents::connectable_agent;
use nacre_traces::transcript::injected::split_user;
use nacre_types::HookSession;
use serde::Deserialize;

use crate::host::{Host, connections};

/// Number of bytes to read from the end of a transcript.
const MAX_BYTES: u64 = 1 << 20;

const MAX_MESSAGES: usize = 60;

/// Returns the latest messages of the user and the agent, oldest first. Returns an empty list if
/// the transcript cannot be read.
pub(super) fn past_messages(host: &Host, session: &HookSession, trace: &str) -> Vec<String> {
    read_tail(host, session, trace).map_or_else(Vec::new, |tail| messages(&tail))
}

fn read_tail(host: &Host, session: &HookSession, trace: &str) -> Option<Vec<u8>> {
    let path = host.environment.absolute(Path::new(trace)).canonicalize().ok()?;
    let agent = connectable_agent(&session.agent)?.adapter?.agent();
    let connections = connections(host, &[agent]).ok()?;
    let mut roots = connections.iter().flat_map(|connection| &connection.roots);
    let is_inside = |root: &Path| {
        nacre_base::platform::canonicalize(root).is_ok_and(|root| path.starts_with(root))
    };
    if !roots.any(|root| is_inside(root)) || !path.is_file() {
        return None;
    }
    let mut file = File::open(&path).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(MAX_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn messages(tail: &[u8]) -> Vec<String> {
    let lines = tail.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let parsed = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    let own = parsed.filter(|line| !line.is_sidechain && !line.is_meta);
    let texts = own.map(|line| text_of(line.message)).filter(|text| !text.is_empty());
    let mut found: Vec<String> = texts.take(MAX_MESSAGES).collect();
    found.reverse();
    found
}

/// A line of a transcript. Codex stores the message in `payload`, and Copilot stores it in `data`.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "payload", alias = "data")]
    message: Message,
    #[serde(default, rename = "isSidechain")]
    is_sidechain: bool,
    #[serde(default, rename = "isMeta")]
    is_meta: bool,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    role: String,
    #[serde(alias = "parts")]
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    text: String,
}

/// Returns text from the user or the agent. Returns an empty string for the input and output of
/// tools.
fn text_of(Message { role, content }: Message) -> String {
    let text = match content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            blocks.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n")
        }
    };
    let is_agents = matches!(role.as_str(), "assistant" | "model");
    if is_agents { text.trim().to_owned() } else { own_words(&text) }
}

/// Returns a prompt without text that was inserted by programs.
pub(super) fn own_words(prompt: &str) -> String {
    let pieces = split_user(prompt).into_iter();
    let own = pieces.filter(|piece| piece.origin.person().is_some());
    own.map(|piece| piece.text.into_owned()).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_several_agents_are_read_and_all_else_is_skipped() {
        let deep = "[".repeat(50_000);
        let lines = [
            r#"{"type":"summary","summary":"x"}"#.to_owned(),
            r#"{"message":{"role":"user","content":"Add a flag"}}"#.to_owned(),
            r#"{"message":{"role":"user","content":[{"type":"tool_result","content":"out"}]}}"#.to_owned(),
            r#"{"message":{"role":"assistant","content":[{"type":"text","text":"Which one?"},{"type":"tool_use","input":{"text":1}}]}}"#.to_owned(),
            r#"{"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"--dry-run"}]}}"#.to_owned(),
            r#"{"message":{"role":"model","parts":[{"text":"Done \u0000"}]}}"#.to_owned(),
            r#"{"isSidechain":true,"message":{"role":"user","content":"Find it"}}"#.to_owned(),
            format!(r#"{{"message":{{"role":"user","content":{deep}"#),
            "\u{0}not JSON".to_owned(),
            r#"{"message":{"role":"user","content":"<system-reminder>x</system-reminder>"}}"#.to_owned(),
        ];
        let tail = lines.join("\n");
        let expected = ["Add a flag", "Which one?", "--dry-run", "Done \u{0}"];
        assert_eq!(messages(tail.as_bytes()), expected);
        // The first line of the tail is usually incomplete.
        assert_eq!(messages(&tail.as_bytes()[40..]), expected[1..]);
        assert!(messages(&[0xff; 100]).is_empty());
    }

    #[test]
    fn the_latest_messages_are_kept() {
        let line =
            |n: usize| format!("{{\"message\":{{\"role\":\"user\",\"content\":\"{n}\"}}}}\n");
        let tail: String = (0..100).map(line).collect();
        let found = messages(tail.as_bytes());
        assert_eq!((found.len(), found[0].as_str()), (MAX_MESSAGES, "40"));
    }
}
