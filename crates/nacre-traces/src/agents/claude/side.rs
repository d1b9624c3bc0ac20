//! Reads records outside the conversation: system notes, attachments, queue operations and titles.
//! A queue operation contains text that the user typed while the agent was working. The attachment
//! that later delivers the same text is skipped as a duplicate.

use std::borrow::Cow;

use super::TranscriptParser;
use super::talk::{blocks, verify_source};
use crate::transcript::toolkit::*;

/// Types of attachments that the user did not write, each with the reason it was injected.
const ATTACHMENTS: &[(InjectedReason, &str)] = &[
    (
        InjectedReason::Instructions,
        "nested_memory skill_listing invoked_skills mcp_instructions_delta",
    ),
    (
        InjectedReason::EditorContext,
        "file directory edited_text_file opened_file_in_ide selected_lines_in_ide diagnostics \
         compact_file_reference",
    ),
    (
        InjectedReason::SystemReminder,
        "task_reminder todo_reminder plan_mode plan_mode_exit plan_mode_reentry auto_mode \
         auto_mode_exit",
    ),
    (InjectedReason::Environment, "date_change"),
];

const BODIES: [&str; 6] = ["content", "snippet", "stdout", "stderr", "blockingError", "filename"];

impl TranscriptParser {
    pub(super) fn attachment(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let attachment = record.object("attachment");
        let kind = attachment.word("type");
        if kind == "queued_command" {
            return self.queued_command(&attachment, record, spot, out);
        }
        let bodies = attachment.members().filter(|(key, _)| BODIES.contains(key));
        // An empty string or array takes up two characters. In that case, the next member is used.
        let raw = bodies.map(|(_, raw)| raw).reduce(|a, b| if a.len() <= 2 { b } else { a });
        let body = join_text(raw.unwrap_or_default());
        if body.trim().is_empty() {
            return;
        }
        let listed = ATTACHMENTS.iter().find(|(_, kinds)| contains_word(kinds, kind));
        let reason = match listed {
            _ if holds_own_text(&body) => InjectedReason::Nacre,
            _ if kind.starts_with("hook_") => InjectedReason::Hook,
            Some((reason, _)) => *reason,
            None => InjectedReason::Host,
        };
        let call = attachment.text("toolUseID");
        out.push(Draft {
            call: call.map(|id| CallLink { id: short_name(&id), tool: None }),
            is_error: kind.ends_with("_error"),
            ..spot.draft(EventKind::Meta, TextOrigin::Injected(reason), &body)
        });
    }

    pub(super) fn queue_operation(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        // All other operations move or drop queued prompts.
        if record.word("operation") != "enqueue" {
            return;
        }
        for block in blocks(record.raw("content")) {
            let text = block.text.unwrap_or_default();
            let is_notice = text.trim_start().starts_with(['<', '{']);
            if !is_notice && !text.trim().is_empty() {
                self.note_queued(&text);
                let command = text.trim().strip_prefix('/');
                if let Some((_, arguments)) =
                    command.and_then(|command| command.split_once(char::is_whitespace))
                {
                    self.note_queued(arguments);
                }
                self.push_queued(&text, record, spot, out);
            }
        }
    }

    fn queued_command(&mut self, queued: &Fields, record: &Record, spot: &Spot, out: &mut Emitter) {
        let text = &join_text(queued.raw("prompt"));
        if queued.word("commandMode") == "task-notification" {
            let origin = TextOrigin::Injected(InjectedReason::TaskNotice);
            out.push(Draft { lane: Lane::Main, ..spot.draft(EventKind::User, origin, text) });
        } else if self.take_queued(text) {
            out.report.repeated += 1;
        } else {
            self.push_queued(text, record, spot, out);
        }
    }

    fn push_queued(&mut self, text: &str, record: &Record, spot: &Spot, out: &mut Emitter) {
        self.thread.turn = TurnState::Open;
        for piece in split_user(text) {
            let origin = piece.origin.in_lane(spot.lane).with_source(|source| {
                let is_prompt = source == WordSource::Prompt;
                verify_source(if is_prompt { WordSource::Queued } else { source }, record)
            });
            out.push(spot.draft(EventKind::User, origin, &piece.text));
        }
    }

    pub(super) fn system(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let content = record.raw("content");
        match record.word("subtype") {
            "compact_boundary" => {
                let text = record.raw("compactMetadata");
                out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, text));
            }
            "away_summary" => {
                let text = join_text(content);
                out.push(spot.draft(EventKind::Summary, TextOrigin::Agent, &text));
            }
            "turn_duration" | "stop_hook_summary" => {
                if spot.lane == Lane::Main {
                    self.thread.turn = TurnState::Closed;
                }
            }
            "local_command" => local_command(&join_text(content), record, spot, out),
            "api_error" => voice::failure(spot, record.raw("error"), out),
            _ => {
                let text = join_text(content);
                if !text.trim().is_empty() {
                    voice::note(spot, &text, out);
                }
            }
        }
    }
}

/// Reads a slash command that Claude Code handles locally. The user still typed its arguments.
fn local_command(text: &str, record: &Record, spot: &Spot, out: &mut Emitter) {
    for piece in split_user(text) {
        let (kind, origin) = match piece.origin == TextOrigin::prompt() {
            true => (EventKind::Meta, TextOrigin::Host),
            false => {
                let origin = piece.origin.with_source(|source| verify_source(source, record));
                (EventKind::User, origin)
            }
        };
        out.push(spot.draft(kind, origin, &piece.text));
    }
}

/// Older versions of Claude Code start a new file with the titles of other sessions.
pub(super) fn summary(record: &Record, spot: &Spot, out: &mut Emitter) {
    let (title, leaf) = (record.string("summary"), record.word("leafUuid"));
    let key = (!leaf.is_empty()).then_some(leaf);
    let draft = spot.draft(EventKind::Summary, TextOrigin::Host, &title);
    out.push(Draft { key, lane: Lane::Main, ..draft });
}

fn join_text(raw: &str) -> Cow<'_, str> {
    if !raw.starts_with('[') {
        return text_of(raw).unwrap_or(Cow::Borrowed(raw));
    }
    let texts: Vec<_> = blocks(raw).into_iter().filter_map(|part| part.text).collect();
    Cow::Owned(texts.join("\n"))
}
