//! Bounded maps that link distant parts of a transcript. A full map drops its oldest entry, so
//! memory use does not depend on the transcript's length.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::transcript::toolkit::*;

/// The hash is stored in watermarks, so it must be the same in all builds, which the standard
/// hasher does not guarantee.
pub(crate) fn text_hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[derive(Clone, Debug)]
pub(crate) struct RecentMap<V> {
    values: HashMap<u64, V>,
    order: VecDeque<u64>,
    capacity: usize,
}

impl<V: Clone> RecentMap<V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { values: HashMap::new(), order: VecDeque::new(), capacity }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        self.values.get(&key)
    }

    pub(crate) fn insert(&mut self, key: u64, value: V) {
        if self.values.insert(key, value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.capacity < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<V> {
        let value = self.values.remove(&key)?;
        if let Some(at) = self.order.iter().position(|known| *known == key) {
            self.order.remove(at);
        }
        Some(value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the newest entries, oldest first.
    pub(crate) fn youngest(&self, count: usize) -> Vec<(u64, V)> {
        let skipped = self.order.len().saturating_sub(count);
        let keys = self.order.iter().skip(skipped);
        keys.filter_map(|key| Some((*key, self.values.get(key)?.clone()))).collect()
    }

    pub(crate) fn restore(capacity: usize, entries: Vec<(u64, V)>) -> Self {
        let mut map = Self::new(capacity);
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) tool: String,
    /// Whether the call runs Nacre, which means that its result is Nacre's own text.
    pub(crate) is_nacre: bool,
}

const MAX_OPEN_CALLS: usize = 1024;
const CARRIED_CALLS: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct OpenCalls {
    calls: RecentMap<OpenCall>,
}

impl Default for OpenCalls {
    fn default() -> Self {
        Self::restore(Vec::new())
    }
}

impl OpenCalls {
    pub(crate) fn open(&mut self, id: &str, tool: &str, arguments: &str) -> CallLink {
        let is_nacre = is_nacre_tool(tool) || is_nacre_command(arguments);
        let tool = short_name(tool);
        self.calls.insert(text_hash(id), OpenCall { tool: tool.clone(), is_nacre });
        CallLink { id: short_name(id), tool: Some(tool) }
    }

    pub(crate) fn close(&mut self, id: &str) -> (CallLink, Option<OpenCall>) {
        let call = self.calls.remove(text_hash(id));
        (CallLink { id: short_name(id), tool: call.as_ref().map(|call| call.tool.clone()) }, call)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.calls.get(text_hash(id)).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.calls = RecentMap::new(MAX_OPEN_CALLS);
    }

    pub(crate) fn carry(&self) -> Vec<(u64, OpenCall)> {
        self.calls.youngest(CARRIED_CALLS)
    }

    pub(crate) fn restore(entries: Vec<(u64, OpenCall)>) -> Self {
        Self { calls: RecentMap::restore(MAX_OPEN_CALLS, entries) }
    }
}

pub(crate) fn result_origin(call: Option<&OpenCall>, text: &str) -> TextOrigin {
    if call.is_some_and(|call| call.is_nacre) || holds_own_text(text) {
        TextOrigin::Injected(super::event::InjectedReason::Nacre)
    } else {
        TextOrigin::Tool
    }
}

const MAX_CHAIN: usize = 16 * 1024;
const MAX_PROMPTS: usize = 1024;
const MAX_UNDONE: usize = 1024;
/// How many entries of each map are stored in a watermark.
const CARRIED: usize = 128;

/// Records and prompts in the main lane, used to detect undone events.
///
/// Agents that store a conversation as a tree append new branches and keep old ones. If a new
/// prompt's parent precedes earlier prompts, the user has undone those prompts.
pub(crate) struct Chain {
    ends: RecentMap<u64>,
    prompts: Vec<u64>,
}

impl Chain {
    pub(crate) fn restore(ends: Vec<(u64, u64)>, prompts: Vec<u64>) -> Self {
        Self { ends: RecentMap::restore(MAX_CHAIN, ends), prompts }
    }

    pub(crate) fn carry(&self) -> (Vec<(u64, u64)>, Vec<u64>) {
        let from = self.prompts.len().saturating_sub(CARRIED);
        (self.ends.youngest(CARRIED), self.prompts[from..].to_vec())
    }

    pub(crate) fn note(&mut self, id: &str, out: &Emitter) {
        if !id.is_empty() {
            self.ends.insert(text_hash(id), out.next_sequence());
        }
    }

    /// Records a user prompt that follows the record `parent`.
    pub(crate) fn note_prompt(&mut self, parent: &str, out: &mut Emitter) {
        let now = out.next_sequence();
        if let Some(parent) = self.end_of(parent) {
            let first = self.prompts.partition_point(|prompt| *prompt < parent);
            if let Some(from) = self.prompts.get(first).copied() {
                self.prompts.truncate(first);
                note_undone(from, out);
            }
        }
        if self.prompts.len() == MAX_PROMPTS {
            self.prompts.drain(..MAX_PROMPTS / 2);
        }
        self.prompts.push(now);
    }

    /// Marks everything after the record `to` as undone, or all events if `to` is empty.
    pub(crate) fn rewind(&mut self, to: &str, out: &mut Emitter) {
        let Some(from) = (if to.is_empty() { Some(0) } else { self.end_of(to) }) else { return };
        self.prompts.retain(|prompt| *prompt < from);
        note_undone(from, out);
    }

    fn end_of(&self, id: &str) -> Option<u64> {
        if id.is_empty() { None } else { self.ends.get(text_hash(id)).copied() }
    }
}

/// Marks all events from `from` on as undone.
pub(crate) fn note_undone(from: u64, out: &mut Emitter) {
    let now = out.next_sequence();
    if from < now && out.facts.undone.len() < MAX_UNDONE {
        out.facts.undone.push(Undone { from, to: now - 1 });
    }
}
