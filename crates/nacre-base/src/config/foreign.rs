//! Adds and removes tables in other programs' TOML files without changing the rest of the file.

use std::path::Path;

use super::document::{self, Doc};
use super::error::Result;

/// Appends a table that consists of `lines` and returns the new text. Fails if the table already
/// exists or conflicts with another one.
pub fn append_table(text: &str, origin: &Path, lines: &[String]) -> Result<String> {
    Doc::parse(strip_byte_order_mark(text), origin)?;
    let new_text = document::append_table(text, lines);
    // Parse again to detect duplicate and conflicting tables.
    Doc::parse(strip_byte_order_mark(&new_text), origin)?;
    Ok(new_text)
}

pub fn remove_table(text: &str, origin: &Path, path: &[&str]) -> Result<Option<String>> {
    let body = strip_byte_order_mark(text);
    let Some(removed) = document::remove(&Doc::parse(body, origin)?, path) else { return Ok(None) };
    Doc::parse(&removed, origin)?;
    Ok(Some([&text[..text.len() - body.len()], &removed].concat()))
}

pub fn check(text: &str, origin: &Path) -> Result<()> {
    Doc::parse(strip_byte_order_mark(text), origin).map(|_| ())
}

fn strip_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
