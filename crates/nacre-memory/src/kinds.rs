//! The table of memory types. Directory names, prompts, schemas, help and documentation are derived
//! from it.

pub use nacre_types::{Basis, LearningKind, MemoryStatus as Status, MemoryType};
use nacre_types::{BriefTopic, Names};
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct TypeSpec {
    pub memory_type: MemoryType,
    pub folder: &'static str,
    pub definition: &'static str,
    pub example: &'static str,
}

pub const TYPES: &[TypeSpec] = &[
    TypeSpec {
        memory_type: MemoryType::Decision,
        folder: "decisions",
        definition: "A choice that was made, with its reason, that later work should follow",
        example: "Store sessions in SQLite, not in Redis: one file to back up, and no server to run",
    },
    TypeSpec {
        memory_type: MemoryType::Learning,
        folder: "learnings",
        definition: "Something found out that the code does not say and that saves time next time",
        example: "The integration tests need TZ=UTC; without it the report test fails after 23:00",
    },
    TypeSpec {
        memory_type: MemoryType::Summary,
        folder: "summaries",
        definition: "What one agent session set out to do, what happened and how it ended",
        example: "Moved the queue to SQLite; two tests still flaky; next: retry policy",
    },
];

#[derive(Debug)]
pub struct KindSpec {
    pub kind: LearningKind,
    pub definition: &'static str,
    /// The section of a brief that lists learnings of this kind. Before a file is edited, hooks
    /// show only `Pitfalls` and decisions.
    pub topic: BriefTopic,
}

/// In the same order as [`LearningKind::ALL`].
pub const LEARNING_KINDS: &[KindSpec; LearningKind::ALL.len()] = &[
    KindSpec {
        kind: LearningKind::Insight,
        definition: "Why something is as it is",
        topic: BriefTopic::Knowledge,
    },
    KindSpec {
        kind: LearningKind::Procedure,
        definition: "How something is done here: commands, order, checks",
        topic: BriefTopic::Knowledge,
    },
    KindSpec {
        kind: LearningKind::Pitfall,
        definition: "What went wrong once and would go wrong again",
        topic: BriefTopic::Pitfalls,
    },
    KindSpec {
        kind: LearningKind::Friction,
        definition: "What costs time again and again",
        topic: BriefTopic::Pitfalls,
    },
    KindSpec {
        kind: LearningKind::Preference,
        definition: "How the person wants things done",
        topic: BriefTopic::Preferences,
    },
    KindSpec {
        kind: LearningKind::Convention,
        definition: "A rule that this project keeps",
        topic: BriefTopic::Preferences,
    },
    KindSpec {
        kind: LearningKind::Context,
        definition: "A fact about the project's world: people, systems, constraints",
        topic: BriefTopic::Knowledge,
    },
];

/// The memory types that make a claim, which are all types except summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "kind", rename_all = "snake_case")]
pub enum Claim {
    Decision,
    Learning(LearningKind),
}

impl Claim {
    pub fn memory_type(self) -> MemoryType {
        if self == Self::Decision { MemoryType::Decision } else { MemoryType::Learning }
    }
}

pub fn type_spec(memory_type: MemoryType) -> &'static TypeSpec {
    match memory_type {
        MemoryType::Decision => &TYPES[0],
        MemoryType::Learning => &TYPES[1],
        MemoryType::Summary => &TYPES[2],
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not one of {}", nacre_base::ShownLine(found), known.join(", "))]
pub struct UnknownName {
    pub found: String,
    pub known: Vec<&'static str>,
}

pub fn parse_name<T: Names>(text: &str) -> Result<T, UnknownName> {
    T::from_name(text).ok_or_else(|| UnknownName {
        found: text.chars().take(60).collect(),
        known: T::ALL.iter().map(|value| value.as_str()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_complete_and_names_read_back() {
        for memory_type in MemoryType::ALL {
            assert_eq!(type_spec(memory_type).memory_type, memory_type);
        }
        let kinds: Vec<LearningKind> = LEARNING_KINDS.iter().map(|spec| spec.kind).collect();
        assert_eq!(kinds, LearningKind::ALL);
        assert_eq!(parse_name::<Status>("stale").unwrap(), Status::Stale);
        let error = parse_name::<MemoryType>("note").unwrap_err();
        assert_eq!(error.to_string(), "`note` is not one of decision, learning, summary");
    }
}
