//! Memories into units: one file, one unit, one record.

use std::borrow::Cow;
use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use super::mentions;
use crate::memory::{Evidence, FileRead, Located, Memory, MemoryType, Status};
use crate::safefs::FileStamp;
use crate::search::record::{Fingerprint, Link, LinkKind, Record, Standing, UNPROVEN, Unit};

/// Quotes beyond this add nothing to what a memory is found by.
const MAX_QUOTE_BYTES: usize = 4096;

/// What a memory without one is taken for.
const USUAL_CONFIDENCE: f64 = 0.5;

/// The unit of a memory's file. A file that is no memory is a unit without records: it is not read again
/// until it changes.
pub(super) fn unit_of(at: &Located, fingerprint: Fingerprint, read: &FileRead) -> Unit {
    let records = match &read.memory {
        Ok(memory) => vec![record_of(memory, read.evidence.as_ref())],
        Err(_) => Vec::new(),
    };
    Unit { key: at.path.as_str().to_owned(), fingerprint, records }
}

/// A number that changes with the stamp; never 0.
pub(super) fn number_of(stamp: Option<FileStamp>) -> u64 {
    stamp.map_or(1, FileStamp::number)
}

/// A number that changes with what is indexed.
pub(super) fn content_of(read: &FileRead) -> u64 {
    let quotes: String = read.evidence.iter().flat_map(texts).collect();
    xxh3_64(&read.bytes) ^ xxh3_64(quotes.as_bytes()).rotate_left(1)
}

fn texts(evidence: &Evidence) -> impl Iterator<Item = &str> {
    evidence.quotes.iter().map(|quote| quote.text.as_str())
}

fn record_of(memory: &Memory, evidence: Option<&Evidence>) -> Record {
    let body = memory.document.body().trim();
    let time = memory.updated.or(memory.created);
    Record {
        key: memory.at.id.as_str().to_owned(),
        title: memory.title.clone(),
        tags: memory.tags.join(" "),
        body: body.to_owned(),
        quotes: quotes(body, evidence),
        facets: facets(memory, body).into_iter().chain(unproven(memory, evidence)).collect(),
        time_ms: time.map_or(0, jiff::Timestamp::as_millisecond),
        standing: standing(memory),
        confidence: memory.confidence.unwrap_or(USUAL_CONFIDENCE) as f32,
        links: links(memory),
        ..Record::default()
    }
}

/// The mark of a decision or learning without a single quote. Summaries never have one.
fn unproven(memory: &Memory, evidence: Option<&Evidence>) -> Option<(&'static str, String)> {
    let is_claim = memory.at.memory_type != MemoryType::Summary;
    let has_quotes = evidence.is_some_and(|evidence| !evidence.quotes.is_empty());
    (is_claim && !has_quotes).then(|| (UNPROVEN, String::new()))
}

/// What the evidence says beyond the memory's own text.
fn quotes(body: &str, evidence: Option<&Evidence>) -> String {
    let mut joined = String::new();
    for text in evidence.iter().flat_map(|evidence| texts(evidence)) {
        let is_new = !body.contains(text.trim()) && (body.is_empty() || !text.contains(body));
        if is_new && joined.len() < MAX_QUOTE_BYTES {
            joined.extend(text.chars().take(MAX_QUOTE_BYTES));
            joined.push('\n');
        }
    }
    joined
}

fn standing(memory: &Memory) -> Standing {
    match memory.status {
        _ if memory.is_archived() => Standing::Archived,
        _ if memory.says_overturned() => Standing::Superseded,
        Status::Candidate => Standing::Candidate,
        Status::Stale => Standing::Stale,
        Status::Active | Status::Superseded | Status::Archived => Standing::Active,
    }
}

fn links(memory: &Memory) -> Vec<Link> {
    let contradicted = memory.document.list("contradicts").ok().flatten().unwrap_or_default();
    let link = |kind: LinkKind, to: &str| Link { kind, to: to.to_owned() };
    let related = memory.related.iter().map(|id| link(LinkKind::Related, id.as_str()));
    let older = memory.supersedes.iter().map(|id| link(LinkKind::Supersedes, id.as_str()));
    let newer = memory.superseded_by.iter().map(|id| link(LinkKind::SupersededBy, id.as_str()));
    let contradicted = contradicted.iter().map(|id| link(LinkKind::Contradicts, id));
    let related = related.take(MAX_LINKS);
    let (older, contradicted) = (older.take(MAX_LINKS), contradicted.take(MAX_LINKS));
    related.chain(older).chain(newer).chain(contradicted).collect()
}

/// More links of a kind, and tags, than anybody gives a memory; what follows is not indexed.
const MAX_LINKS: usize = 64;
const MAX_TAGS: usize = 64;

/// What a memory can share with another.
pub(super) fn facets_of(memory: &Memory) -> Vec<(&'static str, String)> {
    facets(memory, memory.document.body().trim())
}

fn facets(memory: &Memory, body: &str) -> Vec<(&'static str, String)> {
    let mut facets = vec![
        ("id", memory.at.id.as_str().to_owned()),
        ("type", memory.at.memory_type.as_str().to_owned()),
        ("status", memory.status.as_str().to_owned()),
    ];
    facets.extend(memory.kind.map(|kind| ("kind", kind.as_str().to_owned())));
    let older = memory.supersedes.iter().take(MAX_LINKS);
    facets.extend(older.map(|id| ("supersedes", id.as_str().to_owned())));
    let tags: BTreeSet<&String> = memory.tags.iter().take(MAX_TAGS).collect();
    facets.extend(tags.into_iter().map(|tag| ("tag", tag.clone())));
    let text = |key: &str| memory.document.text(key).ok().flatten().map(Cow::into_owned);
    facets.extend(text("coding_agent").map(|agent| ("agent", agent)));
    let session = match memory.at.memory_type {
        MemoryType::Summary => text("raw_trace_path"),
        MemoryType::Decision | MemoryType::Learning => {
            memory.source.clone().filter(|source| source != "human")
        }
    };
    facets.extend(session.map(|session| ("session", session)));
    let whole = format!("{}\n{body}", memory.title);
    for path in mentions::files(&whole) {
        let name = mentions::file_name(&path).to_owned();
        if name != path {
            facets.push(("file", name));
        }
        facets.push(("file", path));
    }
    facets.extend(mentions::symbols(&whole).into_iter().map(|symbol| ("symbol", symbol)));
    facets
}
