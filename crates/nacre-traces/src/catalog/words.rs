//! Redaction lists: words that are removed from all stored session data. Each list applies to one
//! project and includes the user's global list. When a list changes, stored text is redacted
//! immediately, because its transcript may no longer exist. Transcripts that still exist are also
//! read again, because words may have been removed from the list.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::{Transaction, named_params};

use super::*;

use crate::transcript::{SessionFacts, without_words};
use nacre_base::redact::ExtraWords;

#[derive(Clone, Debug, Default)]
pub struct WordLists {
    /// The user's global list, for sessions without a registered project.
    pub own: ExtraWords,
    /// Redaction lists by project root, including the user's global list.
    pub projects: BTreeMap<PathBuf, ProjectWords>,
}

#[derive(Clone, Debug)]
pub enum ProjectWords {
    Known(ExtraWords),
    /// The project's settings cannot be read for the given reason, so its sessions must not be
    /// stored.
    Unreadable(String),
}

impl WordLists {
    /// Returns a project's redaction list, or the reason why it is unavailable.
    pub(super) fn of(&self, project: Option<&Path>) -> Result<&ExtraWords, &str> {
        match project.and_then(|project| self.projects.get(project)) {
            Some(ProjectWords::Known(words)) => Ok(words),
            Some(ProjectWords::Unreadable(reason)) => Err(reason),
            None => Ok(&self.own),
        }
    }

    pub(super) fn are_alike(&self) -> bool {
        self.projects.values().all(|words| match words {
            ProjectWords::Known(words) => words.fingerprint() == self.own.fingerprint(),
            ProjectWords::Unreadable(_) => false,
        })
    }

    fn current(&self, project: Option<&str>) -> Option<&ExtraWords> {
        let Some(project) = project else { return Some(&self.own) };
        match self.projects.get(Path::new(project))? {
            ProjectWords::Known(words) => Some(words),
            ProjectWords::Unreadable(_) => None,
        }
    }
}

pub(super) fn fingerprint(words: &ExtraWords) -> i64 {
    words.fingerprint().cast_signed()
}

impl Catalog {
    /// Applies changed redaction lists to stored data, and returns how many sessions changed.
    pub(super) fn keep_out(&mut self, lists: &WordLists) -> Result<u64> {
        let mut sessions: Vec<(i64, &ExtraWords)> = Vec::new();
        for (project, kept) in self.lists_of("words_kept")? {
            let Some(words) = lists.current(project.as_deref()) else { continue };
            if fingerprint(words) == kept {
                continue;
            }
            let sql = "SELECT id FROM session WHERE project IS ?1 AND words_kept = ?2";
            let found = rows(&self.connection, sql, (project, kept), |row| row.get(0))?;
            sessions.extend(found.into_iter().map(|session| (session, words)));
        }
        if sessions.is_empty() {
            return Ok(0);
        }
        // Without this setting, replaced text would remain in the file's free pages.
        self.connection.pragma_update(None, "secure_delete", "ON")?;
        let mut n_changed = 0;
        for (session, words) in &sessions {
            n_changed += u64::from(self.write(|transaction| clean(transaction, *session, words))?);
        }
        if n_changed > 0 {
            // Best effort: `VACUUM` also erases pages freed earlier, but it fails while another
            // process is reading.
            let _ = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        }
        self.connection.pragma_update(None, "secure_delete", "OFF")?;
        Ok(n_changed)
    }

    /// Returns the IDs of sources with sessions that were read under an outdated redaction list.
    pub(super) fn read_under_other_words(&self, lists: &WordLists) -> Result<HashSet<i64>> {
        let mut sources = HashSet::new();
        for (project, read) in self.lists_of("words_read")? {
            let current = lists.current(project.as_deref());
            if current.is_none_or(|words| fingerprint(words) == read) {
                continue;
            }
            let sql = "SELECT source FROM session WHERE project IS ?1 AND words_read = ?2";
            let found = rows(&self.connection, sql, (project, read), |row| row.get(0))?;
            sources.extend::<Vec<i64>>(found);
        }
        Ok(sources)
    }

    /// Returns the distinct pairs of a project and the redaction list fingerprint in `column`. The
    /// project is `None` for sessions without one.
    fn lists_of(&self, column: &'static str) -> Result<Vec<(Option<String>, i64)>> {
        let sql = format!("SELECT DISTINCT project, {column} FROM session");
        Ok(rows(&self.connection, &sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

/// Returns `true` if redacting the session's stored data changed any text.
fn clean(transaction: &Transaction, session: i64, words: &ExtraWords) -> rusqlite::Result<bool> {
    let sql = "SELECT id, text FROM message WHERE session = ?1";
    let texts = rows(transaction, sql, [session], |row| {
        let text: String = row.get(1)?;
        let clean = words.redact(&text);
        Ok((clean != text).then_some((row.get::<_, i64>(0)?, clean.into_owned())))
    })?;
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    for (id, text) in &texts {
        transaction
            .prepare_cached("UPDATE message SET text = ?2 WHERE id = ?1")?
            .execute((id, text))?;
    }
    let facts: String =
        transaction
            .query_row("SELECT facts FROM session WHERE id = ?1", [session], |row| row.get(0))?;
    let known = serde_json::from_str::<SessionFacts>(&facts).ok();
    let clean = known.map(|facts| without_words(facts, words));
    let title = clean.as_ref().and_then(|facts| facts.title.clone());
    // The watermark contains unredacted facts. It is dropped, and the next read starts from the
    // beginning.
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
