//! Reads a trace from where the last sync stopped. A mark that records how far the sync has read is
//! committed together with the memories.

use std::cell::OnceCell;
use std::collections::HashMap;

use nacre_base::ContentHash;
use nacre_base::fs::{FsError, RelPath};
use nacre_base::redact::ExtraWords;
use nacre_memory::search::{MemoryIndex, MemoryOptions, Mode, Query};
use nacre_memory::{Memory, MemoryId, Store};
use nacre_traces::agents::generic::{write_end, write_event, write_session};
use nacre_traces::transcript::{
    Agent, Error, SessionFacts, Sink, Trace, TranscriptEvent, without_words,
};
use serde::{Deserialize, Serialize};

use super::{FlowContext, Result, is_open};
use crate::host::ModelClient;
use crate::run::folder::RunId;
use crate::sync::candidate::{Extraction, Remark, SessionSummary};
use crate::sync::extract::{Rules, read as read_trace};
use crate::sync::strategy::{HowRead, KnownMemory, SessionRead, SessionReader};

const MAX_EARLIER: usize = 4000;

/// Maximum number of memories to show for one window.
const MAX_KNOWN: usize = 24;
/// Maximum number of messages to search for, and of memories to find for each.
const MAX_SEARCHES: usize = 48;
const MAX_NEAR: usize = 4;
/// Maximum length of the part of a message to search for.
const MAX_QUERY_BYTES: usize = 600;
/// Messages with fewer words, such as "yes, do it", name no topic.
const MIN_WORDS: usize = 4;

pub(super) struct ReadSession {
    pub(super) facts: SessionFacts,
    pub(super) extraction: Extraction,
    pub(super) summary: SessionSummary,
    pub(super) how: HowRead,
    /// The transcript in Nacre's own format.
    pub(super) transcript: Vec<u8>,
    pub(super) next_sequence: u64,
    pub(super) digest: String,
    /// Whether events have changed since they were last read.
    pub(super) is_rewritten: bool,
}

/// Reads the new events. Returns `None` if the trace has no new events, in which case no model is
/// used.
pub(super) fn read(
    ctx: &FlowContext<'_>,
    trace: &Trace,
    mark: Option<&Mark>,
    asker: Option<&ModelClient<'_>>,
) -> Result<Option<ReadSession>> {
    let store = ctx.store;
    let is_forgotten = |title: &str, body: &str| store.is_forgotten(title, body).unwrap_or(false);
    let pass = |from: u64| {
        let rules = Rules { from, is_forgotten: &is_forgotten };
        Pass::over(trace, from, store.words(), SessionReader::new(rules, ctx.reader))
    };
    let index = OnceCell::new();
    let find_known = |said: &[&str]| {
        // If the index cannot be opened, the error is reported when the claims are compared.
        let open = || MemoryIndex::open(store, ctx.owner, ctx.now).ok();
        let index = index.get_or_init(open).as_ref();
        index.map_or_else(Vec::new, |index| find_known(store, index, said))
    };
    let finish = |passed: Pass<'_>,
                  is_rewritten: bool,
                  earlier: Option<&str>|
     -> Result<Option<ReadSession>> {
        let Pass { session, facts, transcript, next_sequence, digest, .. } = passed;
        let SessionRead { extraction, summary, how } =
            session.finish(&facts, asker, earlier, &find_known)?;
        Ok(Some(ReadSession {
            facts,
            extraction,
            summary,
            how,
            transcript,
            next_sequence,
            digest,
            is_rewritten,
        }))
    };
    let Some(mark) = mark else { return finish(pass(0)?, false, None) };
    let passed = pass(mark.next_sequence)?;
    if passed.digest_before.as_deref() != Some(&mark.digest) {
        return finish(pass(0)?, true, None);
    }
    if passed.next_sequence == mark.next_sequence {
        return Ok(None);
    }
    let summary = mark.summary.as_ref().and_then(|id| store.get(id.as_str()).ok());
    let earlier = summary.as_ref().map(|memory| memory.document.body().trim());
    let earlier = earlier.map(|body| &body[..body.floor_char_boundary(MAX_EARLIER)]);
    finish(passed, false, earlier)
}

/// Returns the memories that are most similar to the messages, nearest first. Memories that agents
/// are not offered are left out.
fn find_known(store: &Store, index: &MemoryIndex<'_>, said: &[&str]) -> Vec<KnownMemory> {
    let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_NEAR, archived: false };
    let mut found: HashMap<MemoryId, (f32, Memory)> = HashMap::new();
    let messages = said.iter().filter(|text| text.split_whitespace().count() >= MIN_WORDS);
    for text in messages.take(MAX_SEARCHES) {
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let query = Query::plain(text).with_facet("type", "decision");
        let near = index.search(&query.with_facet("type", "learning"), &options);
        for (rank, hit) in near.hits.into_iter().enumerate() {
            let id = hit.memory.at.id.clone();
            found.entry(id).or_insert((0.0, hit.memory)).0 += 1.0 / (rank + 1) as f32;
        }
    }
    let mut found: Vec<(f32, Memory)> = found
        .into_values()
        .filter(|(_, memory)| is_open(memory.status) && store.trust_of(memory).is_offered())
        .collect();
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.at.id.cmp(&other.at.id)));
    let shown = found.into_iter().take(MAX_KNOWN);
    shown
        .map(|(_, memory)| KnownMemory {
            title: store.redact_text(&memory.title),
            memory_type: memory.at.memory_type,
            said: memory.updated.or(memory.created),
            id: memory.at.id,
        })
        .collect()
}

struct Pass<'r> {
    session: SessionReader<'r>,
    facts: SessionFacts,
    transcript: Vec<u8>,
    next_sequence: u64,
    digest: String,
    /// `None` if the trace has fewer events than the mark records.
    digest_before: Option<String>,
}

impl<'r> Pass<'r> {
    fn over(
        trace: &Trace,
        from: u64,
        words: &ExtraWords,
        mut session: SessionReader<'r>,
    ) -> Result<Self, Error> {
        let mut digest = String::new();
        let mut digest_before = None;
        let (mut events, mut next_sequence) = (Vec::new(), 0);
        let mut each = |event: TranscriptEvent| {
            if event.sequence == from {
                digest_before = Some(digest.clone());
            }
            // The digest covers all events so far. It is updated before excluded words are removed,
            // so that it does not depend on which words are excluded.
            let mut bytes = digest.as_bytes().to_vec();
            for text in [event.kind.as_str(), event.text.head(), event.text.tail()] {
                bytes.extend(text.bytes());
                bytes.push(0);
            }
            digest = ContentHash::of(&bytes).to_string();
            let event = event.without_words(words);
            session.take(&event);
            // Writing to a `Vec` cannot fail.
            let _ = write_event(&event, &mut events);
            next_sequence = event.sequence + 1;
        };
        let facts = without_words(read_trace(trace, Sink::everything(&mut each))?, words);
        if next_sequence == from {
            digest_before = Some(digest.clone());
        }
        let mut transcript = Vec::with_capacity(events.len() + 1024);
        let _ = write_session(&facts, &mut transcript);
        transcript.append(&mut events);
        let _ = write_end(&facts, &mut transcript);
        Ok(Self { session, facts, transcript, next_sequence, digest, digest_before })
    }
}

const VERSION: u32 = 1;

/// Maximum size of a mark. Nacre does not write larger files.
const MAX_MARK_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub version: u32,
    pub session: String,
    pub agent: Agent,
    /// Sequence number of the first unread event.
    pub next_sequence: u64,
    /// Hash of the events read so far, for detecting a rewritten trace.
    pub digest: String,
    /// The id of the summary. `summary_bytes` is the hash of its content as written, for detecting
    /// user edits.
    pub summary: Option<MemoryId>,
    pub summary_bytes: Option<ContentHash>,
    /// The runs with stored transcripts, oldest first.
    pub runs: Vec<RunId>,
    /// What the session said that another session may repeat, and its signature.
    #[serde(default)]
    pub(crate) remarks: Vec<Remark>,
    #[serde(default)]
    pub(crate) signature: Option<String>,
}

impl Mark {
    pub(super) fn new(session: &str, agent: Agent) -> Self {
        Self {
            version: VERSION,
            session: session.to_owned(),
            agent,
            next_sequence: 0,
            digest: String::new(),
            summary: None,
            summary_bytes: None,
            runs: Vec::new(),
            remarks: Vec::new(),
            signature: None,
        }
    }

    pub fn path(key: &str) -> Result<RelPath, FsError> {
        RelPath::new(&format!("meta/sessions/{key}.json"))
    }

    /// Reads a session's mark. An invalid file is treated as missing.
    pub fn read(store: &Store, key: &str) -> Result<Option<Self>, FsError> {
        let bytes = store.scope().read_optional(&Self::path(key)?, MAX_MARK_BYTES)?;
        let mark = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(mark.filter(|mark| mark.version == VERSION))
    }

    /// Returns the readable marks. `doctor` reports the others.
    pub(crate) fn read_all(store: &Store) -> impl Iterator<Item = Self> {
        let folder = RelPath::new("meta/sessions");
        let entries = folder.and_then(|folder| store.scope().list(&folder)).unwrap_or_default();
        entries.into_iter().filter_map(move |entry| {
            let key = entry.name.strip_suffix(".json")?;
            Self::read(store, key).ok()?
        })
    }

    pub fn transcript(agent: Agent, run: &RunId) -> Result<RelPath, FsError> {
        RelPath::new(&format!("meta/traces/sessions/{}/{run}.jsonl", agent.as_str()))
    }
}
