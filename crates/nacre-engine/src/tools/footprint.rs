//! What a call will touch, declared from its arguments before it runs.
//!
//! Permission, cache keys, parallel execution, undo and approval all follow from this one declaration, so that no
//! layer keeps its own idea of which argument of which tool is a path.

use nacre_core::safefs::RelPath;

/// Everything that a call reads, changes, starts and reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub reads: Vec<Area>,
    pub writes: Vec<Area>,
    pub exec: Exec,
    pub network: Network,
    pub memory: MemoryUse,
}

/// A part of the workspace. Paths are relative to its root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// One file, which may not exist.
    File(RelPath),
    /// Everything below a folder; `None` is the whole workspace.
    Tree(Option<RelPath>),
}

/// Whether a call starts programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exec {
    #[default]
    Nothing,
    /// A fixed program of ours with bounded arguments, such as `git status`.
    Helper,
    /// Whatever the arguments say.
    Anything,
}

/// Whether a call reaches out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    Nothing,
    Host(String),
    /// A program that may connect anywhere.
    Anything,
}

/// Whether a call works with memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryUse {
    #[default]
    Nothing,
    Reads,
    Changes,
}

impl Footprint {
    /// A call that looks at these areas and changes nothing.
    pub fn reading(areas: impl IntoIterator<Item = Area>) -> Self {
        Self { reads: areas.into_iter().collect(), ..Self::default() }
    }

    /// A call that reads and changes these areas.
    pub fn changing(areas: impl IntoIterator<Item = Area>) -> Self {
        let writes: Vec<Area> = areas.into_iter().collect();
        Self { reads: writes.clone(), writes, ..Self::default() }
    }

    /// Whether nothing outside the conversation is different after the call.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.exec != Exec::Anything && self.memory != MemoryUse::Changes
    }

    /// Whether the two calls may not run at the same time.
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
    /// Whether the two have a file in common, or could have.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// Whether everything of `other` lies in this area.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tree(None), _) => true,
            (_, Self::Tree(None)) => false,
            (Self::File(file), Self::File(path)) => file == path,
            (Self::File(_), Self::Tree(Some(_))) => false,
            (Self::Tree(Some(tree)), Self::File(path) | Self::Tree(Some(path))) => {
                is_at_or_below(path, tree)
            }
        }
    }
}

fn is_at_or_below(path: &RelPath, tree: &RelPath) -> bool {
    path.as_str()
        .strip_prefix(tree.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
