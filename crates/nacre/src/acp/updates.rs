//! What a task tells, as updates of the session. Pure: a message goes in, updates come out.

use std::path::PathBuf;

use nacre_api::wire::{ChecklistItem, ChecklistState, TaskEnd, TaskUpdate, TurnUsage};

use super::protocol::{Cost, PlanEntry, PlanStatus, SessionUpdate};
use super::tool_calls::{begun, call_id, ended};

/// Whether a client shows notices by themselves; else they come as thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notices {
    Shown,
    AsThoughts,
}

/// One turn as far as it was told.
#[derive(Debug)]
pub(super) struct TurnView {
    root: PathBuf,
    task: String,
    notices: Notices,
    step: u32,
    /// What was said in this step.
    said: String,
    /// The last update was text of this step.
    last_text: Option<u32>,
}

impl TurnView {
    pub(super) fn new(root: PathBuf, task: String, notices: Notices) -> Self {
        Self { root, task, notices, step: 0, said: String::new(), last_text: None }
    }

    /// What the client is sent about a message.
    pub(super) fn take(&mut self, update: TaskUpdate) -> Vec<SessionUpdate> {
        if let TaskUpdate::Text { text } = update {
            return vec![self.say(&text)];
        }
        let updates = self.other(update);
        if !updates.is_empty() {
            self.last_text = None;
        }
        updates
    }

    fn other(&mut self, update: TaskUpdate) -> Vec<SessionUpdate> {
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
                let call = begun(&self.root, id, &tool, &summary, arguments);
                vec![SessionUpdate::ToolCall(call)]
            }
            TaskUpdate::ToolResult { call, tool, outcome, text, patches, duration_ms: _ } => {
                let id = call_id(&self.task, &call);
                let call = ended(&self.root, id, &tool, outcome, &text, &patches);
                vec![SessionUpdate::ToolCallUpdate(call)]
            }
            TaskUpdate::Checklist { items } => vec![plan(items)],
            TaskUpdate::Steered { text } => {
                let message_id = format!("{}.{}.steered", self.task, self.step);
                vec![SessionUpdate::UserMessageChunk { content: text.into(), message_id }]
            }
            TaskUpdate::Notice { text } => vec![self.notice(text)],
            TaskUpdate::Usage(usage) => used(usage),
            TaskUpdate::Completed(end) => self.end(end),
            // The queue, questions and the end are the session's; the rest stands in the calls already.
            TaskUpdate::Text { .. }
            | TaskUpdate::Accepted { .. }
            | TaskUpdate::Queued { .. }
            | TaskUpdate::Running { .. }
            | TaskUpdate::Approval(_)
            | TaskUpdate::Decided { .. }
            | TaskUpdate::Memory { .. }
            | TaskUpdate::Skill { .. }
            | TaskUpdate::Failed { .. }
            | TaskUpdate::Cancelled { .. } => Vec::new(),
        }
    }

    fn message_id(&self) -> String {
        format!("{}.{}", self.task, self.step)
    }

    fn say(&mut self, text: &str) -> SessionUpdate {
        // Clients that do not look at ids would join two messages to one.
        let gap = match self.last_text {
            Some(step) if step != self.step => "\n\n",
            _ => "",
        };
        self.said.push_str(text);
        self.last_text = Some(self.step);
        let content = format!("{gap}{text}").into();
        SessionUpdate::AgentMessageChunk { content, message_id: self.message_id() }
    }

    fn think(&self, text: String) -> SessionUpdate {
        let message_id = format!("{}.thought", self.message_id());
        SessionUpdate::AgentThoughtChunk { content: text.into(), message_id }
    }

    /// A message cannot be taken back: what stands for it follows it, and says so.
    fn replace(&mut self, text: &str) -> Vec<SessionUpdate> {
        let said = std::mem::replace(&mut self.said, text.to_owned());
        let shown = match text.strip_prefix(said.as_str()) {
            Some("") => return Vec::new(),
            Some(more) => more.to_owned(),
            None => format!("\n\n*What was said above is void.*\n\n{text}"),
        };
        let message_id = self.message_id();
        vec![SessionUpdate::AgentMessageChunk { content: shown.into(), message_id }]
    }

    fn notice(&self, text: String) -> SessionUpdate {
        match self.notices {
            // The protocol allows no empty one.
            Notices::Shown if !text.is_empty() => {
                SessionUpdate::Notice { severity: "info", title: text }
            }
            Notices::Shown | Notices::AsThoughts => self.think(format!("{text}\n")),
        }
    }

    /// A turn that ended because it could not go on says why.
    fn end(&self, end: TaskEnd) -> Vec<SessionUpdate> {
        let TaskEnd { signal, reason, usage, .. } = end;
        let mut updates = used(usage);
        if let (true, Some(reason)) = (signal == "blocked", reason) {
            let message_id = format!("{}.end", self.task);
            let content = format!("\n\nBlocked: {reason}").into();
            updates.push(SessionUpdate::AgentMessageChunk { content, message_id });
        }
        updates
    }
}

/// How full the model's window is, where that is known.
fn used(usage: TurnUsage) -> Vec<SessionUpdate> {
    let TurnUsage { context: used, window: size, cost_usd, .. } = usage;
    let cost = cost_usd.map(|amount| Cost { amount, currency: "USD" });
    if size == 0 { Vec::new() } else { vec![SessionUpdate::UsageUpdate { used, size, cost }] }
}

/// The checklist as a plan.
pub(super) fn plan(items: Vec<ChecklistItem>) -> SessionUpdate {
    let entry = |item: ChecklistItem| {
        let (status, content) = match item.state {
            ChecklistState::Pending => (PlanStatus::Pending, item.label),
            ChecklistState::InProgress => (PlanStatus::InProgress, item.label),
            ChecklistState::Done => (PlanStatus::Completed, item.label),
            // The protocol has no word for it.
            ChecklistState::Failed => (PlanStatus::Completed, format!("{} (failed)", item.label)),
        };
        PlanEntry { content, priority: "medium", status }
    };
    SessionUpdate::Plan { entries: items.into_iter().map(entry).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn view(notices: Notices) -> TurnView {
        TurnView::new(PathBuf::from("/w"), "task_1".to_owned(), notices)
    }

    /// The updates of messages that are given as they go over the line.
    fn told(messages: &[Value], notices: Notices) -> Vec<Value> {
        let mut view = view(notices);
        let read = |message: &Value| serde_json::from_value::<TaskUpdate>(message.clone()).unwrap();
        let updates = messages.iter().flat_map(|message| view.take(read(message)));
        updates.map(|update| serde_json::to_value(update).unwrap()).collect()
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
            ("Two", vec!["One", "\n\n*What was said above is void.*\n\nTwo"]),
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
}
