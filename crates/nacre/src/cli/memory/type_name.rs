//! What a memory is, on the command line.

use clap::ValueEnum;
use nacre_api::wire::{LearningKind, MemoryType};

/// A memory type on the command line. The kinds of learnings are types to a person: lists show them in the same column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TypeName {
    Decision,
    Learning,
    Summary,
    Insight,
    Procedure,
    Pitfall,
    Friction,
    Preference,
    Convention,
    Context,
}

impl TypeName {
    pub(super) fn memory_type(self) -> MemoryType {
        match self {
            Self::Decision => MemoryType::Decision,
            Self::Summary => MemoryType::Summary,
            Self::Learning
            | Self::Insight
            | Self::Procedure
            | Self::Pitfall
            | Self::Friction
            | Self::Preference
            | Self::Convention
            | Self::Context => MemoryType::Learning,
        }
    }

    pub(super) fn kind(self) -> Option<LearningKind> {
        match self {
            Self::Decision | Self::Learning | Self::Summary => None,
            Self::Insight => Some(LearningKind::Insight),
            Self::Procedure => Some(LearningKind::Procedure),
            Self::Pitfall => Some(LearningKind::Pitfall),
            Self::Friction => Some(LearningKind::Friction),
            Self::Preference => Some(LearningKind::Preference),
            Self::Convention => Some(LearningKind::Convention),
            Self::Context => Some(LearningKind::Context),
        }
    }

    /// The words of a search, with a kind as the filter that it is.
    pub(super) fn with_kind(name: Option<Self>, words: String) -> String {
        match name.and_then(Self::kind) {
            Some(kind) => format!("{words} kind:{}", kind.as_str()),
            None => words,
        }
    }
}
