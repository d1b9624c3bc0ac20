//! A stored session as the updates that it would have been, for a client that loads it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nacre_api::wire::{Attachment, ChatItem, ChatItemKind, TaskState};

use super::protocol::{SessionUpdate, ToolCall, ToolStatus};
use super::tool_calls::{begun, call_id, ended, summary};
use super::updates::plan;

/// The items of a session, one after the other.
pub(super) struct Replay {
    root: PathBuf,
    session: String,
    /// Calls without a result: the client's id of each.
    open: BTreeSet<String>,
}

impl Replay {
    pub(super) fn new(root: PathBuf, session: String) -> Self {
        Self { root, session, open: BTreeSet::new() }
    }

    /// What the client is sent about an item.
    pub(super) fn take(&mut self, item: ChatItem) -> Option<SessionUpdate> {
        let message_id = format!("{}.{}", self.session, item.sequence);
        let id_of = |call: &str| call_id(item.task.as_deref().unwrap_or_default(), call);
        let say = |text: String| SessionUpdate::AgentMessageChunk {
            content: text.into(),
            message_id: message_id.clone(),
        };
        let think = |text: String| SessionUpdate::AgentThoughtChunk {
            content: text.into(),
            message_id: message_id.clone(),
        };
        match item.kind {
            ChatItemKind::User { text, attachments, is_steering: _ } => {
                let content = with_attachments(text, &attachments).into();
                Some(SessionUpdate::UserMessageChunk { content, message_id })
            }
            ChatItemKind::Assistant { text, .. } => (!text.is_empty()).then(|| say(text)),
            ChatItemKind::Reasoning { text } => (!text.is_empty()).then(|| think(text)),
            ChatItemKind::ToolCall { call, tool, arguments } => {
                let id = id_of(&call);
                self.open.insert(id.clone());
                let about = summary(&arguments);
                let call = begun(&self.root, id, &tool, &about, arguments);
                Some(SessionUpdate::ToolCall(call))
            }
            ChatItemKind::ToolResult { call, tool, outcome, text } => {
                let id = id_of(&call);
                self.open.remove(&id);
                let call = ended(&self.root, id, &tool, outcome, &text, &[]);
                Some(SessionUpdate::ToolCallUpdate(call))
            }
            ChatItemKind::Checklist { items } => Some(plan(items)),
            ChatItemKind::Summary { text } => Some(think(format!("What was said before: {text}"))),
            ChatItemKind::Undone { paths } => {
                Some(say(format!("Taken back: {}", paths.join(", "))))
            }
            ChatItemKind::Ended { state, reason } => {
                let word = match state {
                    TaskState::Failed => "The turn failed",
                    TaskState::Cancelled => "The turn was cancelled",
                    TaskState::Accepted
                    | TaskState::Queued
                    | TaskState::Running
                    | TaskState::Completed => return None,
                };
                Some(think(reason.map_or(word.to_owned(), |reason| format!("{word}: {reason}"))))
            }
            // Said by the host to the agent.
            ChatItemKind::Notice { .. } => None,
        }
    }

    /// Calls that never ended, because the process was killed or the turn stopped.
    pub(super) fn finish(self) -> impl Iterator<Item = SessionUpdate> {
        self.open.into_iter().map(|tool_call_id| {
            let status = Some(ToolStatus::Failed);
            SessionUpdate::ToolCallUpdate(ToolCall { tool_call_id, status, ..ToolCall::default() })
        })
    }
}

fn with_attachments(text: String, attachments: &[Attachment]) -> String {
    let names = attachments.iter().map(|attachment| match attachment {
        Attachment::File { path } => path.as_str(),
        Attachment::Text { name, .. } => name.as_str(),
        Attachment::Image { media_type, .. } => media_type.as_str(),
    });
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => text,
        false => format!("{text}\n\nAttached: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn replay(items: &[Value]) -> Vec<Value> {
        let mut replay = Replay::new(PathBuf::from("/w"), "ses_1".to_owned());
        let mut updates: Vec<SessionUpdate> = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let mut item = item.clone();
            item["sequence"] = json!(number + 1);
            item["task"] = json!("task_1");
            item["at"] = json!("2026-11-15T08:30:00Z");
            updates.extend(replay.take(serde_json::from_value(item).unwrap()));
        }
        updates.extend(replay.finish());
        updates.into_iter().map(|update| serde_json::to_value(update).unwrap()).collect()
    }

    #[test]
    fn a_session_is_told_as_it_was() {
        let text = json!({ "attachment": "text", "name": "a.rs", "text": "fn a() {}" });
        let updates = replay(&[
            json!({ "kind": "user", "text": "Mend it", "attachments": [text] }),
            json!({ "kind": "notice", "text": "for the agent" }),
            json!({ "kind": "tool_call", "call": "c", "tool": "file_read", "arguments": { "path": "a.rs" } }),
            json!({ "kind": "tool_result", "call": "c", "tool": "file_read", "outcome": "done", "text": "x" }),
            json!({ "kind": "tool_call", "call": "d", "tool": "shell_run", "arguments": { "argv": ["ls", "-l"] } }),
            json!({ "kind": "assistant", "text": "Done" }),
            json!({ "kind": "ended", "state": "completed", "reason": null }),
            json!({ "kind": "ended", "state": "failed", "reason": "no key" }),
        ]);
        let kinds: Vec<&str> =
            updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect();
        let expected = [
            "user_message_chunk",
            "tool_call",
            "tool_call_update",
            "tool_call",
            "agent_message_chunk",
            "agent_thought_chunk",
            "tool_call_update",
        ];
        assert_eq!(kinds, expected);
        assert_eq!(updates[0]["content"]["text"], "Mend it\n\nAttached: `a.rs`");
        assert_eq!(updates[1]["title"], "Read a.rs");
        assert_eq!(updates[3]["title"], "Run `ls -l`");
        assert_eq!(updates[5]["content"]["text"], "The turn failed: no key");
        let unfinished = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "task_1/d", "status": "failed",
        });
        assert_eq!(updates[6], unfinished);
    }
}
