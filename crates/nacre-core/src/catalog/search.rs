//! Finding what was said in any session.
//!
//! What was said lies in the catalog; the index beside it is derived and is brought up to date here, a
//! bounded piece at a time. A session is a unit, a message a record, so that a message is found by its
//! neighbours and its session too.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::OptionalExtension as _;

use super::admission::SAME;
use super::db::Catalog;
use super::error::CatalogError;
use super::said::{SaidMessage, indexed};
use crate::safefs::{Owner, WriteScope};
use crate::search::{
    Embedder, Fingerprint, IndexError, Library, LibraryOptions, Mode, News, Query, Record, Unit,
    snippet,
};
use crate::transcript::Agent;

/// The index's name.
pub(super) const INDEX_NAME: &str = "traces";

/// Of a longer session the last messages are found: it is indexed at once, and each message takes a few kilobytes then.
const MAX_RECORDS: i64 = 40_000;

/// What one piece of news holds at most, in bytes of text.
const MAX_NEWS_BYTES: usize = 8 << 20;

/// Hits beyond the limit that are looked at, for phrases and for what is gone.
const SPARE_HITS: usize = 200;

/// What to look for, and where.
#[derive(Clone, Debug, Default)]
pub struct TextQuery {
    pub query: Query,
    pub mode: Mode,
    pub agent: Option<Agent>,
    pub project: Option<String>,
    pub limit: usize,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct TextHit {
    pub key: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub sequence: u64,
    pub kind: String,
    pub at: Option<Timestamp>,
    /// The words around what was asked for.
    pub snippet: String,
    pub score: f32,
    /// Terms of the question that it holds.
    pub terms: Vec<String>,
    /// How near its meaning is to the question's, from 0 to 1.
    pub similarity: f32,
}

/// What an index of texts is kept with.
#[derive(Clone, Copy)]
pub struct TextIndexAccess<'a> {
    pub embedder: &'a dyn Embedder,
    pub owner: &'a Owner,
    pub now: Timestamp,
}

impl Catalog {
    /// Brings the index of everything said up to date; returns how many messages it holds.
    pub fn index_texts(
        &self,
        folder: Option<WriteScope>,
        access: TextIndexAccess<'_>,
    ) -> Result<usize, CatalogError> {
        Ok(self.library(folder, access)?.n_records())
    }

    /// Finds messages, best first.
    pub fn search(
        &self,
        query: &TextQuery,
        folder: Option<WriteScope>,
        access: TextIndexAccess<'_>,
    ) -> Result<Vec<TextHit>, CatalogError> {
        let library = self.library(folder, access)?;
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
            let (_, text) = self.message(session, sequence).ok()??;
            Some(indexed(&text).to_owned())
        };
        let found = library.search(&wanted, options, &text_of).map_err(IndexError::Embed)?;
        let is_asked = wanted.is_filter_only();
        for found in found.into_iter().filter(|found| is_asked || found.is_match) {
            if hits.len() == query.limit {
                break;
            }
            let Some((mut hit, text)) = self.message(&found.unit, &found.record)? else { continue };
            if !wanted.holds_phrases(&text) {
                continue;
            }
            hit.snippet = snippet(&text, &wanted.text);
            hits.push(TextHit {
                score: found.score,
                terms: found.terms,
                similarity: found.similarity,
                ..hit
            });
        }
        Ok(hits)
    }

    fn library<'a>(
        &self,
        folder: Option<WriteScope>,
        access: TextIndexAccess<'a>,
    ) -> Result<Library<'a>, CatalogError> {
        Library::open(folder, INDEX_NAME, access.embedder, access.owner, |known| self.news(known))
    }

    /// Sessions whose texts are not those that the index knows.
    fn news(&self, known: &HashMap<String, Fingerprint>) -> Result<News, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.id, s.said, coalesce(substr(j.reason, 1, ?1) = ?2, 0), s.agent, s.project, s.key
             FROM session s LEFT JOIN job j ON j.session = s.id WHERE s.said > 0 ORDER BY s.id DESC",
        )?;
        let mut rows = statement.query((SAME.len() as i64, SAME))?;
        let mut news = News::default();
        let (mut n_bytes, mut n_known) = (0, 0);
        while let Some(row) = rows.next()? {
            let (id, said, is_twin): (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let key = id.to_string();
            let stamp = said.unsigned_abs() * 2 + u64::from(is_twin) + 1;
            let before = known.get(&key);
            n_known += usize::from(before.is_some());
            if before.is_some_and(|before| before.stamp == stamp) || n_bytes > MAX_NEWS_BYTES {
                news.is_partial |= before.is_none_or(|before| before.stamp != stamp);
                continue;
            }
            let mut unit = Unit {
                key,
                fingerprint: Fingerprint { stamp, ..Fingerprint::default() },
                ..Unit::default()
            };
            // A copy of a session that another store tells better is found there.
            if !is_twin {
                let facets = facets(row.get(3)?, row.get(4)?, row.get(5)?);
                unit.records = self.records(id, &facets)?;
            }
            n_bytes += unit.records.iter().map(|record| record.body.len()).sum::<usize>();
            news.units.push(unit);
        }
        if n_known < known.len() {
            news.gone = self.gone(known)?;
        }
        Ok(news)
    }

    fn gone(&self, known: &HashMap<String, Fingerprint>) -> Result<Vec<String>, CatalogError> {
        let mut statement =
            self.connection.prepare_cached("SELECT 1 FROM session WHERE id = ?1 AND said > 0")?;
        let mut gone = Vec::new();
        for key in known.keys() {
            if !statement.exists([key])? {
                gone.push(key.clone());
            }
        }
        Ok(gone)
    }

    fn records(
        &self,
        session: i64,
        facets: &[(&'static str, String)],
    ) -> Result<Vec<Record>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT sequence, kind, at, text FROM (
                 SELECT sequence, kind, at, text FROM message WHERE session = ?1
                 ORDER BY sequence DESC LIMIT ?2
             ) ORDER BY sequence",
        )?;
        let rows = statement.query_map([session, MAX_RECORDS], |row| {
            let message = SaidMessage {
                sequence: row.get(0)?,
                kind: row.get(1)?,
                at_ms: row.get(2)?,
                text: row.get(3)?,
            };
            Ok(message.record(facets))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn message(
        &self,
        session: &str,
        sequence: &str,
    ) -> Result<Option<(TextHit, String)>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.key, s.agent, s.title, s.project, m.sequence, m.kind, m.at, m.text
             FROM message m JOIN session s ON s.id = m.session
             WHERE m.session = CAST(?1 AS INTEGER) AND m.sequence = CAST(?2 AS INTEGER)",
        )?;
        let found = statement.query_row((session, sequence), |row| {
            let at: Option<i64> = row.get(6)?;
            let hit = TextHit {
                key: row.get(0)?,
                agent: row.get(1)?,
                title: row.get(2)?,
                project: row.get(3)?,
                sequence: row.get::<_, i64>(4)?.unsigned_abs(),
                kind: row.get(5)?,
                at: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
                snippet: String::new(),
                score: 0.0,
                terms: Vec::new(),
                similarity: 0.0,
            };
            Ok((hit, row.get(7)?))
        });
        Ok(found.optional()?)
    }
}

/// What every message of a session can be filtered by.
fn facets(agent: String, project: Option<String>, key: String) -> Vec<(&'static str, String)> {
    let mut facets = vec![("agent", agent), ("session", key)];
    if let Some(project) = project {
        let name = project.rsplit('/').next().unwrap_or_default().to_owned();
        facets.push(("project", name));
        facets.push(("project", project));
    }
    facets
}
