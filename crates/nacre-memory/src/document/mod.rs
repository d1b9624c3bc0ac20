//! A memory file as text: YAML frontmatter between two fences, followed by a Markdown body.
//!
//! Users edit these files by hand, so a document consists of its exact text and an index of the
//! top-level entries. A change replaces the bytes of one value and preserves everything else,
//! including order, comments, unknown keys, quoting, line endings and blank lines. Listings read
//! thousands of files, so simple values are decoded by hand-written code, and other values are
//! passed to the YAML parser, one entry at a time. A property test checks that both decoders agree.

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
use index::{Index, KeyEntry, Tail};

/// Larger files are rejected before parsing. Most stores set a much lower limit.
pub(super) const MAX_FILE_BYTES: usize = 1024 * 1024;
/// Ten keys take about half a kilobyte. The rest of the limit is for keys that users add.
pub(super) const MAX_FRONTMATTER_BYTES: usize = 16 * 1024;
/// Limits the cost of searching a malicious file for duplicate keys.
pub(super) const MAX_ENTRIES: usize = 256;
pub(super) const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    index: Index,
}

impl Document {
    /// Indexes `text`. Fails if the frontmatter is not structured correctly.
    ///
    /// Values are not decoded. A malformed value is reported when its key is read, or by
    /// [`Document::check`].
    pub fn parse(text: String) -> Result<Self, Broken> {
        let index = index::scan(&text)?;
        Ok(Self { text, index })
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Broken> {
        index::check_length(&bytes)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Fault::NotUtf8.on_line(index::line_after(valid))
        })?;
        Self::parse(text)
    }

    pub fn blank() -> Self {
        Self { text: "---\n---\n".to_owned(), index: Index::blank() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn into_string(self) -> String {
        self.text
    }

    pub fn body(&self) -> &str {
        &self.text[self.index.body..]
    }

    pub(super) fn without_body(mut self) -> Self {
        self.text.truncate(self.index.body);
        self.text.shrink_to_fit();
        self
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.index.entries.iter().map(|entry| entry.key(&self.text))
    }

    pub fn has(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Returns `key`'s 1-based line number in the file.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        self.find(key).map(|entry| entry.line)
    }

    /// Returns the scalar for `key` as text, even if YAML would read it as a number or boolean.
    ///
    /// Returns `None` if the key is missing or its value is null (empty, `~` or `null`).
    pub fn text(&self, key: &str) -> Result<Option<Cow<'_, str>>, Broken> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        match self.token(entry) {
            Some(token) => Ok(token.text),
            None => Ok(yaml::text(entry.raw(&self.text), entry.line, key)?.map(Cow::Owned)),
        }
    }

    /// Returns the list for `key`. A single scalar counts as a list with one item, and null as an
    /// empty list. Empty items are skipped.
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

    /// Returns the number for `key`, which may be quoted. NaN and infinity are errors.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Broken> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        let Some(text) = self.text(key)? else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            Ok(_) | Err(_) => Err(Fault::NotNumber { key: key.to_owned() }.on_line(entry.line)),
        }
    }

    /// Checks that every value in the document can be read, including those of unknown keys.
    ///
    /// Also applies the size limits of [`Document::parse`], which the setters do not check.
    pub fn check(&self) -> Result<(), Broken> {
        index::scan(&self.text)?;
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

    fn find(&self, key: &str) -> Option<&KeyEntry> {
        self.index.entries.iter().find(|entry| entry.key(&self.text) == key)
    }

    fn is_simple(&self, entry: &KeyEntry) -> bool {
        self.token(entry).is_some()
            || (entry.tail != Tail::Content && list::flow(entry.head(&self.text)).is_some())
    }

    fn token(&self, entry: &KeyEntry) -> Option<scalar::Token<'_>> {
        match entry.tail {
            Tail::None | Tail::Comments => scalar::in_block(entry.head(&self.text)),
            Tail::Content => None,
        }
    }
}
