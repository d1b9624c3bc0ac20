//! Memories into units: one file, one unit, one record.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use super::mentions;
use crate::memory::{Evidence, FileRead, Located, Memory, MemoryType, Status};
use crate::safefs::FileStamp;
use crate::search::record::{
    DESCRIBED, Fingerprint, Link, LinkKind, Record, Standing, UNPROVEN, Unit,
};

/// Quotes beyond this add nothing to what a memory is found by, and neither do more of them.
const MAX_QUOTE_BYTES: usize = 4096;
const MAX_QUOTES: usize = 64;

/// A memory is a page: words that stand later in its text are not what it is found by.
pub(super) const MAX_TEXT_BYTES: usize = 16 << 10;

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
    let body = page_of(memory);
    let time = memory.updated.or(memory.created);
    Record {
        key: memory.at.id.as_str().to_owned(),
        title: memory.title.clone(),
        tags: memory.tags.iter().take(MAX_TAGS).map(String::as_str).collect::<Vec<_>>().join(" "),
        body: found_by(memory, body),
        quotes: quotes(body, evidence.into_iter().flat_map(texts)),
        facets: facets(memory, body)
            .into_iter()
            .chain(unproven(memory, evidence))
            .chain(described(memory))
            .collect(),
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

/// The mark of a memory that says in which situations it should be told.
fn described(memory: &Memory) -> Option<(&'static str, String)> {
    (!memory.applies.is_empty()).then(|| (DESCRIBED, String::new()))
}

/// The part of a memory's text that it is found by.
fn page_of(memory: &Memory) -> &str {
    let body = memory.document.body().trim();
    &body[..body.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// The text with the situations in which it should be told: who is in one finds it by their words.
fn found_by(memory: &Memory, body: &str) -> String {
    let lines = std::iter::once(body).chain(memory.applies.iter().map(String::as_str));
    lines.collect::<Vec<_>>().join("\n")
}

/// What the evidence says beyond the memory's own text. Looks at no more quotes than it may take.
fn quotes<'t>(body: &str, texts: impl Iterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    let own = memmem::Finder::new(body.as_bytes());
    for text in texts.take(MAX_QUOTES) {
        let start = &text[..text.floor_char_boundary(MAX_QUOTE_BYTES)];
        let is_said = memmem::find(body.as_bytes(), start.trim().as_bytes()).is_some();
        if !is_said && (body.is_empty() || own.find(text.as_bytes()).is_none()) {
            joined.push_str(start);
            joined.push('\n');
        }
        if MAX_QUOTE_BYTES <= joined.len() {
            break;
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
    facets(memory, page_of(memory))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quote_is_looked_at_after_the_last_that_counts() {
        let n_seen = |body: &str, text: &str| {
            let n_seen = std::cell::Cell::new(0);
            let texts = vec![text; 18_000];
            let seen = texts.into_iter().inspect(|_| n_seen.set(n_seen.get() + 1));
            let joined = quotes(body, seen);
            assert!(joined.len() <= 2 * MAX_QUOTE_BYTES, "{}", joined.len());
            n_seen.get()
        };
        let body = "ab".repeat(8_000);
        assert_eq!(
            n_seen(&body, "abab"),
            MAX_QUOTES,
            "what the body says is not taken, but looked at"
        );
        assert_eq!(n_seen(&body, "ababx"), MAX_QUOTES);
        assert_eq!(n_seen(&body, &"x".repeat(MAX_QUOTE_BYTES)), 1, "one fills the room");
    }

    #[test]
    fn what_the_evidence_says_beyond_the_text_is_kept() {
        let said = ["one file", "no server", "We said: one file, as ever. Good."];
        assert_eq!(quotes("one file, as ever.", said.into_iter()), "no server\n");
        assert_eq!(quotes("", ["kept"].into_iter()), "kept\n");
    }
}
