//! Transcript cells: messages, tool calls, notices and results.
//!
//! All cell text is cleaned (`text.rs`) and limited in size, because it is untrusted and may be
//! very long.

use nacre_types::{Attachment, ChatItem, ChatItemKind, FilePatch, TaskState, ToolOutcome};
use serde_json::Value;

use crate::tui::text::{clean, clean_line, clean_output, count, cut, group_digits};
use crate::tui::theme::Role;

/// Text with more lines than this is cut in the middle.
pub(crate) const MAX_LINES: usize = 2_000;

/// Text with more bytes than this is cut in the middle.
pub(crate) const MAX_BYTES: usize = 128 * 1024;

/// Ids increase from the start to the end of the transcript.
pub(crate) type CellId = i64;

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) id: CellId,
    pub(crate) kind: CellKind,
    pub(crate) is_open: bool,
    /// Increased on each change, to invalidate cached lines.
    pub(crate) revision: u32,
    /// The sequence number of the cell's first session item, if the cell comes from a stored
    /// session.
    pub(crate) sequence: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) enum CellKind {
    User { text: String, attachments: Vec<String>, is_steering: bool },
    Assistant { text: String, is_interrupted: bool },
    Reasoning { text: String },
    Tool(ToolCell),
    Notice { text: String, tone: Role },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ToolCell {
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) summary: String,
    pub(crate) outcome: Option<ToolOutcome>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) text: String,
    pub(crate) patches: Vec<FilePatch>,
}

impl ToolCell {
    pub(crate) fn new(call: &str, tool: &str, summary: &str) -> Self {
        Self {
            call: call.to_owned(),
            tool: clean_line(tool),
            summary: clean_line(&bound_text(summary)),
            ..Self::default()
        }
    }

    pub(crate) fn finish(
        &mut self,
        outcome: ToolOutcome,
        text: &str,
        patches: &[FilePatch],
        duration_ms: Option<u64>,
    ) {
        self.outcome = Some(outcome);
        self.duration_ms = duration_ms;
        self.text = clean_output(&bound_text(text));
        self.patches = patches.iter().map(clean_patch).collect();
    }
}

pub(crate) fn clean_patch(patch: &FilePatch) -> FilePatch {
    FilePatch {
        path: clean_line(&patch.path),
        diff: clean_output(&bound_text(&patch.diff)),
        added: patch.added,
        removed: patch.removed,
    }
}

impl CellKind {
    pub(crate) fn notice(tone: Role, text: &str) -> Self {
        Self::Notice { text: clean(&bound_text(text)), tone }
    }

    pub(crate) fn is_tool(&self) -> bool {
        matches!(self, Self::Tool(_))
    }

    pub(crate) fn can_fold(&self) -> bool {
        matches!(self, Self::Tool(_) | Self::Reasoning { .. })
    }

    pub(crate) fn bytes(&self) -> usize {
        const EMPTY: usize = 256;
        EMPTY
            + match self {
                Self::User { text, attachments, .. } => {
                    text.len() + attachments.iter().map(String::len).sum::<usize>()
                }
                Self::Assistant { text, .. }
                | Self::Reasoning { text }
                | Self::Notice { text, .. } => text.len(),
                Self::Tool(tool) => {
                    let patches = tool.patches.iter().map(|patch| patch.diff.len() + 128);
                    tool.summary.len() + tool.text.len() + patches.sum::<usize>()
                }
            }
    }
}

/// Removes the middle of text that is too long, and inserts a note that says how many lines were
/// removed. Call this only once, before cleaning the text, so that the note counts the original
/// lines.
pub(crate) fn bound_text(text: &str) -> String {
    let n_lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    if n_lines <= MAX_LINES && text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let head = take(text.split_inclusive('\n'));
    let rest = &text[head..];
    let tail = rest.len() - take(rest.split_inclusive('\n').rev());
    let cut = rest[..tail].bytes().filter(|byte| *byte == b'\n').count();
    let what = match cut {
        0 => format!("{} bytes", group_digits(tail as u64)),
        cut => format!("{} lines", group_digits(cut as u64)),
    };
    format!("{}… {what} cut …\n{}", &text[..head], &rest[tail..])
}

fn take<'t>(lines: impl Iterator<Item = &'t str>) -> usize {
    let mut taken = 0;
    for line in lines.take(MAX_LINES / 2) {
        if taken + line.len() > MAX_BYTES / 2 {
            break;
        }
        taken += line.len();
    }
    taken
}

/// Converts session items to cells with their sequence numbers. Each tool result is merged into the
/// cell of its call.
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
    let text_of = |text: &str| clean(&bound_text(text));
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
        ChatItemKind::Notice { text } => CellKind::notice(Role::Faint, text),
        ChatItemKind::Summary { text } => {
            CellKind::notice(Role::Faint, &format!("Summary of the earlier conversation:\n{text}"))
        }
        ChatItemKind::Undone { paths } => {
            CellKind::notice(Role::Warning, &format!("Taken back: {}", paths.join(", ")))
        }
        ChatItemKind::Ended { state, reason } => end_notice(*state, reason.as_deref())?,
        ChatItemKind::Checklist { .. } | ChatItemKind::ToolResult { .. } => return None,
    })
}

/// Returns a notice if the turn failed, was stopped, or ended with a reason.
fn end_notice(state: TaskState, reason: Option<&str>) -> Option<CellKind> {
    let with_reason = |what: &str| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    match state {
        TaskState::Failed => Some(CellKind::notice(Role::Bad, &with_reason("Failed"))),
        TaskState::Cancelled => Some(CellKind::notice(Role::Warning, &with_reason("Stopped"))),
        TaskState::Completed => reason.map(|reason| CellKind::notice(Role::Faint, reason)),
        TaskState::Accepted | TaskState::Queued | TaskState::Running => None,
    }
}

fn argument_summary(arguments: &Value) -> String {
    let value = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        cut(&clean_line(&bound_text(&text)), 80)
    };
    let Some(fields) = arguments.as_object() else { return value(arguments) };
    if fields.len() == 1 {
        return fields.values().map(value).collect();
    }
    let pairs = fields.iter().take(6).map(|(name, field)| format!("{name}={}", value(field)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// Returns the labels of attachments that the text does not mention.
pub(crate) fn labels(text: &str, attachments: &[Attachment]) -> Vec<String> {
    let labels = attachments.iter().map(attachment_label);
    labels.filter(|label| !text.contains(label.as_str())).map(|label| clean_line(&label)).collect()
}

fn attachment_label(attachment: &Attachment) -> String {
    match attachment {
        Attachment::File { path } => format!("@{path}"),
        Attachment::Text { name, text } => {
            let n_lines = count(text.lines().count(), "line");
            format!("[{name}: {n_lines}]")
        }
        Attachment::Image { media_type, .. } => format!("[{media_type}]"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_of_a_long_text_is_cut_and_counted() {
        let text: String = (0..10_000).map(|idx| format!("line {idx}\n")).collect();
        let kept = bound_text(&text);
        assert!(kept.starts_with("line 0\n"));
        assert!(kept.ends_with("line 9999\n"));
        assert!(kept.contains("\n… 8,000 lines cut …\n"), "{}", kept.lines().count());
        assert_eq!(kept.lines().count(), MAX_LINES + 1);
        assert_eq!(bound_text("short\n"), "short\n");
    }

    #[test]
    fn a_result_is_cut_once() {
        let text = "\u{1b}[31mred\u{1b}[0m\n".repeat(10_000);
        let mut cell = ToolCell::new("c", "run", "");
        cell.finish(ToolOutcome::Done, &text, &[], None);
        assert!(cell.text.contains("red\n… 8,000 lines cut …\nred"));
        assert!(!cell.text.contains("\\u{1b}"));
    }

    #[test]
    fn one_line_without_end_is_cut() {
        let kept = bound_text(&"é".repeat(MAX_BYTES));
        assert!(kept.len() <= MAX_BYTES && kept.contains("bytes cut"), "{}", kept.len());
    }

    proptest! {
        #[test]
        fn any_text_is_bounded(lines in prop::collection::vec("[a-zé\n]{0,300}", 0..40), repeat in 1usize..200) {
            let text = lines.join("\n").repeat(repeat);
            let kept = bound_text(&text);
            prop_assert!(kept.len() <= MAX_BYTES + 64);
            prop_assert!(kept.lines().count() <= MAX_LINES + 2);
        }
    }
}
