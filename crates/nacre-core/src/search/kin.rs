//! Memories that belong together: by their own links, a session, a tag, a file or a symbol.
//!
//! Kinship is not stored anywhere. Links stand in the files; what two memories share stands in the index
//! as the very terms that filters use, so there is no second graph that could disagree.

use super::record::{Link, LinkKind};
use super::segment::Counts;
use super::snapshot::Snapshot;
use super::words;

/// How two memories belong together, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KinKind {
    Supersedes,
    SupersededBy,
    Contradicts,
    /// Says nearly the same, later.
    Newer,
    Related,
    SameSession,
    SameFile,
    SameSymbol,
    SharedTag,
}

impl KinKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::SupersededBy => "superseded by",
            Self::Contradicts => "contradicts",
            Self::Newer => "newer than",
            Self::Related => "related",
            Self::SameSession => "same session",
            Self::SameFile => "same file",
            Self::SameSymbol => "same symbol",
            Self::SharedTag => "shared tag",
        }
    }

    pub(super) fn of_link(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Related => Self::Related,
            LinkKind::Supersedes => Self::Supersedes,
            LinkKind::SupersededBy => Self::SupersededBy,
            LinkKind::Contradicts => Self::Contradicts,
        }
    }

    /// The same edge, seen from the other end.
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Supersedes => Self::SupersededBy,
            Self::SupersededBy => Self::Supersedes,
            Self::Contradicts
            | Self::Newer
            | Self::Related
            | Self::SameSession
            | Self::SameFile
            | Self::SameSymbol
            | Self::SharedTag => self,
        }
    }
}

/// A memory that belongs to another, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kin {
    pub kind: KinKind,
    pub id: String,
    /// The tag, file or symbol that both have.
    pub shared: Option<String>,
}

/// The row of a memory.
pub(super) fn row_of(snapshot: &Snapshot, id: &str) -> Option<usize> {
    snapshot.postings(&words::facet("id", id)).map(|(row, _): (usize, Counts)| row).next()
}

/// What a row's own links name.
pub(super) fn linked(snapshot: &Snapshot, row: usize) -> Vec<Kin> {
    let kin = |link: Link| Kin { kind: KinKind::of_link(link.kind), id: link.to, shared: None };
    snapshot.links(row).into_iter().map(kin).collect()
}
