//! Finding what was said in any session.
//!
//! The query is taken apart here and put together from quoted words, so no text that a person types
//! is ever read as query syntax.

use jiff::Timestamp;
use rusqlite::named_params;

use super::db::Catalog;
use super::error::CatalogError;
use crate::transcript::Agent;

/// More words than anybody types.
const MAX_WORDS: usize = 32;

/// The longest word that is looked for; longer ones are cut.
const MAX_WORD_CHARS: usize = 64;

/// What to look for, and where.
#[derive(Clone, Debug, Default)]
pub struct TextQuery {
    pub text: String,
    pub agent: Option<Agent>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
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
    /// The words around the hit; found words stand between `[` and `]`.
    pub snippet: String,
}

impl Catalog {
    /// Finds messages that hold every word, best first.
    pub fn search(&self, query: &TextQuery) -> Result<Vec<TextHit>, CatalogError> {
        let Some(expression) = expression(&query.text) else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT s.key, s.agent, s.title, s.project, m.sequence, m.kind, m.at,
               snippet(message_text, 0, '[', ']', '…', 24)
             FROM message_text JOIN message m ON m.id = message_text.rowid JOIN session s ON s.id = m.session
             WHERE message_text MATCH :expression AND (:agent IS NULL OR s.agent = :agent)
               AND (:project IS NULL OR s.project = :project)
               AND (:since IS NULL OR m.at >= :since) AND (:until IS NULL OR m.at < :until)
             ORDER BY bm25(message_text), m.at DESC LIMIT :limit",
        )?;
        let rows = statement.query_map(
            named_params! {
                ":expression": expression, ":agent": query.agent.map(Agent::as_str), ":project": query.project,
                ":since": query.since.map(Timestamp::as_millisecond),
                ":until": query.until.map(Timestamp::as_millisecond),
                ":limit": i64::try_from(query.limit).unwrap_or(i64::MAX),
            },
            |row| {
                let at: Option<i64> = row.get(6)?;
                Ok(TextHit {
                    key: row.get(0)?,
                    agent: row.get(1)?,
                    title: row.get(2)?,
                    project: row.get(3)?,
                    sequence: row.get::<_, i64>(4)?.unsigned_abs(),
                    kind: row.get(5)?,
                    at: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
                    snippet: row.get(7)?,
                })
            },
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The words of a text as an expression of the index; `None` when there are none.
fn expression(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).take(MAX_WORDS);
    let quoted: Vec<String> = words
        .map(|word| format!("\"{}\"", word.chars().take(MAX_WORD_CHARS).collect::<String>()))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_words_and_nothing_else() {
        assert_eq!(expression("NEAR(a b) OR c*").unwrap(), r#""NEAR" "a" "b" "OR" "c""#);
        assert_eq!(expression("\"'; DROP"), Some("\"DROP\"".to_owned()));
        assert_eq!(expression(" -- "), None);
    }
}
