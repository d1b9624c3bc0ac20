//! Configuration errors and warnings, each with a message and a hint.
//!
//! Untrusted values are shortened to one line, and values of `redact.extra` are never printed.

use std::fmt;
use std::path::PathBuf;

/// A version that changes how a store is written raises this number, so that earlier versions
/// refuse the store.
pub(super) const FORMAT_KEY: &str = "memory.format";

pub(super) const MAX_BYTES: usize = 1 << 20;
pub(super) const MAX_TABLES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigPlace {
    BuiltIn,
    File { path: PathBuf, line: usize },
    Var { name: String },
    CommandLine,
}

impl fmt::Display for ConfigPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => write!(f, "in the built-in defaults"),
            Self::File { path, line } => write!(f, "in `{}`, line {line}", path.display()),
            Self::Var { name } => write!(f, "in variable `{name}`"),
            Self::CommandLine => write!(f, "on the command line"),
        }
    }
}

pub(super) type Result<T, E = ConfigError> = std::result::Result<T, E>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("Cannot parse `{}` as TOML, line {line}: {message}", path.display())]
    Malformed { path: PathBuf, line: usize, message: String },
    #[error("Cannot use `{}`: it is {bytes} bytes, which exceeds the limit of {MAX_BYTES}",
     path.display())]
    TooLarge { path: PathBuf, bytes: usize },
    #[error("Cannot use `{}`: it has {tables} tables, but a configuration may have at most \
     {MAX_TABLES}", path.display())]
    TooManyTables { path: PathBuf, tables: usize },
    #[error("Unknown key `{key}` {place}")]
    UnknownKey { key: String, place: ConfigPlace, nearest: Option<String> },
    /// Also returned for the project register, which `nacre config` does not manage.
    #[error("Unknown key `{key}` {place}")]
    UnknownProjectKey { key: String, place: ConfigPlace, nearest: Option<String> },
    #[error(transparent)]
    BadValue(Box<BadValue>),
    /// A bug: the built-in defaults lack a key. A test checks that the defaults are complete.
    #[error("Cannot use the built-in defaults: {0}")]
    NoDefault(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid value for `{key}` {place}: expected {expected}, found {found}")]
pub struct BadValue {
    pub key: String,
    pub place: ConfigPlace,
    pub expected: String,
    pub found: String,
    pub nearest: Option<String>,
}

impl From<BadValue> for ConfigError {
    fn from(bad: BadValue) -> Self {
        Self::BadValue(Box::new(bad))
    }
}

impl ConfigError {
    fn details(&self) -> Option<(&ConfigPlace, Option<&str>)> {
        if let Self::BadValue(bad) = self {
            return Some((&bad.place, bad.nearest.as_deref()));
        }
        let (Self::UnknownKey { place, nearest, .. }
        | Self::UnknownProjectKey { place, nearest, .. }) = self
        else {
            return None;
        };
        Some((place, nearest.as_deref()))
    }

    pub fn is_in_command(&self) -> bool {
        self.details().is_some_and(|(place, _)| *place == ConfigPlace::CommandLine)
    }

    pub fn hint(&self) -> Option<String> {
        if matches!(self, Self::BadValue(bad) if bad.key == FORMAT_KEY) {
            return Some("A newer version of Nacre wrote this store; update Nacre".to_owned());
        }
        let (_, nearest) = self.details()?;
        let is_key = matches!(self, Self::UnknownKey { .. });
        let all = || is_key.then(|| "Run `nacre config` to see every key".to_owned());
        nearest.map(did_you_mean).or_else(all)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigWarning {
    #[error("Ignored `{key}` {place}: a repository may not set this key")]
    RefusedFromRepo { key: String, place: ConfigPlace },
    #[error(
        "Ignored `{key}` {place}: a repository may only lower this value, here to at most {limit}"
    )]
    RaisedByRepo { key: String, place: ConfigPlace, limit: String },
    #[error("Unknown variable `{name}`")]
    UnknownVariable { name: String, nearest: Option<String> },
}

impl ConfigWarning {
    /// Returns a hint on how to resolve the warning, or `None` if the message is clear enough.
    ///
    /// The hint never repeats the refused value, so that a repository cannot suggest a command for
    /// the user to paste.
    pub fn hint(&self) -> Option<String> {
        match self {
            // A key with a dot belongs to a family of tables, which has no single value to set.
            Self::RefusedFromRepo { key, .. } if !key.contains('.') => Some(
                "Set it in your own configuration file; run `nacre config --path` to find the file"
                    .to_owned(),
            ),
            Self::RefusedFromRepo { key, .. } | Self::RaisedByRepo { key, .. } => Some(format!(
                "To set it in your own configuration, run `nacre config set {key} VALUE`"
            )),
            Self::UnknownVariable { nearest, .. } => nearest.as_deref().map(did_you_mean),
        }
    }
}

pub(super) fn did_you_mean(nearest: &str) -> String {
    format!("Did you mean `{nearest}`?")
}

pub(super) mod nearest {
    /// Minimum similarity for a suggestion. Three matching letters out of four are enough, but
    /// three out of five are not, because a wrong suggestion is worse than none.
    const LIKE: f64 = 0.7;

    /// Longer names are unlikely to be typos and are slow to compare.
    const MAX_BYTES: usize = 80;

    /// Returns the similarity of two words from 0 to 1, ignoring case and treating `-` and `_` as
    /// equal.
    pub(in crate::config) fn likeness(word: &str, known: &str) -> f64 {
        if word.is_empty() || MAX_BYTES < word.len() {
            return 0.0;
        }
        strsim::normalized_damerau_levenshtein(&plain(word), &plain(known))
    }

    pub fn is_like(word: &str, known: &str) -> bool {
        LIKE <= likeness(word, known)
    }

    pub(in crate::config) fn among<'a>(
        word: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        known
            .filter(|known| is_like(word, known))
            .max_by(|a, b| likeness(word, a).total_cmp(&likeness(word, b)))
    }

    fn plain(word: &str) -> String {
        word.to_lowercase().replace('-', "_")
    }
}

pub(super) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shown = String::new();
    for (n_chars, c) in text.chars().enumerate() {
        if n_chars == MAX_CHARS {
            shown.push('…');
            break;
        }
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
pub(super) fn render_message(message: &dyn fmt::Display, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{message}\nHint: {hint}"),
        None => message.to_string(),
    }
}
