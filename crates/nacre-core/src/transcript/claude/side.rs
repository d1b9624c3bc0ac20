//! Records beside the talk: system notes, attachments, queue operations and titles.
//!
//! Two of them carry the person's words: a queue operation holds what was typed while the agent
//! worked, and an attachment hands it over. The first one seen is given, the other is its echo.

use std::borrow::Cow;

use super::super::emit::{Draft, Emitter};
use super::super::event::{CallLink, EventKind, InjectedReason, Lane, Origin, Place, WordSource};
use super::super::injected::{Author, holds_own_text, may_name_nacre, split_user};
use super::super::json::{Cursor, Next, Parsed, Text};
use super::super::names::short_name;
use super::record::{Record, blocks};
use super::state::{Reader, Turn};
use super::talk::draft;

/// An attachment, as far as it is looked at.
#[derive(Default)]
struct Attachment<'a> {
    kind: &'a str,
    mode: &'a str,
    /// `prompt`, as written.
    prompt: &'a str,
    /// `content`, `snippet`, `stdout` or what comes closest, as written.
    body: &'a str,
    call: Option<Text<'a>>,
}

impl<'a> Attachment<'a> {
    fn read(raw: &'a str) -> Parsed<Self> {
        let mut attachment = Self::default();
        let mut cursor = Cursor::new(raw);
        if cursor.next()? != Next::Object {
            return Ok(attachment);
        }
        cursor.object(|key, value| {
            match key {
                "type" => attachment.kind = value.maybe_string()?.map_or("", Text::raw),
                "commandMode" => attachment.mode = value.maybe_string()?.map_or("", Text::raw),
                "prompt" => attachment.prompt = value.raw()?,
                "toolUseID" => attachment.call = value.maybe_string()?,
                "content" | "snippet" | "stdout" | "stderr" | "blockingError" | "filename" => {
                    let body = value.raw()?;
                    if attachment.body.len() <= 2 {
                        attachment.body = body;
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(attachment)
    }

    fn reason(&self) -> InjectedReason {
        match self.kind {
            kind if kind.starts_with("hook_") => InjectedReason::Hook,
            "nested_memory" | "skill_listing" | "invoked_skills" | "mcp_instructions_delta" => {
                InjectedReason::Instructions
            }
            "file"
            | "directory"
            | "edited_text_file"
            | "opened_file_in_ide"
            | "selected_lines_in_ide"
            | "diagnostics"
            | "compact_file_reference" => InjectedReason::EditorContext,
            "task_reminder" | "todo_reminder" | "plan_mode" | "plan_mode_exit"
            | "plan_mode_reentry" | "auto_mode" | "auto_mode_exit" => {
                InjectedReason::SystemReminder
            }
            "date_change" => InjectedReason::Environment,
            _ => InjectedReason::Host,
        }
    }
}

impl Reader {
    pub(super) fn attachment(&mut self, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let Ok(attachment) = Attachment::read(record.attachment) else { return };
        if attachment.kind == "queued_command" {
            let prompt = text_of(attachment.prompt);
            self.queued_words(&prompt, attachment.mode, record, place, out);
            return;
        }
        let body = meta_text(attachment.body, out);
        // An empty reminder or a hook that said nothing is no event.
        if body.trim().is_empty() {
            return;
        }
        let reason =
            if holds_own_text(&body) { InjectedReason::Nacre } else { attachment.reason() };
        let call = attachment.call.map(|id| CallLink { id: short_name(&id.decode()), tool: None });
        out.push(Draft {
            call,
            lane: Self::lane(record, out),
            is_error: attachment.kind.ends_with("_error"),
            ..draft(EventKind::Meta, Origin::Injected(reason), body, record, place)
        });
    }

    pub(super) fn queue_operation(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        // The other operations move or drop what was queued before.
        if record.operation != "enqueue" {
            return;
        }
        let content = blocks(&mut Cursor::new(record.content)).unwrap_or_default();
        for block in content {
            let text = block.text.map(Text::decode).unwrap_or_default();
            let is_notice =
                text.trim_start().starts_with('<') || text.trim_start().starts_with('{');
            if !is_notice && !text.trim().is_empty() {
                self.note_queued(&text);
                if let Some(arguments) = command_arguments(&text) {
                    self.note_queued(arguments);
                }
                self.push_queued(&text, record, place, out);
            }
        }
    }

    /// A queued command that is handed to the model.
    fn queued_words(
        &mut self,
        text: &str,
        mode: &str,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        if mode == "task-notification" {
            let origin = Origin::Injected(InjectedReason::TaskNotice);
            out.push(draft(EventKind::User, origin, text, record, place));
        } else if self.was_queued(text) {
            out.report.repeated += 1;
        } else {
            self.push_queued(text, record, place, out);
        }
    }

    fn push_queued(
        &mut self,
        text: &str,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.turn = Turn::Open;
        let lane = Self::lane(record, out);
        for piece in split_user(text) {
            let origin = match piece.author {
                Author::Program(reason) => Origin::Injected(reason),
                Author::Person(_) if lane == Lane::Sidechain => Origin::Agent,
                Author::Person(WordSource::Prompt) => Origin::Person(WordSource::Queued),
                Author::Person(source) => Origin::Person(source),
            };
            out.push(Draft { lane, ..draft(EventKind::User, origin, piece.text, record, place) });
        }
    }

    pub(super) fn system(&mut self, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let lane = Self::lane(record, out);
        match record.subtype {
            "compact_boundary" => {
                let origin = Origin::Host;
                let boundary =
                    draft(EventKind::Compaction, origin, record.compact_metadata, record, place);
                out.push(Draft { lane, ..boundary });
            }
            "away_summary" => {
                let text = text_of(record.content);
                out.push(Draft {
                    lane,
                    ..draft(EventKind::Summary, Origin::Agent, text, record, place)
                });
            }
            "turn_duration" | "stop_hook_summary" => {
                if lane == Lane::Main {
                    self.turn = Turn::Closed;
                }
            }
            "local_command" => self.local_command(&text_of(record.content), record, place, out),
            "api_error" => {
                out.push(Draft {
                    lane,
                    is_error: true,
                    ..draft(EventKind::Meta, Origin::Host, record.error, record, place)
                });
            }
            _ => {
                let text = meta_text(record.content, out);
                if !text.trim().is_empty() {
                    out.push(Draft {
                        lane,
                        ..draft(EventKind::Meta, Origin::Host, text, record, place)
                    });
                }
            }
        }
    }

    /// A slash command that never reached the model; its arguments still are the person's.
    fn local_command(
        &mut self,
        text: &str,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        let lane = Self::lane(record, out);
        for piece in split_user(text) {
            let origin = match piece.author {
                Author::Program(reason) => Origin::Injected(reason),
                Author::Person(WordSource::Prompt) => Origin::Host,
                Author::Person(source) => Origin::Person(source),
            };
            let kind = match origin {
                Origin::Host => EventKind::Meta,
                Origin::Person(_) | Origin::Agent | Origin::Tool | Origin::Injected(_) => {
                    EventKind::User
                }
            };
            out.push(Draft { lane, ..draft(kind, origin, piece.text, record, place) });
        }
    }

    /// A title. Old versions put those of other sessions at the top of a new file.
    pub(super) fn summary(&mut self, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let title = out.decode(EventKind::Summary, record.title.unwrap_or_default());
        let key = (!record.leaf.is_empty()).then_some(record.leaf);
        out.push(Draft { key, ..draft(EventKind::Summary, Origin::Host, title, record, place) });
    }
}

/// What follows the name of a slash command.
fn command_arguments(text: &str) -> Option<&str> {
    let (_, arguments) = text.trim().strip_prefix('/')?.split_once(char::is_whitespace)?;
    Some(arguments)
}

/// The text of a value for a meta event, as written where nobody wants it; whether it is blank and
/// whether it is Nacre's still shows.
fn meta_text<'a>(raw: &'a str, out: &Emitter<'_>) -> Cow<'a, str> {
    let says_something = match raw.as_bytes() {
        [b'"', first, ..] => first.is_ascii_graphic() && !matches!(first, b'"' | b'\\'),
        _ => false,
    };
    if out.wants(EventKind::Meta) || !says_something || may_name_nacre(raw) {
        text_of(raw)
    } else {
        Cow::Borrowed(raw)
    }
}

/// The text of a value: a string decoded, a list of texts joined, anything else as written.
fn text_of(raw: &str) -> Cow<'_, str> {
    let mut cursor = Cursor::new(raw);
    match cursor.next() {
        Ok(Next::String) => cursor.string().map(Text::decode).unwrap_or_default(),
        Ok(Next::Array) => {
            let parts = blocks(&mut cursor).unwrap_or_default();
            let texts: Vec<_> =
                parts.iter().filter_map(|part| part.text).map(Text::decode).collect();
            Cow::Owned(texts.join("\n"))
        }
        Ok(Next::Object | Next::Scalar) => Cow::Borrowed(raw),
        Err(_) => Cow::Borrowed(""),
    }
}
