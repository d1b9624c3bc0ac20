//! The input to the index: records, grouped into units that are always updated together.
//!
//! The index does not depend on memories or traces. A memory file is a unit with one record. A
//! session is a unit whose records are its messages, in order.

use std::sync::LazyLock;

use nacre_base::text::{WordSet, word_set};

/// A facet without a value, for records that should have evidence but have none.
pub(super) const UNPROVEN: &str = "unproven";

/// A facet without a value, for records that list the situations they apply to.
pub(crate) const DESCRIBED: &str = "described";

/// The facet that names a record's project, which determines who may read the record.
pub(super) const PROJECT: &str = "project";

/// The first byte of a term that encodes a facet. No word starts with it.
const FACET_MARK: char = '\u{1}';

pub fn facet_term(name: &str, value: &str) -> String {
    format!("{FACET_MARK}{name}={}", value.to_lowercase())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Title,
    Tags,
    Body,
    Quotes,
}

pub(super) const N_FIELDS: usize = 4;

impl Field {
    pub(super) const ALL: [Self; N_FIELDS] = [Self::Title, Self::Tags, Self::Body, Self::Quotes];
}

/// How much a term in each field counts, relative to the body.
pub(super) const FIELD_WEIGHTS: [f32; N_FIELDS] = [2.0, 1.5, 1.0, 0.6];

pub(super) fn weigh_length(lengths: &[u16; N_FIELDS]) -> f32 {
    lengths.iter().zip(FIELD_WEIGHTS).map(|(length, weight)| f32::from(*length) * weight).sum()
}

/// Defines an enum whose variants have fixed numbers in index files and database tables. Unknown
/// numbers decode as the first variant.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $first:ident $(, $variant:ident)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            #[default]
            $first,
            $($variant,)*
        }

        impl $name {
            pub fn code(self) -> u8 {
                self as u8
            }

            pub fn from_code(code: u8) -> Self {
                [Self::$first $(, Self::$variant)*].get(usize::from(code)).copied().unwrap_or_default()
            }
        }
    };
}

coded!(
    /// Who wrote the record; `None` for memories and other records without a speaker.
    Voice { None, User, Assistant, Tool }
);

coded!(Standing { Active, Candidate, Stale, Superseded, Archived });

coded!(LinkKind { Related, Supersedes, SupersededBy, Contradicts });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    pub to: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub key: String,
    pub title: String,
    pub tags: String,
    pub body: String,
    pub quotes: String,
    /// Exact properties (name and value), for filtering and for relating records.
    pub facets: Vec<(&'static str, String)>,
    /// When the record was written or last confirmed, in milliseconds since 1970, or 0 if unknown.
    pub time_ms: i64,
    pub voice: Voice,
    /// Empty if the speaker has no name.
    pub speaker: String,
    pub standing: Standing,
    /// From 0 to 1.
    pub confidence: f32,
    pub links: Vec<Link>,
}

impl Record {
    pub(super) fn field(&self, field: Field) -> &str {
        match field {
            Field::Title => &self.title,
            Field::Tags => &self.tags,
            Field::Body => &self.body,
            Field::Quotes => &self.quotes,
        }
    }

    pub(super) fn all_facets(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let speaker = (!self.speaker.is_empty()).then_some(("speaker", self.speaker.as_str()));
        self.facets.iter().map(|(name, value)| (*name, value.as_str())).chain(speaker)
    }

    /// Returns the text to embed, with the title and tags before the body.
    pub fn text_to_embed(&self) -> String {
        let parts = [&self.title, &self.tags, &self.body, &self.quotes];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Changes whenever the unit may have changed. A stamp of 0 never matches.
    pub stamp: u64,
    /// Like `stamp`, but for related files such as a memory's evidence.
    pub side: u64,
    /// A hash of the content. While the hash stays the same, a file is not reindexed even if its
    /// stamp changes.
    pub content: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    pub key: String,
    pub fingerprint: Fingerprint,
    pub records: Vec<Record>,
}

static TIME_WORDS: LazyLock<WordSet> = LazyLock::new(|| {
    word_set(
        "ago april august december february friday january july june last march monday month next \
         november october recently saturday september since sunday thursday today tomorrow tonight \
         tuesday wednesday week weekend year years yesterday",
    )
});

static NUMBER_WORDS: LazyLock<WordSet> = LazyLock::new(|| {
    word_set("couple eight few five four nine once one seven several six ten three twice two")
});

const MAX_TRAIT_WORDS: usize = 2000;

/// Properties of a record's text that do not depend on the query, packed into one byte of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(pub(super) u8);

impl Traits {
    const ASKS: u8 = 1;
    const HAS_TIME: u8 = 2;
    const HAS_NUMBER: u8 = 4;

    pub(super) fn of(text: &str) -> Self {
        let mut bits = if text.trim_end().ends_with('?') { Self::ASKS } else { 0 };
        let mut lower = String::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).take(MAX_TRAIT_WORDS) {
            lower.clear();
            lower.push_str(word);
            lower.make_ascii_lowercase();
            if TIME_WORDS.contains(lower.as_str()) || is_dated(&lower) {
                bits |= Self::HAS_TIME;
            }
            if NUMBER_WORDS.contains(lower.as_str()) || is_number(&lower) {
                bits |= Self::HAS_NUMBER;
            }
        }
        Self(bits)
    }

    pub(super) fn asks(self) -> bool {
        self.0 & Self::ASKS != 0
    }

    pub(super) fn has_time(self) -> bool {
        self.0 & Self::HAS_TIME != 0
    }

    pub(super) fn has_number(self) -> bool {
        self.0 & Self::HAS_NUMBER != 0
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_dated(word: &str) -> bool {
    let is_year = is_number(word) && word.len() == 4 && word.starts_with("20");
    let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|tail| word.strip_suffix(tail));
    is_year || ordinal.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_show_their_traits() {
        let traits = |text| {
            let traits = Traits::of(text);
            (traits.asks(), traits.has_time(), traits.has_number())
        };
        assert_eq!(traits("How long? "), (true, false, false));
        assert_eq!(traits("We moved last week."), (false, true, false));
        assert_eq!(traits("on the 3rd, in 2026"), (false, true, true));
        assert_eq!(traits("Two retries"), (false, false, true));
        assert_eq!(traits(""), (false, false, false));
    }

    #[test]
    fn a_facet_is_not_a_word() {
        assert_eq!(facet_term("tag", "Auth"), "\u{1}tag=auth");
    }

    #[test]
    fn codes_are_read_back() {
        assert_eq!(Standing::from_code(Standing::Superseded.code()), Standing::Superseded);
        assert_eq!((Voice::Tool.code(), Voice::from_code(9)), (3, Voice::None));
    }
}
