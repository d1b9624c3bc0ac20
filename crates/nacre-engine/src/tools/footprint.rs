//! The footprint that a call derives from its arguments, and an agent's permissions.
//!
//! Permission checks, caching, concurrency, undo and approval all depend on the footprint.

use std::time::Duration;

use nacre_base::fs::RelPath;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub reads: Vec<Area>,
    pub writes: Vec<Area>,
    pub exec: Exec,
    pub host: Option<String>,
    pub memory: MemoryUse,
}

/// A part of the workspace. Paths are relative to its root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    File(RelPath),
    /// Everything below a directory, or the whole workspace if `None`.
    Tree(Option<RelPath>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exec {
    #[default]
    Nothing,
    /// A fixed program with bounded arguments, such as `git status`.
    Helper,
    /// Any program named in the arguments.
    Anything,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryUse {
    #[default]
    Nothing,
    Reads,
    Changes,
}

impl Footprint {
    pub fn reading(areas: impl IntoIterator<Item = Area>) -> Self {
        Self { reads: areas.into_iter().collect(), ..Self::default() }
    }

    pub fn changing(areas: impl IntoIterator<Item = Area>) -> Self {
        let writes: Vec<Area> = areas.into_iter().collect();
        Self { reads: writes.clone(), writes, ..Self::default() }
    }

    /// Returns whether the two calls must not run concurrently.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        if self.exec == Exec::Anything || other.exec == Exec::Anything {
            return true;
        }
        let both_remember = self.memory != MemoryUse::Nothing && other.memory != MemoryUse::Nothing;
        let one_changes = self.memory == MemoryUse::Changes || other.memory == MemoryUse::Changes;
        both_remember && one_changes
            || meet(&self.writes, &other.reads)
            || meet(&self.writes, &other.writes)
            || meet(&self.reads, &other.writes)
    }
}

fn meet(left: &[Area], right: &[Area]) -> bool {
    left.iter().any(|area| right.iter().any(|other| area.overlaps(other)))
}

impl Area {
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tree(None), _) => true,
            (_, Self::Tree(None)) => false,
            (Self::File(file), Self::File(path)) => file == path,
            (Self::File(_), Self::Tree(Some(_))) => false,
            (Self::Tree(Some(tree)), Self::File(path) | Self::Tree(Some(path))) => {
                let rest = path.as_str().strip_prefix(tree.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

/// What an agent may access. The default allows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub reads: Vec<Area>,
    pub writes: Vec<Area>,
    /// Globs for workspace-relative paths that can be neither read nor written, even inside allowed
    /// areas.
    pub denied: Vec<String>,
    /// Programs that the agent may start. Without a sandbox, it may not start any.
    pub exec: Exec,
    /// Whether tools may connect to public hosts. Private addresses are always blocked.
    pub network: bool,
    pub memory: MemoryUse,
}

impl Permissions {
    /// Allows reading the whole workspace and running helpers in it, but no changes.
    pub fn read_only() -> Self {
        Self { reads: vec![Area::Tree(None)], exec: Exec::Helper, ..Self::default() }
    }

    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.exec != Exec::Anything && self.memory != MemoryUse::Changes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Maximum number of model calls, including those that only repeat refused tool calls.
    pub steps: u32,
    pub tool_calls: u32,
    pub wall: Duration,
    /// Maximum estimated input tokens per model call, unless the settings configure a limit for the
    /// model.
    pub context_tokens: usize,
    pub answer_tokens: u32,
    /// Maximum tokens across all model calls. If `None`, only `steps` limits the run.
    pub total_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Area {
        Area::File(RelPath::new(path).expect("a plain path"))
    }

    fn tree(path: &str) -> Area {
        Area::Tree(Some(RelPath::new(path).expect("a plain path")))
    }

    #[test]
    fn areas_overlap_by_whole_components() {
        for (left, right, expected) in [
            (file("a/b"), file("a/b"), true),
            (file("a/b"), file("a/c"), false),
            (tree("a"), file("a/b"), true),
            (tree("a"), file("ab"), false),
            (tree("a/b"), tree("a"), true),
            (tree("a"), tree("b"), false),
            (Area::Tree(None), file("x"), true),
        ] {
            assert_eq!(left.overlaps(&right), expected, "{left:?} {right:?}");
            assert_eq!(right.overlaps(&left), expected, "{right:?} {left:?}");
        }
    }

    #[test]
    fn readers_run_together_and_writers_alone_on_what_they_change() {
        let read = Footprint::reading([tree("src")]);
        let edit = Footprint::changing([file("src/main.rs")]);
        let elsewhere = Footprint::changing([file("docs/guide.md")]);
        let shell = Footprint { exec: Exec::Anything, ..Footprint::default() };
        let recall = Footprint { memory: MemoryUse::Reads, ..Footprint::default() };
        let remember = Footprint { memory: MemoryUse::Changes, ..Footprint::default() };
        for (left, right, expected) in [
            (&read, &read, false),
            (&read, &edit, true),
            (&read, &elsewhere, false),
            (&edit, &elsewhere, false),
            (&edit, &edit, true),
            (&shell, &read, true),
            (&recall, &recall, false),
            (&recall, &remember, true),
        ] {
            assert_eq!(left.conflicts_with(right), expected, "{left:?} {right:?}");
            assert_eq!(right.conflicts_with(left), expected, "{right:?} {left:?}");
        }
    }
}

#[cfg(test)]
mod policy_tests {
    use super::*;

    #[test]
    fn the_default_permission_is_none() {
        let none = Permissions::default();
        assert!(none.reads.is_empty() && none.is_read_only());
        assert_eq!((none.exec, none.network), (Exec::Nothing, false));
    }

    #[test]
    fn who_may_change_anything_is_not_read_only() {
        let read_only = Permissions::read_only();
        assert!(read_only.is_read_only());
        let writes = vec![Area::Tree(None)];
        for other in [
            Permissions { writes, ..read_only.clone() },
            Permissions { exec: Exec::Anything, ..read_only.clone() },
            Permissions { memory: MemoryUse::Changes, ..read_only.clone() },
        ] {
            assert!(!other.is_read_only(), "{other:?}");
        }
    }
}
