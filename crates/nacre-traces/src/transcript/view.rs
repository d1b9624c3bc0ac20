//! Borrowed access to the members and elements of JSON values. Values from databases are moderate
//! in size and have members in any order, so listing one level at a time is simpler than using a
//! pull parser. Parsing is as lenient as in [`JsonCursor`].

use std::borrow::Cow;

use jiff::Timestamp;

use super::facts::Tokens;
use super::json::{JsonCursor, Malformed, Parsed, decode};

/// Agents write about a hundred members at most, so an object with more members than this must be
/// hostile.
const MAX_MEMBERS: usize = 4096;
const MAX_ELEMENTS: usize = 250_000;
/// Numbers below this are in seconds, because as milliseconds they would be times before March
/// 1973.
const SECONDS_BELOW: i64 = 100_000_000_000;

/// The members of a JSON object, as unparsed JSON text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    pub(crate) fn read(raw: &'a str) -> Option<Self> {
        Self::parse(&mut JsonCursor::new(raw)).ok()
    }

    pub(crate) fn parse(cursor: &mut JsonCursor<'a>) -> Parsed<Self> {
        let mut members = Vec::new();
        cursor.object(|key, value| {
            if members.len() < MAX_MEMBERS {
                members.push((key, value.raw()?));
            }
            Ok(())
        })?;
        Ok(Self(members))
    }

    pub(crate) fn of(raw: &'a str) -> Self {
        Self::read(raw).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        self.0.iter().copied()
    }

    /// Returns a member as JSON text, or an empty string if it is missing or `null`. If a key
    /// occurs several times, the last value counts.
    pub(crate) fn raw(&self, key: &str) -> &'a str {
        let found = self.0.iter().rfind(|(name, _)| *name == key).map_or("", |(_, raw)| *raw);
        if found == "null" { "" } else { found }
    }

    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        text_of(self.raw(key))
    }

    /// Returns a string member unescaped, or an empty string if there is none.
    pub(crate) fn string(&self, key: &str) -> Cow<'a, str> {
        self.text(key).unwrap_or_default()
    }

    pub(crate) fn first_string(&self, keys: &[&str]) -> Cow<'a, str> {
        keys.iter().map(|key| self.string(key)).find(|text| !text.is_empty()).unwrap_or_default()
    }

    pub(crate) fn first_raw(&self, keys: &[&str]) -> &'a str {
        keys.iter().map(|key| self.raw(key)).find(|raw| !raw.is_empty()).unwrap_or_default()
    }

    /// Returns a string member without unescaping it, for comparison with strings that contain no
    /// escapes.
    pub(crate) fn word(&self, key: &str) -> &'a str {
        string_of(self.raw(key)).unwrap_or_default()
    }

    pub(crate) fn object(&self, key: &str) -> Self {
        Self::of(self.raw(key))
    }

    pub(crate) fn items(&self, key: &str) -> Vec<&'a str> {
        items(self.raw(key))
    }

    pub(crate) fn number(&self, key: &str) -> Option<i64> {
        number_of(self.raw(key))
    }

    pub(crate) fn count(&self, key: &str) -> u64 {
        self.number(key).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
    }

    /// Returns the token counts in these members: input, output, cached, written to the cache and
    /// used for reasoning.
    pub(crate) fn tokens(&self, keys: [&str; 5]) -> Tokens {
        let [input, output, cached, cache_write, reasoning] = keys.map(|key| self.count(key));
        Tokens { input, output, cached, cache_write, reasoning }
    }

    pub(crate) fn truth(&self, key: &str) -> bool {
        self.raw(key) == "true"
    }

    /// Accepts all timestamp formats that agents use.
    pub(crate) fn time(&self, key: &str) -> Option<Timestamp> {
        let raw = self.raw(key);
        match text_of(raw) {
            Some(text) => text.parse().ok().or_else(|| time_of(number_of(&text)?)),
            None => time_of(number_of(raw)?),
        }
    }
}

/// `words` is a list separated by spaces.
pub(crate) fn contains_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns an array's elements as JSON text, or nothing if the text is not an array.
pub(crate) fn items(raw: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    // If the array is truncated, the elements before the end of the text are kept.
    let _: Result<(), Malformed> = JsonCursor::new(raw).array(|element| {
        if elements.len() < MAX_ELEMENTS {
            elements.push(element.raw()?);
        }
        Ok(())
    });
    elements
}

/// Returns the text strings in a value, which may be a string or an array of strings and blocks
/// that have a `text` member.
pub(crate) fn texts(raw: &str) -> Vec<Cow<'_, str>> {
    if let Some(text) = text_of(raw) {
        return vec![text];
    }
    let block = |block| text_of(block).or_else(|| Fields::of(block).text("text"));
    items(raw).into_iter().filter_map(block).collect()
}

pub(crate) fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    string_of(raw).map(decode)
}

fn string_of(raw: &str) -> Option<&str> {
    if raw.starts_with('"') { JsonCursor::new(raw).string().ok() } else { None }
}

fn number_of(raw: &str) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "some times are fractional")]
    let rounded = |number: f64| number.is_finite().then_some(number as i64);
    raw.parse().ok().or_else(|| rounded(raw.parse().ok()?))
}

/// Accepts Unix times in seconds or milliseconds. The magnitude determines the unit.
pub(crate) fn time_of(number: i64) -> Option<Timestamp> {
    match number {
        ..=0 => None,
        1..SECONDS_BELOW => Timestamp::from_second(number).ok(),
        SECONDS_BELOW.. => Timestamp::from_millisecond(number).ok(),
    }
}
