//! Small bounded memories that readers need to link what is far apart in a trace.
//!
//! All of them forget their oldest entry when full, so that a trace of any length costs the same.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::event::{CallLink, Origin};
use super::injected::{holds_own_text, is_nacre_command, is_nacre_tool};

/// A stable 64-bit hash of a text's two ends and its length, after FNV-1a by words.
///
/// It is kept in watermarks, so it must not change between builds as the standard hasher may.
pub(super) fn text_hash(text: &str) -> u64 {
    const END: usize = 512;
    let bytes = text.as_bytes();
    let head = &bytes[..bytes.len().min(END)];
    let tail = &bytes[bytes.len().saturating_sub(END).max(head.len())..];
    mix(mix(0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, head), tail)
}

fn mix(seed: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(PRIME);
        hash ^ (hash >> 29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(seed, |hash, word| step(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)))
}

/// A map that forgets its oldest entries.
#[derive(Clone, Debug)]
pub(super) struct RecentMap<V> {
    values: HashMap<u64, V>,
    order: VecDeque<u64>,
    capacity: usize,
}

impl<V: Clone> RecentMap<V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { values: HashMap::new(), order: VecDeque::new(), capacity }
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.values.get(&key)
    }

    pub(super) fn insert(&mut self, key: u64, value: V) {
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

    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        let value = self.values.remove(&key)?;
        if let Some(at) = self.order.iter().position(|known| *known == key) {
            self.order.remove(at);
        }
        Some(value)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The youngest entries, oldest first.
    pub(super) fn youngest(&self, count: usize) -> Vec<(u64, V)> {
        let skipped = self.order.len().saturating_sub(count);
        let keys = self.order.iter().skip(skipped);
        keys.filter_map(|key| Some((*key, self.values.get(key)?.clone()))).collect()
    }

    pub(super) fn restore(capacity: usize, entries: Vec<(u64, V)>) -> Self {
        let mut map = Self::new(capacity);
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

/// A call that waits for its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) tool: String,
    /// The call asks Nacre itself, so its result is Nacre's own words.
    pub(super) is_nacre: bool,
    /// The call's id, where it is as it may be kept: the result has the same.
    #[serde(skip)]
    clean_id: Option<String>,
}

/// So many tools are known by name before a name is looked at again.
const MAX_TOOLS: usize = 32;
const MAX_OPEN_CALLS: usize = 1024;
const CARRIED_CALLS: usize = 64;

/// The calls that wait for a result.
#[derive(Clone, Debug)]
pub(super) struct OpenCalls {
    calls: RecentMap<OpenCall>,
    /// Names of tools that are as they may be kept.
    clean_tools: Vec<String>,
}

impl OpenCalls {
    pub(super) fn new() -> Self {
        Self::restore(Vec::new())
    }

    pub(super) fn open(&mut self, id: &str, tool: &str, arguments: &str) -> CallLink {
        let is_nacre = is_nacre_tool(tool) || is_nacre_command(arguments);
        let tool = self.clean_tool(tool);
        let clean = super::names::short_name(id);
        let clean_id = (clean == id).then(|| clean.clone());
        self.calls.insert(text_hash(id), OpenCall { tool: tool.clone(), is_nacre, clean_id });
        CallLink { id: clean, tool: Some(tool) }
    }

    fn clean_tool(&mut self, tool: &str) -> String {
        if self.clean_tools.iter().any(|known| known == tool) {
            return tool.to_owned();
        }
        let clean = super::names::short_name(tool);
        if clean == tool && self.clean_tools.len() < MAX_TOOLS {
            self.clean_tools.push(clean.clone());
        }
        clean
    }

    /// Links a result to its call; the call is closed.
    pub(super) fn close(&mut self, id: &str) -> (CallLink, Option<OpenCall>) {
        let mut call = self.calls.remove(text_hash(id));
        let tool = call.as_ref().map(|call| call.tool.clone());
        let clean_id = call.as_mut().and_then(|call| call.clean_id.take());
        let id =
            clean_id.filter(|clean| clean == id).unwrap_or_else(|| super::names::short_name(id));
        (CallLink { id, tool }, call)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether a call of this id waits for its result.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.calls.get(text_hash(id)).is_some()
    }

    /// Forgets all: the turn they belong to is over.
    pub(super) fn clear(&mut self) {
        self.calls = RecentMap::new(MAX_OPEN_CALLS);
    }

    pub(super) fn carry(&self) -> Vec<(u64, OpenCall)> {
        self.calls.youngest(CARRIED_CALLS)
    }

    pub(super) fn restore(entries: Vec<(u64, OpenCall)>) -> Self {
        Self { calls: RecentMap::restore(MAX_OPEN_CALLS, entries), clean_tools: Vec::new() }
    }
}

/// Who is behind the text of a tool result.
pub(super) fn result_origin(call: Option<&OpenCall>, text: &str) -> Origin {
    if call.is_some_and(|call| call.is_nacre) || holds_own_text(text) {
        Origin::Injected(super::event::InjectedReason::Nacre)
    } else {
        Origin::Tool
    }
}
