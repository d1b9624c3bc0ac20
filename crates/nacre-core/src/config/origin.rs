//! Where the value of a key comes from.

use super::error::ConfigPlace;
use super::value::Value;

/// Where a value can come from; a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Defaults,
    Home,
    Repo,
    File,
    Var,
    Flag,
}

impl Layer {
    pub const ALL: &[Self] =
        &[Self::Defaults, Self::Home, Self::Repo, Self::File, Self::Var, Self::Flag];

    /// Returns the layer's name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "default",
            Self::Home => "home",
            Self::Repo => "repo",
            Self::File => "file",
            Self::Var => "variable",
            Self::Flag => "flag",
        }
    }
}

/// Where the value of a key came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub layer: Layer,
    pub place: ConfigPlace,
}

/// One key's value in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub value: Value,
    /// Lowest layer first; more than one only for a list, to which each of them added.
    pub origins: Vec<Origin>,
}
