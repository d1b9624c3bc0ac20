//! What a rollout says about its session: headers, turn settings and token counts, as written.

use super::super::facts::SessionRole;
use super::super::json::{Cursor, Next, Parsed, Text};
use super::texts::word;

/// A session's header.
#[derive(Clone, Debug, Default)]
pub(super) struct Header<'a> {
    pub(super) id: &'a str,
    pub(super) forked_from: &'a str,
    pub(super) parent: &'a str,
    pub(super) cwd: Option<Text<'a>>,
    pub(super) version: &'a str,
    /// `source` as written: a word or an object.
    pub(super) source: &'a str,
    pub(super) branch: Option<Text<'a>>,
    pub(super) repository: Option<Text<'a>>,
    pub(super) history_base: &'a str,
    pub(super) own_from_ordinal: Option<u64>,
}

impl<'a> Header<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut header = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| header);
        }
        cursor.object(|key, value| {
            match key {
                "id" => header.id = word(value)?,
                "forked_from_id" => header.forked_from = word(value)?,
                "parent_thread_id" => header.parent = word(value)?,
                "cwd" => header.cwd = value.maybe_string()?,
                "cli_version" => header.version = word(value)?,
                "source" => header.source = value.raw()?,
                "git" if value.next()? == Next::Object => value.object(|key, value| {
                    match key {
                        "branch" => header.branch = value.maybe_string()?,
                        "repository_url" => header.repository = value.maybe_string()?,
                        _ => {}
                    }
                    Ok(())
                })?,
                "history_base" if value.next()? == Next::Object => value.object(|key, value| {
                    if key == "thread_id" {
                        header.history_base = word(value)?;
                    }
                    Ok(())
                })?,
                "subagent_history_start_ordinal" => header.own_from_ordinal = value.number()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(header)
    }

    pub(super) fn role(&self) -> SessionRole {
        if self.source.contains("\"thread_spawn\"") {
            SessionRole::SubAgent
        } else if self.source.contains("\"subagent\"") || self.source.contains("\"internal\"") {
            SessionRole::Helper
        } else {
            SessionRole::Main
        }
    }
}

/// Counts of one model call, or of all so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
    pub(super) reasoning: u64,
    pub(super) total: u64,
}

impl Usage {
    fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let mut usage = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| usage);
        }
        cursor.object(|key, value| {
            let count = match key {
                "input_tokens" => &mut usage.input,
                "cached_input_tokens" => &mut usage.cached,
                "output_tokens" => &mut usage.output,
                "reasoning_output_tokens" => &mut usage.reasoning,
                "total_tokens" => &mut usage.total,
                _ => return Ok(()),
            };
            *count = value.number()?.unwrap_or(0);
            Ok(())
        })?;
        Ok(usage)
    }
}

/// Token counts, as the last of them and as the sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TokenInfo {
    pub(super) last: Option<Usage>,
    pub(super) total: Option<u64>,
}

impl TokenInfo {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let mut info = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| info);
        }
        cursor.object(|key, value| {
            match key {
                "last_token_usage" => info.last = Some(Usage::read(value)?),
                "total_token_usage" => info.total = Some(Usage::read(value)?.total),
                _ => {}
            }
            Ok(())
        })?;
        Ok(info)
    }
}

/// The settings of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn<'a> {
    pub(super) cwd: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
}

impl<'a> Turn<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut turn = Self::default();
        if cursor.next()? != Next::Object {
            return cursor.skip().map(|()| turn);
        }
        cursor.object(|key, value| {
            match key {
                "cwd" => turn.cwd = value.maybe_string()?,
                "model" => turn.model = value.maybe_string()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(turn)
    }
}

/// What a compaction says beside the history it repeats.
pub(super) fn compacted_message<'a>(cursor: &mut Cursor<'a>) -> Parsed<Option<Text<'a>>> {
    let mut message = None;
    if cursor.next()? != Next::Object {
        return cursor.skip().map(|()| message);
    }
    cursor.object(|key, value| {
        if key == "message" {
            message = value.maybe_string()?;
        }
        Ok(())
    })?;
    Ok(message)
}
