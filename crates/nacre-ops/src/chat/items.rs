//! Items of the engine as clients are shown them.

use nacre_api::wire::{
    Attachment, ChatItem, ChatItemKind, ChecklistItem, ChecklistState, TaskState, ToolOutcome,
};
use nacre_engine::lifecycle::{self, Item, TurnEnd};
use nacre_engine::model::{Arguments, ToolStatus};
use nacre_engine::record as engine;
use nacre_engine::record::state::ItemRecord;
use nacre_engine::tools::{self, ItemState};
use serde_json::Value;

/// An item as it is kept, for a client.
pub(super) fn chat_item(record: ItemRecord) -> ChatItem {
    let ItemRecord { sequence, task, at, kind: _, json } = record;
    let kind = kind(Item::from_json(&json));
    ChatItem { sequence, task: Some(task.to_string()), at: at.to_string(), kind }
}

fn kind(item: Item) -> ChatItemKind {
    match item {
        Item::User { text, attachments } => {
            let attachments = attachments.into_iter().map(attachment).collect();
            ChatItemKind::User { text, attachments, is_steering: false }
        }
        Item::Steering { text, .. } => {
            ChatItemKind::User { text, attachments: Vec::new(), is_steering: true }
        }
        Item::Assistant { text, .. } => ChatItemKind::Assistant { text, is_interrupted: false },
        Item::Interrupted { text } => ChatItemKind::Assistant { text, is_interrupted: true },
        Item::Reasoning { text, .. } => ChatItemKind::Reasoning { text },
        Item::HiddenReasoning { .. } => ChatItemKind::Reasoning { text: String::new() },
        Item::ToolCall { call, tool, arguments, .. } => {
            ChatItemKind::ToolCall { call, tool, arguments: value(&arguments) }
        }
        Item::ToolResult { call, tool, status, text, .. } => {
            let outcome = outcome(status, &text);
            ChatItemKind::ToolResult { call, tool, outcome, text }
        }
        Item::Remark { text, .. } | Item::Notice { text } => ChatItemKind::Notice { text },
        Item::Summary(summary) => ChatItemKind::Summary { text: summary.text },
        Item::Checklist { items } => ChatItemKind::Checklist { items: checklist_of(&items) },
        Item::End(TurnEnd { state, text }) => {
            ChatItemKind::Ended { state: task_state(state), reason: text }
        }
        Item::Unknown => ChatItemKind::Notice {
            text: "A newer version of Nacre wrote something here".to_owned(),
        },
    }
}

fn attachment(attachment: lifecycle::Attachment) -> Attachment {
    let lifecycle::Attachment { name, text, picture } = attachment;
    let text = picture.map_or(text, |picture| {
        format!("[a picture, {}, {} bytes]", picture.media_type, picture.n_bytes)
    });
    Attachment::Text { name, text }
}

/// The arguments of a call; what was no JSON is shown as it came.
pub(super) fn value(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(value) => value.clone(),
        Arguments::Malformed { text, .. } => Value::String(text.clone()),
    }
}

/// How a call went, from what the model was told.
pub(super) fn outcome(status: ToolStatus, text: &str) -> ToolOutcome {
    match status {
        ToolStatus::Done => ToolOutcome::Done,
        ToolStatus::Failed if text.starts_with("Error (denied)") => ToolOutcome::Denied,
        ToolStatus::Failed => ToolOutcome::Failed,
    }
}

pub(super) fn task_state(state: engine::TaskState) -> TaskState {
    match state {
        engine::TaskState::Accepted => TaskState::Accepted,
        engine::TaskState::Queued => TaskState::Queued,
        engine::TaskState::Running => TaskState::Running,
        engine::TaskState::Completed { .. } => TaskState::Completed,
        engine::TaskState::Failed { .. } => TaskState::Failed,
        engine::TaskState::Cancelled { .. } => TaskState::Cancelled,
    }
}

/// A checklist as it was kept; what cannot be read is empty.
fn checklist_of(items: &Value) -> Vec<ChecklistItem> {
    let items: Vec<tools::ChecklistItem> =
        serde_json::from_value(items.clone()).unwrap_or_default();
    checklist(items)
}

/// A checklist for a client.
pub(super) fn checklist(items: Vec<tools::ChecklistItem>) -> Vec<ChecklistItem> {
    let item = |item: tools::ChecklistItem| ChecklistItem {
        id: item.id,
        label: item.label,
        state: match item.state {
            ItemState::Pending => ChecklistState::Pending,
            ItemState::InProgress => ChecklistState::InProgress,
            ItemState::Done => ChecklistState::Done,
            ItemState::Failed => ChecklistState::Failed,
        },
    };
    items.into_iter().map(item).collect()
}
