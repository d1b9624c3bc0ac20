//! One memory file as text: YAML frontmatter between two fences, then a Markdown body.
//!
//! Files are people's. A document is therefore its exact text plus an index of the top-level
//! entries, and a change replaces the bytes of one value: order, comments, unknown keys, quoting,
//! line endings and blank lines of everything else survive. Common values are decoded by hand,
//! because a listing reads ten thousand files; all others go to the YAML parser, one entry at a
//! time, and a property test holds the two readings together.

mod conflict;
mod edit;
mod fault;
mod index;
mod list;
mod render;
mod scalar;
#[cfg(test)]
mod tests;
mod yaml;

use std::borrow::Cow;

pub use fault::{Broken, Fault};
use index::{Entry, Index, Tail};

/// What is longer is refused before anything is parsed; a store usually allows far less.
pub(super) const MAX_FILE_BYTES: usize = 1024 * 1024;
/// Ten keys take half a kilobyte; the rest is room for what people add.
pub(super) const MAX_FRONTMATTER_BYTES: usize = 16 * 1024;
/// Keeps the search for duplicate keys cheap in a hostile file.
pub(super) const MAX_ENTRIES: usize = 256;
/// Nesting of a value; deeper ones never reach the YAML parser.
pub(super) const MAX_DEPTH: usize = 32;

/// The text of a memory file and where its entries stand in it.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    index: Index,
}

impl Document {
    /// Indexes `text` and refuses what no later reading could make sense of.
    ///
    /// Values are not decoded yet: a malformed one is reported by the reader of its key, or by
    /// [`Document::check`].
    pub fn parse(text: String) -> Result<Self, Broken> {
        let index = index::scan(&text)?;
        Ok(Self { text, index })
    }

    /// Like [`Document::parse`], for bytes that nobody has looked at yet.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Broken> {
        index::check_length(&bytes)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Fault::NotUtf8.on_line(index::line_after(valid))
        })?;
        Self::parse(text)
    }

    /// A document with neither entries nor body.
    pub fn blank() -> Self {
        Self { text: "---\n---\n".to_owned(), index: Index::blank() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn into_string(self) -> String {
        self.text
    }

    /// Everything after the line of the closing fence.
    pub fn body(&self) -> &str {
        &self.text[self.index.body..]
    }

    /// The same without its body, for whoever holds many and looks at their keys alone.
    pub(super) fn without_body(mut self) -> Self {
        self.text.truncate(self.index.body);
        self.text.shrink_to_fit();
        self
    }

    /// The top-level keys, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.index.entries.iter().map(|entry| entry.key(&self.text))
    }

    pub fn has(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The line of `key` in the file, counted from 1.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        self.find(key).map(|entry| entry.line)
    }

    /// The scalar under `key` as it was written, whatever type YAML would give it.
    ///
    /// `None` when the key is missing or its value is null (nothing, `~`, `null`).
    pub fn text(&self, key: &str) -> Result<Option<Cow<'_, str>>, Broken> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        match self.token(entry) {
            Some(token) => Ok(token.text),
            None => Ok(yaml::text(entry.raw(&self.text), entry.line, key)?.map(Cow::Owned)),
        }
    }

    /// The list under `key`; a lone scalar is a list of one, null is the empty list.
    ///
    /// Items without a value, such as a bullet that somebody left empty, are passed over.
    pub fn list(&self, key: &str) -> Result<Option<Vec<String>>, Broken> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        if let Some(token) = self.token(entry) {
            return Ok(Some(token.text.map(Cow::into_owned).into_iter().collect()));
        }
        if entry.tail != Tail::Content
            && let Some(flow) = list::flow(entry.head(&self.text))
        {
            return Ok(Some(flow.items));
        }
        if let Some(block) = list::block(entry, &self.text) {
            return Ok(Some(block.items.into_iter().filter_map(|item| item.value).collect()));
        }
        yaml::list(entry.raw(&self.text), entry.line, key).map(Some)
    }

    /// The finite number under `key`, quoted or not.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Broken> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        let Some(text) = self.text(key)? else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            Ok(_) | Err(_) => Err(Fault::NotNumber { key: key.to_owned() }.on_line(entry.line)),
        }
    }

    /// Whether the document, as it is now, can be read in full, the unknown keys included.
    ///
    /// Also applies the limits of [`Document::parse`], which the setters do not.
    pub fn check(&self) -> Result<(), Broken> {
        index::scan(&self.text)?;
        // Nearly every file of a large store ends here, without the parser.
        if self.index.entries.iter().all(|entry| self.is_simple(entry)) {
            return Ok(());
        }
        for entry in &self.index.entries {
            yaml::check_depth(entry.raw(&self.text), entry.line)?;
        }
        yaml::check(self.index.frontmatter(&self.text))
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.index.entries.iter().position(|entry| entry.key(&self.text) == key)
    }

    fn find(&self, key: &str) -> Option<&Entry> {
        self.index.entries.iter().find(|entry| entry.key(&self.text) == key)
    }

    /// Whether the value can be read by hand, and so is sound.
    fn is_simple(&self, entry: &Entry) -> bool {
        self.token(entry).is_some()
            || (entry.tail != Tail::Content && list::flow(entry.head(&self.text)).is_some())
    }

    /// The value of an entry that is one simple scalar on the line of its key.
    fn token(&self, entry: &Entry) -> Option<scalar::Token<'_>> {
        match entry.tail {
            Tail::None | Tail::Comments => scalar::in_block(entry.head(&self.text)),
            Tail::Content => None,
        }
    }
}
