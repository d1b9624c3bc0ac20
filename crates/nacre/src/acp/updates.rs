//! Converts task messages and stored session items to the protocol's session updates.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nacre_types::{
    Attachment, ChatItem, ChatItemKind, ChecklistItem, ChecklistState, TaskEnd, TaskState,
    TaskUpdate, TurnUsage,
};
use serde_json::{Value, json};

use super::protocol::chunk;
use super::tool_calls::{begin_call, call_id, end_call, summary};

/// Notices are sent as notices if the client supports them, and as thoughts otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notices {
    Shown,
    AsThoughts,
}

#[derive(Debug)]
pub(super) struct TurnView {
    root: PathBuf,
    task: String,
    notices: Notices,
    step: u32,
    said: String,
    /// The step to which the last update belongs, or `None` if that update contained no text.
    last_text: Option<u32>,
}

impl TurnView {
    pub(super) fn new(root: PathBuf, task: String, notices: Notices) -> Self {
        Self { root, task, notices, step: 0, said: String::new(), last_text: None }
    }

    pub(super) fn take(&mut self, update: TaskUpdate) -> Vec<Value> {
        if let TaskUpdate::Text { text } = update {
            return vec![self.say(&text)];
        }
        let updates = self.other(update);
        if !updates.is_empty() {
            self.last_text = None;
        }
        updates
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the session handles the other updates")]
    fn other(&mut self, update: TaskUpdate) -> Vec<Value> {
        match update {
            TaskUpdate::Step { step } => {
                self.step = step;
                self.said.clear();
                Vec::new()
            }
            TaskUpdate::TextReplaced { text } => self.replace(&text),
            TaskUpdate::Reasoning { text } => vec![self.think(text)],
            TaskUpdate::ToolCall { call, tool, summary, arguments } => {
                let id = call_id(&self.task, &call);
                vec![begin_call(&self.root, &id, &tool, &summary, arguments)]
            }
            TaskUpdate::ToolResult { call, tool, outcome, text, patches, duration_ms: _ } => {
                let id = call_id(&self.task, &call);
                vec![end_call(&self.root, &id, &tool, outcome, &text, &patches)]
            }
            TaskUpdate::Checklist { items } => vec![plan(items)],
            TaskUpdate::Steered { text } => {
                let message_id = format!("{}.{}.steered", self.task, self.step);
                vec![chunk("user_message_chunk", text, &message_id)]
            }
            TaskUpdate::Notice { text } => vec![self.notice(&text)],
            TaskUpdate::Usage(usage) => usage_update(usage),
            TaskUpdate::Completed(end) => self.end(end),
            // The session handles questions, the queue and the end of the turn. All other messages
            // merely repeat information from the tool calls.
            _ => Vec::new(),
        }
    }

    fn message_id(&self) -> String {
        format!("{}.{}", self.task, self.step)
    }

    fn say(&mut self, text: &str) -> Value {
        // Without this gap, clients that ignore message ids would run the text of two steps
        // together.
        let gap = match self.last_text {
            Some(step) if step != self.step => "\n\n",
            _ => "",
        };
        self.said.push_str(text);
        self.last_text = Some(self.step);
        chunk("agent_message_chunk", format!("{gap}{text}"), &self.message_id())
    }

    fn think(&self, text: String) -> Value {
        chunk("agent_thought_chunk", text, &format!("{}.thought", self.message_id()))
    }

    /// Appends a note and the new text, because the protocol cannot replace text that has already
    /// been sent.
    fn replace(&mut self, text: &str) -> Vec<Value> {
        let said = std::mem::replace(&mut self.said, text.to_owned());
        let shown = match text.strip_prefix(said.as_str()) {
            Some("") => return Vec::new(),
            Some(more) => more.to_owned(),
            None => format!("\n\n*The text above has been replaced.*\n\n{text}"),
        };
        vec![chunk("agent_message_chunk", shown, &self.message_id())]
    }

    fn notice(&self, text: &str) -> Value {
        match self.notices {
            // The protocol requires a non-empty title.
            Notices::Shown if !text.is_empty() => {
                json!({ "sessionUpdate": "notice", "severity": "info", "title": text })
            }
            Notices::Shown | Notices::AsThoughts => self.think(format!("{text}\n")),
        }
    }

    /// Returns a turn's final updates, including the reason if the turn was blocked.
    fn end(&self, end: TaskEnd) -> Vec<Value> {
        let TaskEnd { signal, reason, usage, .. } = end;
        let mut updates = usage_update(usage);
        if let (true, Some(reason)) = (signal == "blocked", reason) {
            let text = format!("\n\nBlocked: {reason}");
            updates.push(chunk("agent_message_chunk", text, &format!("{}.end", self.task)));
        }
        updates
    }
}

fn usage_update(usage: TurnUsage) -> Vec<Value> {
    let TurnUsage { context: used, window: size, cost_usd, .. } = usage;
    let mut update = json!({ "sessionUpdate": "usage_update", "used": used, "size": size });
    if let Some(amount) = cost_usd {
        update["cost"] = json!({ "amount": amount, "currency": "USD" });
    }
    if size == 0 { Vec::new() } else { vec![update] }
}

fn plan(items: Vec<ChecklistItem>) -> Value {
    let entry = |item: ChecklistItem| {
        let (status, content) = match item.state {
            ChecklistState::Pending => ("pending", item.label),
            ChecklistState::InProgress => ("in_progress", item.label),
            ChecklistState::Done => ("completed", item.label),
            // This protocol has no way to mark a plan entry as failed.
            ChecklistState::Failed => ("completed", format!("{} (failed)", item.label)),
        };
        json!({ "content": content, "priority": "medium", "status": status })
    };
    let entries: Vec<Value> = items.into_iter().map(entry).collect();
    json!({ "sessionUpdate": "plan", "entries": entries })
}

pub(super) struct Replay {
    root: PathBuf,
    session: String,
    /// Ids, as sent to the client, of calls that have no result yet.
    open: BTreeSet<String>,
}

impl Replay {
    pub(super) fn new(root: PathBuf, session: String) -> Self {
        Self { root, session, open: BTreeSet::new() }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a turn cannot end in any other state")]
    pub(super) fn take(&mut self, item: ChatItem) -> Option<Value> {
        let message_id = format!("{}.{}", self.session, item.sequence);
        let id_of = |call: &str| call_id(item.task.as_deref().unwrap_or_default(), call);
        let say = |text: String| chunk("agent_message_chunk", text, &message_id);
        let think = |text: String| chunk("agent_thought_chunk", text, &message_id);
        match item.kind {
            ChatItemKind::User { text, attachments, is_steering: _ } => {
                let text = with_attachments(text, &attachments);
                Some(chunk("user_message_chunk", text, &message_id))
            }
            ChatItemKind::Assistant { text, .. } => (!text.is_empty()).then(|| say(text)),
            ChatItemKind::Reasoning { text } => (!text.is_empty()).then(|| think(text)),
            ChatItemKind::ToolCall { call, tool, arguments } => {
                let id = id_of(&call);
                let update = begin_call(&self.root, &id, &tool, &summary(&arguments), arguments);
                self.open.insert(id);
                Some(update)
            }
            ChatItemKind::ToolResult { call, tool, outcome, text } => {
                let id = id_of(&call);
                self.open.remove(&id);
                Some(end_call(&self.root, &id, &tool, outcome, &text, &[]))
            }
            ChatItemKind::Checklist { items } => Some(plan(items)),
            ChatItemKind::Summary { text } => {
                Some(think(format!("Summary of the earlier conversation: {text}")))
            }
            ChatItemKind::Undone { paths } => {
                Some(say(format!("Taken back: {}", paths.join(", "))))
            }
            ChatItemKind::Ended { state, reason } => {
                let word = match state {
                    TaskState::Failed => "The turn failed",
                    TaskState::Cancelled => "The turn was cancelled",
                    _ => return None,
                };
                Some(think(reason.map_or(word.to_owned(), |reason| format!("{word}: {reason}"))))
            }
            // Notices are messages from Nacre to the agent, so clients do not show them.
            ChatItemKind::Notice { .. } => None,
        }
    }

    /// Closes calls that have no result because their turn was killed or stopped.
    pub(super) fn finish(self) -> impl Iterator<Item = Value> {
        self.open.into_iter().map(|id| {
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed" })
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
    if names.is_empty() { text } else { format!("{text}\n\nAttached: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(notices: Notices) -> TurnView {
        TurnView::new(PathBuf::from("/w"), "task_1".to_owned(), notices)
    }

    fn told(messages: &[Value], notices: Notices) -> Vec<Value> {
        let mut view = view(notices);
        let read = |message: &Value| serde_json::from_value::<TaskUpdate>(message.clone()).unwrap();
        let updates = messages.iter().flat_map(|message| view.take(read(message)));
        updates.collect()
    }

    fn texts(updates: &[Value]) -> Vec<(&str, &str)> {
        updates
            .iter()
            .map(|update| {
                let id = update["messageId"].as_str().unwrap_or_default();
                (id, update["content"]["text"].as_str().unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn words_of_each_step_are_a_message_of_their_own() {
        let updates = told(
            &[
                json!({ "type": "step", "step": 1 }),
                json!({ "type": "text", "text": "One" }),
                json!({ "type": "text", "text": " two" }),
                json!({ "type": "step", "step": 2 }),
                json!({ "type": "text", "text": "Three" }),
                json!({ "type": "reasoning", "text": "Hm" }),
                json!({ "type": "text", "text": "Four" }),
            ],
            Notices::Shown,
        );
        let expected = [
            ("task_1.1", "One"),
            ("task_1.1", " two"),
            ("task_1.2", "\n\nThree"),
            ("task_1.2.thought", "Hm"),
            ("task_1.2", "Four"),
        ];
        assert_eq!(texts(&updates), expected);
        assert_eq!(updates[0]["sessionUpdate"], "agent_message_chunk");
        assert_eq!(updates[3]["sessionUpdate"], "agent_thought_chunk");
    }

    #[test]
    fn what_is_replaced_is_said_to_be_void() {
        for (replacement, expected) in [
            ("One two", vec!["One", " two"]),
            ("One", vec!["One"]),
            ("Two", vec!["One", "\n\n*The text above has been replaced.*\n\nTwo"]),
        ] {
            let updates = told(
                &[
                    json!({ "type": "step", "step": 1 }),
                    json!({ "type": "text", "text": "One" }),
                    json!({ "type": "text.replaced", "text": replacement }),
                ],
                Notices::Shown,
            );
            let texts: Vec<&str> = texts(&updates).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, expected);
        }
    }

    #[test]
    fn notices_are_thoughts_for_clients_that_do_not_know_them() {
        let notice = [json!({ "type": "notice", "text": "Slow" })];
        let known = told(&notice, Notices::Shown);
        assert_eq!(
            known,
            [json!({ "sessionUpdate": "notice", "severity": "info", "title": "Slow" })]
        );
        assert_eq!(told(&notice, Notices::AsThoughts)[0]["sessionUpdate"], "agent_thought_chunk");
        let empty = [json!({ "type": "notice", "text": "" })];
        assert_eq!(told(&empty, Notices::Shown)[0]["sessionUpdate"], "agent_thought_chunk");
    }

    #[test]
    fn a_checklist_is_a_plan() {
        let items = json!([
            { "id": "1", "label": "a", "state": "pending" },
            { "id": "2", "label": "b", "state": "in_progress" },
            { "id": "3", "label": "c", "state": "done" },
            { "id": "4", "label": "d", "state": "failed" },
        ]);
        let updates = told(&[json!({ "type": "checklist", "items": items })], Notices::Shown);
        let entry =
            |content, status| json!({ "content": content, "priority": "medium", "status": status });
        let entries = [
            entry("a", "pending"),
            entry("b", "in_progress"),
            entry("c", "completed"),
            entry("d (failed)", "completed"),
        ];
        assert_eq!(updates, [json!({ "sessionUpdate": "plan", "entries": entries })]);
    }

    #[test]
    fn a_blocked_turn_says_why() {
        let usage = json!({ "input": 1, "output": 1, "context": 5, "window": 9, "cost_usd": null });
        let end = |signal: &str| {
            json!({
                "type": "task.completed", "signal": signal, "reason": "no key", "text": "",
                "changed": [], "usage": usage,
            })
        };
        let updates = told(&[end("blocked")], Notices::Shown);
        assert_eq!(updates[0], json!({ "sessionUpdate": "usage_update", "used": 5, "size": 9 }));
        assert_eq!(updates[1]["content"]["text"], "\n\nBlocked: no key");
        assert_eq!(told(&[end("done")], Notices::Shown).len(), 1);
    }

    fn replay(items: &[Value]) -> Vec<Value> {
        let mut replay = Replay::new(PathBuf::from("/w"), "ses_1".to_owned());
        let mut updates: Vec<Value> = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let mut item = item.clone();
            item["sequence"] = json!(number + 1);
            item["task"] = json!("task_1");
            item["at"] = json!("2026-11-15T08:30:00Z");
            updates.extend(replay.take(serde_json::from_value(item).unwrap()));
        }
        updates.extend(replay.finish());
        updates
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
