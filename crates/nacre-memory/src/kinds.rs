//! The table of memory types. Directory names, prompts, schemas, help and documentation are derived
//! from this table.

use nacre_types::BriefTopic;
pub use nacre_types::{Basis, LearningKind, MemoryStatus as Status, MemoryType};
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

/// One entry per kind, ordered like [`LearningKind::ALL`].
pub const LEARNING_KINDS: &[KindSpec; LearningKind::ALL.len()] = {
    use BriefTopic::{Knowledge, Pitfalls, Preferences};
    use LearningKind::{Context, Convention, Friction, Insight, Pitfall, Preference, Procedure};
    &[
        kind(Insight, Knowledge, "Why something is as it is"),
        kind(Procedure, Knowledge, "How something is done here: commands, order, checks"),
        kind(Pitfall, Pitfalls, "What went wrong once and would go wrong again"),
        kind(Friction, Pitfalls, "What costs time again and again"),
        kind(Preference, Preferences, "How the person wants things done"),
        kind(Convention, Preferences, "A rule that this project keeps"),
        kind(Context, Knowledge, "A fact about the project's world: people, systems, constraints"),
    ]
};

const fn kind(kind: LearningKind, topic: BriefTopic, definition: &'static str) -> KindSpec {
    KindSpec { kind, definition, topic }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_complete() {
        for memory_type in MemoryType::ALL {
            assert_eq!(type_spec(memory_type).memory_type, memory_type);
        }
        let kinds: Vec<LearningKind> = LEARNING_KINDS.iter().map(|spec| spec.kind).collect();
        assert_eq!(kinds, LearningKind::ALL);
    }
}
