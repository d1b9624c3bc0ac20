//! One line of a rollout and the parts of its payloads that anybody asks for.
//!
//! The envelope names its payload's type first, so a line is gone over once; where it does not, the
//! payload is kept as written and read after.

use jiff::Timestamp;

use super::super::json::{Cursor, Next, Parsed, Text};
use super::super::time::parse_time;
use super::header::{Header, TokenInfo, Turn, compacted_message};
use super::texts::{Value, collect_texts, word};

/// What an envelope holds.
#[derive(Clone, Debug, Default)]
pub(super) enum Payload<'a> {
    /// The line has no envelope.
    #[default]
    None,
    Item(Item<'a>),
    Shown(Shown<'a>),
    Header(Header<'a>),
    Turn(Turn<'a>),
    /// What a compaction says beside the history it repeats.
    Compacted(Option<Text<'a>>),
    /// Of any other type, as written.
    Other(&'a str),
}

impl<'a> Payload<'a> {
    fn read(kind: &str, cursor: &mut Cursor<'a>) -> Parsed<Self> {
        Ok(match kind {
            "response_item" => Self::Item(Item::read(cursor)?),
            "event_msg" => Self::Shown(Shown::read(cursor)?),
            "session_meta" => Self::Header(Header::read(cursor)?),
            "turn_context" => Self::Turn(Turn::read(cursor)?),
            "compacted" => Self::Compacted(compacted_message(cursor)?),
            _ => Self::Other(cursor.raw()?),
        })
    }
}

/// The envelope of a line, and what lines without one have at their top.
#[derive(Clone, Debug, Default)]
pub(super) struct Record<'a> {
    pub(super) kind: &'a str,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) ordinal: Option<u64>,
    pub(super) payload: Payload<'a>,
    pub(super) id: &'a str,
    pub(super) record_type: &'a str,
}

impl<'a> Record<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut record = Self::default();
        cursor.object(|key, value| {
            match key {
                "timestamp" => record.timestamp = parse_time(word(value)?),
                "ordinal" => record.ordinal = value.number()?,
                "type" => record.kind = word(value)?,
                "payload" => record.payload = Payload::read(record.kind, value)?,
                "id" => record.id = word(value)?,
                "record_type" => record.record_type = word(value)?,
                _ => {}
            }
            Ok(())
        })?;
        if let Payload::Other(raw) = record.payload {
            record.payload = Payload::read(record.kind, &mut Cursor::new(raw))?;
        }
        Ok(record)
    }
}

/// A response item, or an item of the paginated stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Item<'a> {
    /// The whole item, as written.
    pub(super) raw: &'a str,
    pub(super) kind: &'a str,
    pub(super) role: &'a str,
    pub(super) id: Option<Text<'a>>,
    pub(super) call_id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    pub(super) namespace: Option<Text<'a>>,
    pub(super) content: Vec<Text<'a>>,
    pub(super) has_picture: bool,
    /// `summary` or `summary_text`.
    pub(super) summary: Vec<Text<'a>>,
    /// `arguments`, `input` or `action`.
    pub(super) arguments: Option<Value<'a>>,
    /// `output` or `tools`.
    pub(super) output: Option<Value<'a>>,
    pub(super) text: Option<Text<'a>>,
}

impl<'a> Item<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let start = cursor.position();
        let mut item = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| item);
        }
        cursor.object(|key, value| item.member(key, value))?;
        item.raw = cursor.since(start);
        Ok(item)
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "type" => self.kind = word(value)?,
            "role" => self.role = word(value)?,
            "id" => self.id = value.maybe_string()?,
            "call_id" => self.call_id = value.maybe_string()?,
            "name" => self.name = value.maybe_string()?,
            "namespace" => self.namespace = value.maybe_string()?,
            "content" => self.has_picture = collect_texts(value, &mut self.content)?,
            "summary" | "summary_text" => {
                collect_texts(value, &mut self.summary)?;
            }
            "arguments" | "input" | "action" => self.arguments = Some(Value::read(value)?),
            "output" | "tools" => self.output = Some(Value::read(value)?),
            "text" => self.text = value.maybe_string()?,
            _ => {}
        }
        Ok(())
    }
}

/// Events that repeat what items hold, or that only move the screen.
pub(super) const ECHOES: &[&str] = &[
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "patch_apply_begin",
    "patch_apply_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_begin",
    "web_search_end",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "image_generation_end",
    "view_image_tool_call",
    "collab_agent_spawn_end",
    "collab_agent_interaction_end",
    "collab_waiting_end",
    "collab_close_end",
    "collab_resume_end",
    "sub_agent_activity",
    "guardian_assessment",
    "thread_settings_applied",
    "thread_goal_updated",
    "context_compacted",
    "item_started",
    "agent_message_delta",
    "agent_reasoning_delta",
    "agent_reasoning_section_break",
    "session_configured",
    "turn_diff",
    "plan_update",
    "background_event",
    "undo_completed",
    "shutdown_complete",
];

/// An event of the shown stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown<'a> {
    /// The whole event, as written.
    pub(super) raw: &'a str,
    pub(super) kind: &'a str,
    /// `message` or `text`.
    pub(super) text: Option<Text<'a>>,
    pub(super) item: Option<Box<Item<'a>>>,
    pub(super) tokens: TokenInfo,
    pub(super) num_turns: u64,
    pub(super) thread_name: Option<Text<'a>>,
    pub(super) reason: &'a str,
}

impl<'a> Shown<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let start = cursor.position();
        let mut shown = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| shown);
        }
        cursor.object(|key, value| shown.member(key, value))?;
        shown.raw = cursor.since(start);
        Ok(shown)
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "type" => {
                self.kind = word(value)?;
                if ECHOES.contains(&self.kind) {
                    value.abandon();
                }
            }
            "message" | "text" => self.text = value.maybe_string()?,
            "item" => self.item = Some(Box::new(Item::read(value)?)),
            "info" => self.tokens = TokenInfo::read(value)?,
            "num_turns" => self.num_turns = value.number()?.unwrap_or(0),
            "thread_name" => self.thread_name = value.maybe_string()?,
            "reason" => self.reason = word(value)?,
            _ => {}
        }
        Ok(())
    }
}
