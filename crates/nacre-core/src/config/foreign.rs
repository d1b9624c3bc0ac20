//! Tables of a TOML text that belongs to another program: added at its end, taken out, and nothing else touched.

use std::path::Path;

use super::document::Doc;
use super::error::ConfigError;
use super::splice;

/// Returns the text with a table of these lines at its end.
pub fn append_table(text: &str, origin: &Path, lines: &[String]) -> Result<String, ConfigError> {
    Doc::parse(unmarked(text), origin)?;
    let new_text = splice::append_table(text, lines);
    // A table that is there already, or cannot be one, shows here.
    Doc::parse(unmarked(&new_text), origin)?;
    Ok(new_text)
}

/// Returns the text without a table and the tables below it; `None` where it is not there.
pub fn remove_table(
    text: &str,
    origin: &Path,
    path: &[&str],
) -> Result<Option<String>, ConfigError> {
    let body = unmarked(text);
    let Some(removed) = splice::remove(&Doc::parse(body, origin)?, path) else { return Ok(None) };
    Doc::parse(&removed, origin)?;
    Ok(Some([&text[..text.len() - body.len()], &removed].concat()))
}

/// Whether a text can be read.
pub fn check(text: &str, origin: &Path) -> Result<(), ConfigError> {
    Doc::parse(unmarked(text), origin).map(|_| ())
}

/// The text without the mark that some editors begin a file with.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
