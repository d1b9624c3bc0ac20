//! The items of a session as cells.

use nacre_api::wire::{ChatItem, ChatItemKind, TaskState};
use serde_json::Value;

use super::cell::{CellKind, Tone, ToolCell, bounded};
use super::prompt::labels;
use crate::tui::text::{clean, clean_line, cut};

/// What items show, each with its number. A result is put to its call.
pub(crate) fn cells(items: &[ChatItem]) -> Vec<(u64, CellKind)> {
    let mut cells: Vec<(u64, CellKind)> = Vec::new();
    for item in items {
        if let ChatItemKind::ToolResult { call, tool, outcome, text } = &item.kind {
            let is_call = |kind: &CellKind| matches!(kind, CellKind::Tool(tool) if &tool.call == call && tool.outcome.is_none());
            let found = cells.iter_mut().rev().map(|(_, kind)| kind).find(|kind| is_call(kind));
            if let Some(CellKind::Tool(cell)) = found {
                cell.finish(*outcome, text, &[], None);
            } else {
                let mut cell = ToolCell::new(call, tool, "");
                cell.finish(*outcome, text, &[], None);
                cells.push((item.sequence, CellKind::Tool(cell)));
            }
        } else if let Some(kind) = cell(&item.kind) {
            cells.push((item.sequence, kind));
        }
    }
    cells
}

fn cell(kind: &ChatItemKind) -> Option<CellKind> {
    let text_of = |text: &str| bounded(&clean(&bounded(text)));
    Some(match kind {
        ChatItemKind::User { text, attachments, is_steering } => CellKind::User {
            text: text_of(text),
            attachments: labels(text, attachments),
            is_steering: *is_steering,
        },
        ChatItemKind::Assistant { text, is_interrupted } => {
            CellKind::Assistant { text: text_of(text), is_interrupted: *is_interrupted }
        }
        ChatItemKind::Reasoning { text } => CellKind::Reasoning { text: text_of(text) },
        ChatItemKind::ToolCall { call, tool, arguments } => {
            CellKind::Tool(ToolCell::new(call, tool, &argument_summary(arguments)))
        }
        ChatItemKind::Notice { text } => CellKind::notice(Tone::Faint, text),
        ChatItemKind::Summary { text } => {
            CellKind::notice(Tone::Faint, &format!("Summary of what was before:\n{text}"))
        }
        ChatItemKind::Undone { paths } => {
            CellKind::notice(Tone::Warning, &format!("Taken back: {}", paths.join(", ")))
        }
        ChatItemKind::Ended { state, reason } => ended(*state, reason.as_deref())?,
        ChatItemKind::Checklist { .. } | ChatItemKind::ToolResult { .. } => return None,
    })
}

/// How a turn ended that was not carried out to its end.
fn ended(state: TaskState, reason: Option<&str>) -> Option<CellKind> {
    let with_reason = |what: &str| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    match state {
        TaskState::Failed => Some(CellKind::notice(Tone::Bad, &with_reason("Failed"))),
        TaskState::Cancelled => Some(CellKind::notice(Tone::Warning, &with_reason("Stopped"))),
        TaskState::Completed => reason.map(|reason| CellKind::notice(Tone::Faint, reason)),
        TaskState::Accepted | TaskState::Queued | TaskState::Running => None,
    }
}

/// The arguments of a call in one line: the value where there is one, else names and values.
fn argument_summary(arguments: &Value) -> String {
    let value = |value: &Value| match value {
        Value::String(text) => cut(&clean_line(&bounded(text)), 80),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            cut(&clean_line(&bounded(&value.to_string())), 80)
        }
    };
    match arguments {
        Value::Object(fields) if fields.len() == 1 => {
            fields.values().next().map(value).unwrap_or_default()
        }
        Value::Object(fields) => {
            let pairs =
                fields.iter().take(6).map(|(name, field)| format!("{name}={}", value(field)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            value(arguments)
        }
    }
}
