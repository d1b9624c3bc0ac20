//! Searches the messages of all sessions.
//!
//! Messages are stored in the catalog. The message index is derived from the catalog and updated in
//! steps of limited size. Each session is a unit and each message a record, so a message can also
//! be found through its session and neighboring messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{FsError, Owner, WriteScope};
use nacre_traces::catalog::{Catalog, CatalogError, SaidMessage, SaidSession};
use nacre_traces::transcript::Agent;

use crate::search::{
    Fingerprint, Index, LibraryOptions, Mode, News, Query, Record, Snapshot, Unit, Voice,
    filter_rows, search_snapshot, snippet, sync_index,
};

const INDEX_NAME: &str = "traces";

/// Maximum number of characters to index from the start of each message.
const MAX_INDEXED_CHARS: usize = 8000;

/// Limits the memory used to index a session, which is a few kilobytes per message. If a session
/// has more messages, only the most recent ones are indexed.
const MAX_RECORDS: usize = 40_000;

/// An update stops after this many bytes of text. The next search continues it.
const MAX_NEWS_BYTES: usize = 8 << 20;

/// Number of additional hits to load, because some may have been removed or may not contain the
/// phrases.
const SPARE_HITS: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct TextQuery {
    pub query: Query,
    pub mode: Mode,
    pub agent: Option<Agent>,
    pub project: Option<String>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TextHit {
    pub key: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub sequence: u64,
    pub kind: String,
    pub at: Option<Timestamp>,
    pub snippet: String,
    pub score: f32,
    pub terms: Vec<String>,
    /// Cosine similarity to the query, from 0 to 1.
    pub similarity: f32,
}

#[derive(Clone, Copy)]
pub struct TextIndexAccess<'a> {
    pub owner: &'a Owner,
    pub now: Timestamp,
}

pub fn index_messages(
    catalog: &Catalog,
    folder: Option<WriteScope>,
    access: TextIndexAccess<'_>,
) -> Result<usize, CatalogError> {
    Ok(open_index(catalog, folder, access)?.n_records())
}

/// Removes the message index. The next search rebuilds it.
pub fn clear_message_index(
    folder: Option<WriteScope>,
    owner: &Owner,
    wait: Duration,
) -> Result<(), FsError> {
    Index::new(folder, INDEX_NAME).clear(owner, wait)
}

pub fn search_messages(
    catalog: &Catalog,
    query: &TextQuery,
    folder: Option<WriteScope>,
    access: TextIndexAccess<'_>,
) -> Result<Vec<TextHit>, CatalogError> {
    let snapshot = open_index(catalog, folder, access)?;
    let mut wanted = query.query.clone();
    if let Some(agent) = query.agent {
        wanted = wanted.with_facet("agent", agent.as_str());
    }
    if let Some(project) = &query.project {
        wanted = wanted.with_facet("project", project);
    }
    let options = LibraryOptions {
        mode: query.mode,
        limit: query.limit.saturating_add(SPARE_HITS),
        now_ms: access.now.as_millisecond(),
    };
    let mut hits = Vec::new();
    let text_of = |session: &str, sequence: &str| {
        let (_, message) = catalog.message(session, sequence).ok()??;
        Some(truncate_for_index(&message.text).to_owned())
    };
    let rows = filter_rows(&snapshot, &wanted, true);
    let found = search_snapshot(&snapshot, &wanted, &rows, options, &text_of);
    let is_asked = wanted.is_filter_only();
    for found in found.into_iter().filter(|found| is_asked || found.is_match) {
        if hits.len() == query.limit {
            break;
        }
        let Some((session, message)) = catalog.message(&found.unit, &found.record)? else {
            continue;
        };
        if !wanted.holds_phrases(&message.text) {
            continue;
        }
        hits.push(TextHit {
            key: session.key,
            agent: session.agent,
            title: session.title,
            project: session.project,
            sequence: message.sequence.unsigned_abs(),
            at: message.at_ms.and_then(|at| Timestamp::from_millisecond(at).ok()),
            snippet: snippet(&message.text, &wanted.text),
            kind: message.kind,
            score: found.score,
            terms: found.terms,
            similarity: found.similarity,
        });
    }
    Ok(hits)
}

/// Returns a message's index record. `facets` are the facets of its session.
pub fn message_record(message: &SaidMessage, facets: &[(&'static str, String)]) -> Record {
    let speaker = ("speaker", message.kind.clone());
    Record {
        key: message.sequence.to_string(),
        body: truncate_for_index(&message.text).to_owned(),
        time_ms: message.at_ms.unwrap_or(0),
        voice: if message.kind == "user" { Voice::User } else { Voice::Assistant },
        facets: facets.iter().cloned().chain([speaker]).collect(),
        ..Record::default()
    }
}

fn truncate_for_index(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_INDEXED_CHARS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn open_index(
    catalog: &Catalog,
    folder: Option<WriteScope>,
    access: TextIndexAccess<'_>,
) -> Result<Arc<Snapshot>, CatalogError> {
    let index = Index::new(folder, INDEX_NAME);
    sync_index(&index, access.owner, |known| news(catalog, known))
}

fn news(catalog: &Catalog, known: &HashMap<String, Fingerprint>) -> Result<News, CatalogError> {
    let mut news = News::default();
    let (mut n_bytes, mut n_known) = (0, 0);
    for session in catalog.said_sessions()? {
        let key = session.id.to_string();
        let before = known.get(&key);
        n_known += usize::from(before.is_some());
        if before.is_some_and(|before| before.stamp == session.stamp) || n_bytes > MAX_NEWS_BYTES {
            news.is_partial |= before.is_none_or(|before| before.stamp != session.stamp);
            continue;
        }
        let records = records(catalog, &session)?;
        n_bytes += records.iter().map(|record| record.body.len()).sum::<usize>();
        news.units.push(Unit {
            key,
            fingerprint: Fingerprint { stamp: session.stamp, ..Fingerprint::default() },
            records,
        });
    }
    if n_known < known.len() {
        for key in known.keys() {
            if !catalog.has_messages(key)? {
                news.gone.push(key.clone());
            }
        }
    }
    Ok(news)
}

/// Returns a session's records. If another store contains the whole session, the session is found
/// through that store and has no records here.
fn records(catalog: &Catalog, session: &SaidSession) -> Result<Vec<Record>, CatalogError> {
    if session.is_twin {
        return Ok(Vec::new());
    }
    let facets = facets(session);
    let messages = catalog.messages_of(session.id, MAX_RECORDS)?;
    Ok(messages.iter().map(|message| message_record(message, &facets)).collect())
}

fn facets(session: &SaidSession) -> Vec<(&'static str, String)> {
    let mut facets = vec![("agent", session.agent.clone()), ("session", session.key.clone())];
    if let Some(project) = &session.project {
        let name = project.rsplit('/').next().unwrap_or_default().to_owned();
        facets.push(("project", name));
        facets.push(("project", project.clone()));
    }
    facets
}
