//! One change of an artifact: rows that are new, and what that means for whoever asks what changed.
//!
//! Rows and changes go to the disk as one record, so that the table and the history never disagree.

use super::codec::{Decoder, Encoder};
use super::model::{FileHash, Revision};
use super::row::{FileRow, FolderRow};

/// What changes from one state of an artifact to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub head: Head,
    /// New rows, and paths that have none any more.
    pub files: Vec<(String, Option<FileRow>)>,
    pub folders: Vec<(String, Option<FolderRow>)>,
    /// What changed in the contents; a touched file has a new row and no change.
    pub changes: Vec<Change>,
}

/// What is known of the project as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub revision: Revision,
    /// When the artifact was first made.
    pub created_ns: i64,
    /// When every byte was last read.
    pub verified_ns: i64,
    /// What else decides which files belong: the rules of this program, and what the repository tracks.
    pub rules: u64,
    /// What the index of git, and its private rules, were when they were last read.
    pub git: u64,
}

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    /// `None` when there was no such file.
    pub before: Option<FileHash>,
    pub after: Option<FileHash>,
}

impl Commit {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        self.head.encode(&mut to);
        to.list(&self.files, |to, (path, row)| {
            to.text(path);
            to.byte(u8::from(row.is_some()));
            if let Some(row) = row {
                row.encode(to);
            }
        });
        to.list(&self.folders, |to, (path, row)| {
            to.text(path);
            to.byte(u8::from(row.is_some()));
            if let Some(row) = row {
                row.encode(to);
            }
        });
        to.list(&self.changes, |to, change| change.encode(to));
        to.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder::new(bytes);
        let commit = Self {
            head: Head::decode(&mut from)?,
            files: from.list(|from| {
                let path = from.text()?.to_owned();
                Some((path, if from.byte()? == 0 { None } else { Some(FileRow::decode(from)?) }))
            })?,
            folders: from.list(|from| {
                let path = from.text()?.to_owned();
                Some((path, if from.byte()? == 0 { None } else { Some(FolderRow::decode(from)?) }))
            })?,
            changes: from.list(Change::decode)?,
        };
        from.is_empty().then_some(commit)
    }
}

impl Head {
    pub(super) fn encode(&self, to: &mut Encoder) {
        self.revision.encode(to);
        to.time(self.created_ns);
        to.time(self.verified_ns);
        to.word(self.rules);
        to.word(self.git);
    }

    pub(super) fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            revision: Revision::decode(from)?,
            created_ns: from.time()?,
            verified_ns: from.time()?,
            rules: from.word()?,
            git: from.word()?,
        })
    }
}

impl Revision {
    fn encode(self, to: &mut Encoder) {
        to.number(u64::from(self.epoch));
        to.number(self.number);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self { epoch: from.small()?, number: from.number()? })
    }
}

impl Change {
    fn encode(&self, to: &mut Encoder) {
        to.text(&self.path);
        to.option(self.before.map(|hash| hash.0));
        to.option(self.after.map(|hash| hash.0));
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            path: from.text()?.to_owned(),
            before: from.option()?.map(FileHash),
            after: from.option()?.map(FileHash),
        })
    }
}

/// All that was ever changed, as far as it is kept, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The changes since this number are kept.
    pub since: u64,
    /// The number that each change led to, and the change.
    pub changes: Vec<(u64, Change)>,
}

/// More changes than these are not kept; a client that is further behind is told so.
const MAX_KEPT: usize = 200_000;

impl History {
    /// Forgets the oldest revisions, whole, until few enough changes are left.
    pub(super) fn trim(&mut self) {
        let Some(n_over) = self.changes.len().checked_sub(MAX_KEPT).filter(|n| *n > 0) else {
            return;
        };
        let last_cut = self.changes[n_over - 1].0;
        self.since = last_cut;
        self.changes.retain(|(number, _)| last_cut < *number);
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.since);
        to.list(&self.changes, |to, (number, change)| {
            to.number(*number);
            change.encode(to);
        });
        to.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder::new(bytes);
        let since = from.number()?;
        let changes = from.list(|from| Some((from.number()?, Change::decode(from)?)))?;
        from.is_empty().then_some(Self { since, changes })
    }
}
