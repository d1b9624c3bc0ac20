//! What can be wrong with a configuration, as typed values with a message and a hint.
//!
//! Values that a stranger may have written are shortened and shown on one line; texts to redact are never shown.

use std::fmt;
use std::path::PathBuf;

/// What a configuration may hold; a larger one is a mistake or an attack.
pub(super) const MAX_BYTES: usize = 1 << 20;
pub(super) const MAX_TABLES: usize = 4096;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigPlace {
    /// The shipped defaults.
    BuiltIn,
    /// A line, counted from 1.
    File { path: PathBuf, line: usize },
    /// An environment variable.
    Var { name: String },
    /// A flag or an argument.
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

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("Cannot read `{}`, line {line}, as TOML: {message}", path.display())]
    Malformed { path: PathBuf, line: usize, message: String },
    #[error("Refusing `{}`: {bytes} bytes, and a configuration has at most {MAX_BYTES}", path.display())]
    TooLarge { path: PathBuf, bytes: usize },
    #[error("Refusing `{}`: {tables} tables, and a configuration has at most {MAX_TABLES}", path.display())]
    TooManyTables { path: PathBuf, tables: usize },
    #[error("Unknown key `{key}` {place}")]
    UnknownKey { key: String, place: ConfigPlace, nearest: Option<String> },
    /// Also in the register of projects, where `nacre config` is of no help.
    #[error("Unknown key `{key}` {place}")]
    UnknownProjectKey { key: String, place: ConfigPlace, nearest: Option<String> },
    #[error(transparent)]
    BadValue(Box<BadValue>),
    /// A defect of this program; a test holds the shipped defaults complete.
    #[error("No usable default for `{key}`")]
    NoDefault { key: &'static str },
}

/// A value that its key cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Bad value for `{key}` {place}: expected {expected}, found {found}")]
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
    /// Whether the mistake is in what was typed, not in a file or variable.
    pub fn is_in_command(&self) -> bool {
        match self {
            Self::UnknownKey { place, .. } | Self::UnknownProjectKey { place, .. } => {
                *place == ConfigPlace::CommandLine
            }
            Self::BadValue(bad) => bad.place == ConfigPlace::CommandLine,
            Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::TooManyTables { .. }
            | Self::NoDefault { .. } => false,
        }
    }

    /// Returns what to do about it, where there is something to say beyond the message.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: None, .. } => {
                Some("Run `nacre config show` to see every key".to_owned())
            }
            Self::UnknownKey { nearest: Some(nearest), .. }
            | Self::UnknownProjectKey { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::BadValue(bad) => bad.nearest.as_deref().map(did_you_mean),
            Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::TooManyTables { .. }
            | Self::UnknownProjectKey { nearest: None, .. }
            | Self::NoDefault { .. } => None,
        }
    }
}

/// What was ignored in a configuration that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigWarning {
    #[error("Ignored `{key}` {place}: a repository may not set it")]
    RefusedFromRepo { key: String, place: ConfigPlace },
    #[error("Ignored `{key}` {place}: a repository may only lower it, here to at most {limit}")]
    RaisedByRepo { key: String, place: ConfigPlace, limit: String },
    #[error("Unknown variable `{name}`")]
    UnknownVariable { name: String, nearest: Option<&'static str> },
}

impl ConfigWarning {
    /// Returns what to do about it, where there is something to say beyond the message.
    ///
    /// Never repeats the refused value: a repository must not be able to dictate a command to paste.
    pub fn hint(&self) -> Option<String> {
        match self {
            // A whole family of tables has no one value.
            Self::RefusedFromRepo { key, .. } if !key.contains('.') => {
                Some("Set it in your own config; `nacre config path` says where that is".to_owned())
            }
            Self::RefusedFromRepo { key, .. } | Self::RaisedByRepo { key, .. } => {
                Some(format!("To set it in your own config, run `nacre config set {key} VALUE`"))
            }
            Self::UnknownVariable { nearest, .. } => nearest.map(did_you_mean),
        }
    }
}

pub(super) fn did_you_mean(nearest: &str) -> String {
    format!("Did you mean `{nearest}`?")
}

/// Returns a text as it can stand inside a one-line message.
pub(super) fn shown(text: &str) -> String {
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

/// Returns message and hint as a person sees them.
#[cfg(test)]
pub(super) fn told(message: &dyn fmt::Display, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{message}\nHint: {hint}"),
        None => message.to_string(),
    }
}
