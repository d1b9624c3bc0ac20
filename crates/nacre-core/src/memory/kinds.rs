//! The registry of memory types: one table for folders, prompts, schemas, help and docs.

use std::fmt;
use std::str::FromStr;

/// The types of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryType {
    Decision,
    Learning,
    Summary,
}

/// What there is to know of one type.
#[derive(Debug)]
pub struct TypeSpec {
    pub memory_type: MemoryType,
    pub name: &'static str,
    /// The folder below `memory/`.
    pub folder: &'static str,
    pub definition: &'static str,
    pub example: &'static str,
}

/// Every type, in the order they are shown.
pub const TYPES: &[TypeSpec] = &[
    TypeSpec {
        memory_type: MemoryType::Decision,
        name: "decision",
        folder: "decisions",
        definition: "A choice that was made, with its reason, that later work should follow",
        example: "Store sessions in SQLite, not in Redis: one file to back up, and no server to run",
    },
    TypeSpec {
        memory_type: MemoryType::Learning,
        name: "learning",
        folder: "learnings",
        definition: "Something found out that the code does not say and that saves time next time",
        example: "The integration tests need TZ=UTC; without it the report test fails after 23:00",
    },
    TypeSpec {
        memory_type: MemoryType::Summary,
        name: "summary",
        folder: "summaries",
        definition: "What one agent session set out to do, what happened and how it ended",
        example: "Moved the queue to SQLite; two tests still flaky; next: retry policy",
    },
];

/// The kinds of learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LearningKind {
    Insight,
    Procedure,
    Pitfall,
    Friction,
    Preference,
    Convention,
    Context,
}

/// What there is to know of one kind of learning.
#[derive(Debug)]
pub struct KindSpec {
    pub kind: LearningKind,
    pub name: &'static str,
    pub definition: &'static str,
}

/// Every kind of learning, in the order they are shown.
pub const LEARNING_KINDS: &[KindSpec] = &[
    KindSpec {
        kind: LearningKind::Insight,
        name: "insight",
        definition: "Why something is as it is",
    },
    KindSpec {
        kind: LearningKind::Procedure,
        name: "procedure",
        definition: "How something is done here: commands, order, checks",
    },
    KindSpec {
        kind: LearningKind::Pitfall,
        name: "pitfall",
        definition: "What went wrong once and would go wrong again",
    },
    KindSpec {
        kind: LearningKind::Friction,
        name: "friction",
        definition: "What costs time again and again",
    },
    KindSpec {
        kind: LearningKind::Preference,
        name: "preference",
        definition: "How the person wants things done",
    },
    KindSpec {
        kind: LearningKind::Convention,
        name: "convention",
        definition: "A rule that this project keeps",
    },
    KindSpec {
        kind: LearningKind::Context,
        name: "context",
        definition: "A fact about the project's world: people, systems, constraints",
    },
];

/// A type of memory that states something: all but summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Decision,
    Learning(LearningKind),
}

impl Claim {
    /// The memory type it is stored as.
    pub fn memory_type(self) -> MemoryType {
        match self {
            Self::Decision => MemoryType::Decision,
            Self::Learning(_) => MemoryType::Learning,
        }
    }
}

/// How a claim comes to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// The person said it.
    Stated,
    /// The person agreed to it when it was put to them, or chose it.
    Accepted,
    /// It was found out by what failed and what worked.
    Found,
    /// It was proposed or planned, and nobody agreed yet.
    Planned,
    /// It is a conclusion.
    Inferred,
}

impl Basis {
    pub const ALL: [Self; 5] =
        [Self::Stated, Self::Accepted, Self::Found, Self::Planned, Self::Inferred];

    /// Its name in frontmatter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Accepted => "accepted",
            Self::Found => "found",
            Self::Planned => "planned",
            Self::Inferred => "inferred",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.as_str() == name)
    }
}

/// Where a memory is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Holds.
    Active,
    /// Proposed; not yet relied on.
    Candidate,
    /// A newer memory says otherwise.
    Superseded,
    /// What it speaks of is gone or old.
    Stale,
    /// Put away; restorable.
    Archived,
}

/// Every status with its name in frontmatter.
const STATUSES: &[(Status, &str)] = &[
    (Status::Active, "active"),
    (Status::Candidate, "candidate"),
    (Status::Superseded, "superseded"),
    (Status::Stale, "stale"),
    (Status::Archived, "archived"),
];

impl MemoryType {
    /// Its row in [`TYPES`].
    pub fn spec(self) -> &'static TypeSpec {
        match self {
            Self::Decision => &TYPES[0],
            Self::Learning => &TYPES[1],
            Self::Summary => &TYPES[2],
        }
    }

    /// Its name in commands and output.
    pub fn as_str(self) -> &'static str {
        self.spec().name
    }
}

impl LearningKind {
    /// Its name in frontmatter.
    pub fn as_str(self) -> &'static str {
        LEARNING_KINDS.iter().find(|spec| spec.kind == self).map_or("insight", |spec| spec.name)
    }
}

impl Status {
    /// Its name in frontmatter.
    pub fn as_str(self) -> &'static str {
        STATUSES.iter().find(|(status, _)| *status == self).map_or("active", |(_, name)| name)
    }
}

/// A name that is in none of the tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is none of {}", crate::base::ShownLine(found), known.join(", "))]
pub struct UnknownName {
    pub found: String,
    pub known: Vec<&'static str>,
}

fn find<T: Copy>(
    text: &str,
    names: impl Iterator<Item = (T, &'static str)> + Clone,
) -> Result<T, UnknownName> {
    let found = names.clone().find(|(_, name)| *name == text).map(|(value, _)| value);
    let unknown = || UnknownName {
        found: text.chars().take(60).collect(),
        known: names.map(|(_, name)| name).collect(),
    };
    found.ok_or_else(unknown)
}

impl FromStr for MemoryType {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        find(text, TYPES.iter().map(|spec| (spec.memory_type, spec.name)))
    }
}

impl FromStr for LearningKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        find(text, LEARNING_KINDS.iter().map(|spec| (spec.kind, spec.name)))
    }
}

impl FromStr for Status {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        find(text, STATUSES.iter().copied())
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for spec in TYPES {
            assert_eq!(spec.name.parse::<MemoryType>().unwrap(), spec.memory_type);
            assert_eq!(spec.memory_type.spec().name, spec.name);
        }
        for spec in LEARNING_KINDS {
            assert_eq!(spec.name.parse::<LearningKind>().unwrap(), spec.kind);
            assert_eq!(spec.kind.as_str(), spec.name);
        }
        for (status, name) in STATUSES {
            assert_eq!(name.parse::<Status>().unwrap(), *status);
            assert_eq!(status.as_str(), *name);
        }
        let error = "note".parse::<MemoryType>().unwrap_err();
        assert_eq!(error.to_string(), "`note` is none of decision, learning, summary");
    }
}
