//! A memory file parsed into typed values.

use super::document::Broken;
use super::draft::applies_of;
use super::kinds::LearningKind;
use crate::prelude::*;

#[derive(Clone, Debug)]
pub struct Memory {
    pub at: Located,
    pub title: String,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub status: Status,
    /// `None` for decisions and summaries.
    pub kind: Option<LearningKind>,
    /// From 0 to 1. `None` for summaries.
    pub confidence: Option<f64>,
    pub tags: Vec<String>,
    /// Situations in which the memory applies, worded like a task or an error message.
    pub applies: Vec<String>,
    pub related: Vec<MemoryId>,
    pub source: Option<String>,
    pub supersedes: Vec<MemoryId>,
    pub superseded_by: Option<MemoryId>,
    pub document: Document,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordFault {
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error("`{key}` is missing")]
    Missing { key: &'static str },
    #[error("Line {line}: `{key}` is `{}`; expected {expected}", nacre_base::ShownLine(found))]
    BadValue { line: usize, key: &'static str, found: String, expected: String },
    #[error(
        "Line {line}: `id` is `{}`, but the file name requires `{expected}`",
        nacre_base::ShownLine(found)
    )]
    WrongId { line: usize, found: String, expected: MemoryId },
}

impl RecordFault {
    pub fn reason(&self) -> String {
        let text = self.to_string();
        let head = format!("Line {}: ", self.line());
        text.strip_prefix(&head).map_or_else(|| text.clone(), str::to_owned)
    }

    /// The 1-based number of the invalid line.
    pub fn line(&self) -> usize {
        match self {
            Self::Broken(broken) => broken.line,
            Self::Missing { .. } => 1,
            Self::BadValue { line, .. } | Self::WrongId { line, .. } => *line,
        }
    }
}

/// The key of the importance. Users may have their own key with this name, so any value other than
/// a number from 1 to 3 is ignored.
pub(super) const IMPORTANCE: &str = "importance";

impl Memory {
    /// Returns the importance from 1 to 3, if it is known.
    pub fn importance(&self) -> Option<u8> {
        let number = self.document.number(IMPORTANCE).ok().flatten()?;
        [1, 2, 3].into_iter().find(|known| f64::from(*known) == number)
    }

    pub fn read(at: Located, document: Document) -> Result<Self, RecordFault> {
        let keys = Keys(&document);
        keys.check_id(&at.id)?;
        let title = keys.text("title")?.ok_or(RecordFault::Missing { key: "title" })?;
        let is_learning = at.memory_type == MemoryType::Learning;
        Ok(Self {
            title,
            created: keys.time("created")?,
            updated: keys.time("updated")?,
            status: keys.parse_key("status")?.unwrap_or(Status::Active),
            kind: if is_learning { keys.parse_key("kind")? } else { None },
            confidence: keys.confidence()?,
            tags: document.list("tags")?.unwrap_or_default(),
            applies: applies_of(&document),
            related: keys.ids("related")?,
            source: keys.text("source")?,
            supersedes: keys.ids("supersedes")?,
            superseded_by: keys.ids("superseded_by")?.into_iter().next(),
            at,
            document,
        })
    }
}

const MAX_LISTED_TAGS: usize = 256;

const ITEM_BYTES: usize = 64;

impl Memory {
    pub(super) fn into_outline(mut self) -> Self {
        self.document = self.document.without_body();
        self.tags.truncate(MAX_LISTED_TAGS);
        self.tags.shrink_to_fit();
        self
    }

    pub(super) fn weight(&self) -> usize {
        let n_items =
            self.tags.len() + self.applies.len() + self.related.len() + self.supersedes.len();
        self.title.len() + self.document.as_str().len() + n_items * ITEM_BYTES + size_of::<Self>()
    }
}

struct Keys<'a>(&'a Document);

impl Keys<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, RecordFault> {
        Ok(self.0.text(key)?.map(std::borrow::Cow::into_owned))
    }

    fn check_id(&self, expected: &MemoryId) -> Result<(), RecordFault> {
        match self.0.text("id")? {
            Some(found) if found != expected.as_str() => Err(RecordFault::WrongId {
                line: self.0.line_of("id").unwrap_or(1),
                found: found.chars().take(96).collect(),
                expected: expected.clone(),
            }),
            Some(_) => Ok(()),
            None => Err(RecordFault::Missing { key: "id" }),
        }
    }

    /// Parses a timestamp or a date without a time.
    fn time(&self, key: &'static str) -> Result<Option<Timestamp>, RecordFault> {
        let Some(text) = self.0.text(key)? else { return Ok(None) };
        let parsed = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse::<Timestamp>());
        parsed.map(Some).map_err(|_| self.bad(key, &text, "a time such as 2026-11-15T08:30:00Z"))
    }

    fn parse_key<T: nacre_types::Names>(
        &self,
        key: &'static str,
    ) -> Result<Option<T>, RecordFault> {
        let Some(text) = self.0.text(key)? else { return Ok(None) };
        T::from_name(&text).map(Some).ok_or_else(|| {
            let known: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
            self.bad(key, &text, &format!("one of {}", known.join(", ")))
        })
    }

    fn confidence(&self) -> Result<Option<f64>, RecordFault> {
        match self.0.number("confidence")? {
            Some(number) if !(0.0..=1.0).contains(&number) => {
                Err(self.bad("confidence", &number.to_string(), "a number from 0 to 1"))
            }
            number => Ok(number),
        }
    }

    fn ids(&self, key: &'static str) -> Result<Vec<MemoryId>, RecordFault> {
        let texts = self.0.list(key)?.unwrap_or_default();
        let parse =
            |text: String| text.parse().map_err(|_| self.bad(key, &text, "a list of memory IDs"));
        texts.into_iter().map(parse).collect()
    }

    fn bad(&self, key: &'static str, found: &str, expected: &str) -> RecordFault {
        RecordFault::BadValue {
            line: self.0.line_of(key).unwrap_or(1),
            key,
            found: found.chars().take(60).collect(),
            expected: expected.to_owned(),
        }
    }
}
