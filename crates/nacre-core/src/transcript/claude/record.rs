//! One line of a Claude Code transcript, as far as anybody asks for it.
//!
//! Every field is optional and every type may drift: a value of another type than expected reads
//! as absent.

use jiff::Timestamp;

use super::super::json::{Cursor, Next, Parsed, Text};
use super::super::time::parse_time;

/// The envelope of every record, and the fields of the records that have none of their own.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub(super) kind: &'a str,
    pub(super) subtype: &'a str,
    pub(super) uuid: &'a str,
    pub(super) parent: &'a str,
    pub(super) session: &'a str,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) cwd: Option<Text<'a>>,
    pub(super) branch: Option<Text<'a>>,
    pub(super) version: &'a str,
    pub(super) entrypoint: &'a str,
    pub(super) prompt_source: &'a str,
    pub(super) origin: &'a str,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    pub(super) is_compact_summary: bool,
    pub(super) is_api_error: bool,
    pub(super) is_forked: bool,
    pub(super) forked_from: &'a str,
    pub(super) message: Option<Message<'a>>,
    /// As written; parsed only where it is needed.
    pub(super) tool_use_result: &'a str,
    pub(super) attachment: &'a str,
    /// `content` of system records and queue operations, as written.
    pub(super) content: &'a str,
    pub(super) error: &'a str,
    pub(super) compact_metadata: &'a str,
    pub(super) operation: &'a str,
    /// `summary`, `aiTitle` or `customTitle`.
    pub(super) title: Option<Text<'a>>,
    pub(super) leaf: &'a str,
}

/// The message of a user or assistant record.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: &'a str,
    pub(super) model: Option<Text<'a>>,
    pub(super) usage: Option<Usage>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// Tokens of one model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

/// One block of a message's content.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) kind: &'a str,
    /// `text`, `thinking`, or the whole block where it is a bare string.
    pub(super) text: Option<Text<'a>>,
    /// `id` of a call, `tool_use_id` of a result.
    pub(super) id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    /// The arguments of a call, as written.
    pub(super) input: &'a str,
    /// The content of a result: a string, or blocks as written.
    pub(super) content: Option<Text<'a>>,
    pub(super) content_blocks: &'a str,
    pub(super) is_error: bool,
}

impl<'a> Record<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut record = Self::default();
        cursor.object(|key, value| record.member(key, value))?;
        Ok(record)
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "type" => self.kind = word(value)?,
            "subtype" => self.subtype = word(value)?,
            "uuid" => self.uuid = word(value)?,
            "parentUuid" => self.parent = word(value)?,
            "sessionId" => self.session = word(value)?,
            "timestamp" => self.timestamp = time(value)?,
            "cwd" => self.cwd = value.maybe_string()?,
            "gitBranch" => self.branch = value.maybe_string()?,
            "version" => self.version = word(value)?,
            "entrypoint" => self.entrypoint = word(value)?,
            "promptSource" => self.prompt_source = word(value)?,
            "origin" => self.origin = word_of(value, "kind")?,
            "isSidechain" => self.is_sidechain = value.truth()?,
            "isMeta" => self.is_meta = value.truth()?,
            "isCompactSummary" => self.is_compact_summary = value.truth()?,
            "isApiErrorMessage" => self.is_api_error = value.truth()?,
            "forkedFrom" => {
                self.is_forked = true;
                self.forked_from = word_of(value, "sessionId")?;
            }
            "message" => self.message = Message::read(value)?,
            "toolUseResult" => self.tool_use_result = value.raw()?,
            "attachment" => self.attachment = value.raw()?,
            "content" => self.content = value.raw()?,
            "error" => self.error = value.raw()?,
            "compactMetadata" => self.compact_metadata = value.raw()?,
            "operation" => self.operation = word(value)?,
            "summary" | "aiTitle" | "customTitle" => self.title = value.maybe_string()?,
            "leafUuid" => self.leaf = word(value)?,
            _ => {}
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Parsed<Option<Self>> {
        let mut message = Self::default();
        match cursor.next()? {
            Next::Object => cursor.object(|key, value| message.member(key, value))?,
            Next::String | Next::Array => message.blocks = blocks(cursor)?,
            Next::Scalar => {
                cursor.skip()?;
                return Ok(None);
            }
        }
        Ok(Some(message))
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "id" => self.id = word(value)?,
            "model" => self.model = value.maybe_string()?,
            "usage" => self.usage = Usage::read(value)?,
            "content" => self.blocks = blocks(value)?,
            _ => {}
        }
        Ok(())
    }
}

impl Usage {
    fn read(cursor: &mut Cursor<'_>) -> Parsed<Option<Self>> {
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| None);
        }
        let mut usage = Self::default();
        cursor.object(|key, value| {
            let count = match key {
                "input_tokens" => &mut usage.input,
                "output_tokens" => &mut usage.output,
                "cache_read_input_tokens" => &mut usage.cache_read,
                "cache_creation_input_tokens" => &mut usage.cache_write,
                _ => return Ok(()),
            };
            *count = value.number()?.unwrap_or(0);
            Ok(())
        })?;
        Ok(Some(usage))
    }
}

impl<'a> Block<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut block = Self::default();
        match cursor.next()? {
            Next::Object => cursor.object(|key, value| block.member(key, value))?,
            Next::String => {
                block.kind = "text";
                block.text = Some(cursor.string()?);
            }
            Next::Array | Next::Scalar => cursor.skip()?,
        }
        Ok(block)
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "type" => self.kind = word(value)?,
            "text" | "thinking" => self.text = value.maybe_string()?,
            "id" | "tool_use_id" => self.id = value.maybe_string()?,
            "name" => self.name = value.maybe_string()?,
            "input" => self.input = value.raw()?,
            "is_error" => self.is_error = value.truth()?,
            "content" => match value.next()? {
                Next::String => self.content = Some(value.string()?),
                Next::Array | Next::Object | Next::Scalar => self.content_blocks = value.raw()?,
            },
            _ => {}
        }
        Ok(())
    }
}

/// Content that is a string, a block, or a list of both.
pub(super) fn blocks<'a>(cursor: &mut Cursor<'a>) -> Parsed<Vec<Block<'a>>> {
    let mut blocks = Vec::new();
    match cursor.next()? {
        Next::Array => cursor.array(|element| {
            blocks.push(Block::read(element)?);
            Ok(())
        })?,
        Next::String | Next::Object => blocks.push(Block::read(cursor)?),
        Next::Scalar => cursor.skip()?,
    }
    Ok(blocks)
}

/// A string that needs no decoding: an id, a type, a version.
fn word<'a>(cursor: &mut Cursor<'a>) -> Parsed<&'a str> {
    Ok(cursor.maybe_string()?.map_or("", Text::raw))
}

/// A word under `key` of an object.
fn word_of<'a>(cursor: &mut Cursor<'a>, key: &str) -> Parsed<&'a str> {
    let mut found = "";
    if cursor.next()? != Next::Object {
        return cursor.skip().map(|()| found);
    }
    cursor.object(|name, value| {
        if name == key {
            found = word(value)?;
        }
        Ok(())
    })?;
    Ok(found)
}

fn time(cursor: &mut Cursor<'_>) -> Parsed<Option<Timestamp>> {
    Ok(parse_time(word(cursor)?))
}
