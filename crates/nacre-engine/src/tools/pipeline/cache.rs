//! Answers that are still true.
//!
//! An answer is kept with a digest of everything that it was made from, taken before and after, and is given again only
//! while the digest, taken anew, is the same. So nobody has to announce a change: an edit from outside, a rename or
//! a checkout is noticed like one of our own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use serde_json::Value;

use super::super::footprint::{Area, Exec, Footprint, MemoryUse, Network};
use super::super::tool::Output;
use super::super::workspace::Workspace;
use super::job::Job;
use crate::record::Category;

const MAX_ENTRIES: usize = 256;

/// Longer answers are cheaper to make again than to keep.
const MAX_ENTRY_BYTES: usize = 1 << 20;

/// The answers of one process, shared by its agents.
#[derive(Debug, Default)]
pub struct Cache {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<CacheKey, Entry>,
    /// Counts uses, to find the entry that was not used for longest.
    tick: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    taken: Taken,
    output: Arc<Output>,
    used: u64,
}

/// A digest, and the time that decided what it looks at.
#[derive(Clone, Debug)]
struct Taken {
    areas: Vec<Area>,
    since: Timestamp,
    digest: ContentHash,
}

/// The tool, its arguments in one form, and the workspace as this agent sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CacheKey(ContentHash);

impl CacheKey {
    /// The key of a call; `None` when the files of the workspace alone do not decide its answer.
    pub(super) fn of(job: &Job, workspace: &Workspace) -> Option<Self> {
        let footprint = &job.footprint;
        let spec = job.tool.spec();
        let is_of_files = matches!(spec.category, Category::Read | Category::Search)
            && !footprint.reads.is_empty()
            && footprint.writes.is_empty()
            && footprint.exec == Exec::Nothing
            && footprint.network == Network::Nothing
            && footprint.memory == MemoryUse::Nothing;
        is_of_files.then(|| {
            let mut text = format!("{}\0{}\0", spec.name, workspace.identity());
            write_canonical(&job.arguments, &mut text);
            Self(ContentHash::of(text.as_bytes()))
        })
    }
}

/// Writes a value with the keys of every object in order.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for key in keys {
                *text += &Value::from(key.as_str()).to_string();
                text.push(':');
                write_canonical(&object[key], text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            *text += &value.to_string();
        }
    }
}

/// Whether an answer was there.
pub(super) enum Lookup {
    Hit(Box<Output>),
    /// Where the answer may be kept; nowhere when what it is made from is too much to watch.
    Miss(Option<Slot>),
}

/// A place for an answer, with the digest from before it was made.
pub(super) struct Slot {
    key: CacheKey,
    taken: Taken,
}

impl Cache {
    pub(super) async fn look_up(
        &self,
        key: CacheKey,
        footprint: &Footprint,
        workspace: &Arc<Workspace>,
        now: Timestamp,
    ) -> Lookup {
        if let Some(entry) = self.entry(&key) {
            let Taken { areas, since, digest } = entry.taken;
            if digest_of(workspace, areas, since).await == Some(digest) {
                return Lookup::Hit(Box::new((*entry.output).clone()));
            }
            self.entries().by_key.remove(&key);
        }
        let areas = footprint.reads.clone();
        let digest = digest_of(workspace, areas.clone(), now).await;
        Lookup::Miss(digest.map(|digest| Slot { key, taken: Taken { areas, since: now, digest } }))
    }

    /// Keeps an answer, unless something changed while it was made.
    pub(super) async fn keep(&self, slot: Slot, output: &Output, workspace: &Arc<Workspace>) {
        let Slot { key, taken } = slot;
        let after = digest_of(workspace, taken.areas.clone(), taken.since).await;
        if after != Some(taken.digest) || MAX_ENTRY_BYTES < output.text.len() {
            return;
        }
        let mut entries = self.entries();
        if MAX_ENTRIES <= entries.by_key.len() {
            entries.forget_oldest();
        }
        let used = entries.next_tick();
        entries.by_key.insert(key, Entry { taken, output: Arc::new(output.clone()), used });
    }

    fn entry(&self, key: &CacheKey) -> Option<Entry> {
        let mut entries = self.entries();
        let used = entries.next_tick();
        let entry = entries.by_key.get_mut(key)?;
        entry.used = used;
        Some(entry.clone())
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn next_tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    fn forget_oldest(&mut self) {
        let oldest = self.by_key.iter().min_by_key(|(_, entry)| entry.used);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.by_key.remove(&key);
        }
    }
}

/// Takes the digest beside the runtime: it walks folders.
async fn digest_of(
    workspace: &Arc<Workspace>,
    areas: Vec<Area>,
    since: Timestamp,
) -> Option<ContentHash> {
    let workspace = Arc::clone(workspace);
    let digest = tokio::task::spawn_blocking(move || workspace.digest(&areas, since));
    digest.await.ok().flatten()
}
