//! JSON values looked at from outside: members and elements by name and place, nothing copied.
//!
//! Rows of a database are whole values of modest size in which the wanted members stand in any
//! order; listing one level at a time is simpler than pulling, and as lenient as the reader below.

use std::borrow::Cow;

use jiff::Timestamp;

use super::event::Bounds;
use super::json::{Cursor, Ends, Malformed, Next, Text};

/// Agents write up to a hundred members; beyond this a value is hostile.
const MAX_MEMBERS: usize = 4096;
const MAX_ELEMENTS: usize = 250_000;
/// Times below this are seconds: in milliseconds they would lie in 1973.
const SECONDS_BELOW: i64 = 100_000_000_000;

/// The members of a JSON object, each as written.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    /// The members of an object; `None` where the text is no object, or not a whole one.
    pub(super) fn read(raw: &'a str) -> Option<Self> {
        let mut members = Vec::new();
        let mut cursor = Cursor::new(raw);
        if cursor.next().ok()? != Next::Object {
            return None;
        }
        let parsed = cursor.object(|key, value| {
            if members.len() < MAX_MEMBERS {
                members.push((key, value.raw()?));
            }
            Ok(())
        });
        parsed.ok()?;
        Some(Self(members))
    }

    /// The members of an object, or none.
    pub(super) fn of(raw: &'a str) -> Self {
        Self::read(raw).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        self.0.iter().copied()
    }

    /// A member as written; empty where there is none or it is `null`.
    pub(super) fn raw(&self, key: &str) -> &'a str {
        let found = self.0.iter().find(|(name, _)| *name == key).map_or("", |(_, raw)| *raw);
        if found == "null" { "" } else { found }
    }

    /// A member that is a string.
    pub(super) fn text(&self, key: &str) -> Option<Text<'a>> {
        text_of(self.raw(key))
    }

    /// A member that is a string, decoded; empty where there is none.
    pub(super) fn string(&self, key: &str) -> Cow<'a, str> {
        self.text(key).map(Text::decode).unwrap_or_default()
    }

    /// A member that is a string, for comparison with words that need no escape.
    pub(super) fn word(&self, key: &str) -> &'a str {
        self.text(key).map_or("", Text::raw)
    }

    /// A member that is an object; without members where there is none.
    pub(super) fn object(&self, key: &str) -> Self {
        Self::of(self.raw(key))
    }

    /// The elements of a member that is an array.
    pub(super) fn items(&self, key: &str) -> Vec<&'a str> {
        items(self.raw(key))
    }

    pub(super) fn number(&self, key: &str) -> Option<i64> {
        number_of(self.raw(key))
    }

    pub(super) fn count(&self, key: &str) -> u64 {
        self.number(key).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
    }

    pub(super) fn truth(&self, key: &str) -> bool {
        self.raw(key) == "true"
    }

    /// A member that is a point in time, in any of the ways in which agents write one.
    pub(super) fn time(&self, key: &str) -> Option<Timestamp> {
        let raw = self.raw(key);
        match text_of(raw) {
            Some(text) => {
                let text = text.decode();
                super::time::parse_time(&text).or_else(|| time_of(number_of(&text)?))
            }
            None => time_of(number_of(raw)?),
        }
    }
}

/// The elements of an array as written; none where the text is no array.
pub(super) fn items(raw: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut cursor = Cursor::new(raw);
    if cursor.next() == Ok(Next::Array) {
        // What stands before a torn end is still good.
        let _: Result<(), Malformed> = cursor.array(|element| {
            if elements.len() < MAX_ELEMENTS {
                elements.push(element.raw()?);
            }
            Ok(())
        });
    }
    elements
}

/// The texts of a message's content: a string, or a list of strings and of blocks with a `text`.
pub(super) fn texts(raw: &str) -> Vec<Cow<'_, str>> {
    if let Some(text) = text_of(raw) {
        return vec![text.decode()];
    }
    let block = |block| text_of(block).or_else(|| Fields::of(block).text("text"));
    items(raw).into_iter().filter_map(block).map(Text::decode).collect()
}

/// The value as a string, where it is one.
pub(super) fn text_of(raw: &str) -> Option<Text<'_>> {
    Cursor::new(raw).maybe_string().ok().flatten()
}

fn number_of(raw: &str) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "times come with a fraction at times")]
    let rounded = |number: f64| number.is_finite().then_some(number as i64);
    raw.parse().ok().or_else(|| rounded(raw.parse().ok()?))
}

/// A point in time given in seconds or milliseconds, told apart by size.
pub(super) fn time_of(number: i64) -> Option<Timestamp> {
    match number {
        ..=0 => None,
        1..SECONDS_BELOW => Timestamp::from_second(number).ok(),
        SECONDS_BELOW.. => Timestamp::from_millisecond(number).ok(),
    }
}

/// What a value says to a reader: a string's content, anything else as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a>(Text<'a>);

impl<'a> Said<'a> {
    pub(super) fn of(raw: &'a str) -> Self {
        Self(text_of(raw).unwrap_or_else(|| Text::plain(raw)))
    }

    pub(super) fn plain(text: &'a str) -> Self {
        Self(Text::plain(text))
    }

    pub(super) fn ends(self, bounds: Bounds) -> Ends<'a> {
        self.0.ends(bounds)
    }
}
