//! The words that are kept out of what is known of a session: its project's, and the person's own.
//!
//! A list belongs to one project and changes nothing of what is known of others. When it changes, what is kept is
//! cleaned at once, for its trace may be gone; a trace that is still there is then read again, for a word may have
//! left the list.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Transaction, named_params};

use super::columns::json;
use super::db::Catalog;
use super::error::CatalogError;
use super::search::INDEX_NAME;
use crate::base::redact::ExtraWords;
use crate::safefs::{Owner, WriteScope};
use crate::search::Index;
use crate::transcript::SessionFacts;

/// The list of every project.
#[derive(Clone, Debug, Default)]
pub struct WordLists {
    /// The person's own, for sessions of no registered project.
    pub own: ExtraWords,
    /// By the root of a registered project: its list, which includes the person's own.
    pub projects: BTreeMap<PathBuf, ProjectWords>,
}

/// The list of one project.
#[derive(Clone, Debug)]
pub enum ProjectWords {
    Known(ExtraWords),
    /// Its settings cannot be read, for this reason: nothing of its sessions may be kept.
    Unreadable(String),
}

impl WordLists {
    /// The words of a project, or why they are not known.
    pub(super) fn of(&self, project: Option<&Path>) -> Result<&ExtraWords, &str> {
        match project.and_then(|project| self.projects.get(project)) {
            Some(ProjectWords::Known(words)) => Ok(words),
            Some(ProjectWords::Unreadable(reason)) => Err(reason),
            None => Ok(&self.own),
        }
    }

    /// Whether all sessions are kept under one list, wherever they belong.
    pub(super) fn are_alike(&self) -> bool {
        self.projects.values().all(|words| match words {
            ProjectWords::Known(words) => words.fingerprint() == self.own.fingerprint(),
            ProjectWords::Unreadable(_) => false,
        })
    }

    /// The list that sessions of `project` are kept under; none where it is not known now.
    fn current(&self, project: Option<&str>) -> Option<&ExtraWords> {
        match project.map(|project| self.projects.get(Path::new(project))) {
            None => Some(&self.own),
            Some(Some(ProjectWords::Known(words))) => Some(words),
            Some(Some(ProjectWords::Unreadable(_)) | None) => None,
        }
    }
}

/// A list as it is compared in the database.
pub(super) fn fingerprint(words: &ExtraWords) -> i64 {
    words.fingerprint().cast_signed()
}

impl Catalog {
    /// Takes the words of lists that changed out of what is kept. Returns the number of sessions that were changed.
    pub(super) fn keep_out(&mut self, lists: &WordLists) -> Result<u64, CatalogError> {
        let mut sessions: Vec<(i64, &ExtraWords)> = Vec::new();
        for (project, kept) in self.lists_of("words_kept")? {
            let Some(words) = lists.current(project.as_deref()) else { continue };
            if fingerprint(words) == kept {
                continue;
            }
            let mut statement = self
                .connection
                .prepare_cached("SELECT id FROM session WHERE project IS ?1 AND words_kept = ?2")?;
            let found = statement.query_map((project, kept), |row| row.get(0))?;
            for session in found {
                sessions.push((session?, words));
            }
        }
        if sessions.is_empty() {
            return Ok(0);
        }
        // Otherwise what is replaced would stay in the file's free pages.
        self.connection.pragma_update(None, "secure_delete", "ON")?;
        let mut n_changed = 0;
        for (session, words) in &sessions {
            n_changed += u64::from(self.write(|transaction| clean(transaction, *session, words))?);
        }
        if n_changed > 0 {
            // Best effort: pages that were freed before are emptied, too, unless another process is reading now.
            let _ = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        }
        self.connection.pragma_update(None, "secure_delete", "OFF")?;
        Ok(n_changed)
    }

    /// The sources with sessions that were read under another list than they are kept under now.
    pub(super) fn read_under_other_words(
        &self,
        lists: &WordLists,
    ) -> Result<HashSet<i64>, CatalogError> {
        let mut sources = HashSet::new();
        for (project, read) in self.lists_of("words_read")? {
            let current = lists.current(project.as_deref());
            if current.is_none_or(|words| fingerprint(words) == read) {
                continue;
            }
            let mut statement = self.connection.prepare_cached(
                "SELECT source FROM session WHERE project IS ?1 AND words_read = ?2",
            )?;
            for source in statement.query_map((project, read), |row| row.get(0))? {
                sources.insert(source?);
            }
        }
        Ok(sources)
    }

    /// Removes the index of everything said, so that the next search builds it again.
    pub fn clear_index(
        &self,
        folder: Option<WriteScope>,
        owner: &Owner,
        patience: Duration,
    ) -> Result<(), CatalogError> {
        let cleared = Index::new(folder, INDEX_NAME).clear(owner, patience);
        Ok(cleared.map_err(crate::search::IndexError::from)?)
    }

    /// Every project, or none, with the lists that its sessions have in `column`.
    fn lists_of(&self, column: &'static str) -> Result<Vec<(Option<String>, i64)>, CatalogError> {
        let sql = format!("SELECT DISTINCT project, {column} FROM session");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Cleans what is kept of one session; tells whether anything is another text now.
fn clean(
    transaction: &Transaction<'_>,
    session: i64,
    words: &ExtraWords,
) -> rusqlite::Result<bool> {
    let mut statement =
        transaction.prepare_cached("SELECT id, text FROM message WHERE session = ?1")?;
    let mut rows = statement.query([session])?;
    let mut texts: Vec<(i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let text: String = row.get(1)?;
        let clean = words.redact(&text);
        if clean != text {
            texts.push((row.get(0)?, clean.into_owned()));
        }
    }
    for (id, text) in &texts {
        transaction
            .prepare_cached("UPDATE message SET text = ?2 WHERE id = ?1")?
            .execute((id, text))?;
    }
    let facts: String =
        transaction
            .query_row("SELECT facts FROM session WHERE id = ?1", [session], |row| row.get(0))?;
    let known = serde_json::from_str::<SessionFacts>(&facts).ok();
    let clean = known.map(|facts| facts.without_words(words));
    let title = clean.as_ref().and_then(|facts| facts.title.clone());
    // Where a read goes on holds facts, too; the next one starts over.
    transaction.execute(
        "UPDATE session SET words_kept = :words, watermark = NULL, said = said + :changed,
           title = coalesce(:title, title), facts = coalesce(:facts, facts) WHERE id = :id",
        named_params! {
            ":words": fingerprint(words), ":changed": u32::from(!texts.is_empty()), ":title": title,
            ":facts": clean.as_ref().map(json), ":id": session,
        },
    )?;
    let has_facts_changed = clean.as_ref().map(json).is_some_and(|clean| clean != facts);
    Ok(!texts.is_empty() || has_facts_changed)
}
