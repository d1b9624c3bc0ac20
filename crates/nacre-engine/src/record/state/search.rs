//! Finds what was said in conversations, by its words.

use rusqlite::{params_from_iter, types::Value as Sql};

use super::db::State;
use super::error::StateError;
use super::row::count;
use super::sessions::id_at;
use crate::record::SessionId;

/// More words than these narrow nothing any more.
const MAX_WORDS: usize = 8;

/// What is shown of an item, around the first word.
const EXCERPT_CHARS: usize = 160;

/// An item that has all words of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemMatch {
    pub session: SessionId,
    pub title: String,
    pub sequence: u64,
    pub kind: String,
    /// The text around the first word, in one line.
    pub excerpt: String,
}

impl State {
    /// Items whose text has all words of `query`, in any case of ASCII letters: in one conversation, or in all of them.
    /// The conversation in use last comes first, and in it the newest item.
    pub fn search_items(
        &self,
        session: Option<&SessionId>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<ItemMatch>, StateError> {
        let words: Vec<&str> = query.split_whitespace().take(MAX_WORDS).collect();
        let Some(first) = words.first() else { return Ok(Vec::new()) };
        let mut sql = "SELECT session.id, title, sequence, kind, json ->> 'text' AS text
             FROM item JOIN session ON session.id = item.session
             WHERE (?1 IS NULL OR session.id = ?1)"
            .to_owned();
        let mut values = vec![
            session.map_or(Sql::Null, |session| Sql::Text(session.to_string())),
            Sql::Integer(i64::try_from(limit).unwrap_or(i64::MAX)),
        ];
        for word in &words {
            values.push(Sql::Text(pattern(word)));
            sql += &format!(" AND text LIKE ?{} ESCAPE '\\'", values.len());
        }
        sql += " ORDER BY updated DESC, session.id, sequence DESC LIMIT ?2";
        self.read(|connection| {
            let found = connection
                .prepare_cached(&sql)?
                .query_map(params_from_iter(&values), |row| {
                    let text: String = row.get(4)?;
                    Ok(ItemMatch {
                        session: id_at(row, 0)?,
                        title: row.get(1)?,
                        sequence: count(row, 2)?,
                        kind: row.get(3)?,
                        excerpt: excerpt(&text, first),
                    })
                })?
                .collect::<Result<_, _>>()?;
            Ok(found)
        })
    }
}

/// The word as part of a text, with the characters that `LIKE` reads differently taken as themselves.
fn pattern(word: &str) -> String {
    let mut pattern = "%".to_owned();
    for c in word.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// The text around the word, with white space as single spaces.
fn excerpt(text: &str, word: &str) -> String {
    let at = text.to_ascii_lowercase().find(&word.to_ascii_lowercase()).unwrap_or(0);
    let n_before = text[..at].chars().count().saturating_sub(EXCERPT_CHARS / 3);
    let cut: String = text.chars().skip(n_before).take(EXCERPT_CHARS).collect();
    cut.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_word_and_what_is_around_it() {
        let long = format!("{}Needle\n\tin hay {}", "é".repeat(400), "x".repeat(400));
        let shown = excerpt(&long, "needle");
        assert!(shown.contains("Needle in hay"), "{shown}");
        assert!(shown.chars().count() <= EXCERPT_CHARS);
        assert_eq!(excerpt("", "a"), "");
    }
}
