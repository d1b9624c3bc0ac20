//! One change of an artifact: rows that are new, and what that means for whoever asks what changed.
//!
//! Rows and changes go to the disk as one record, so that the table and the history never disagree.

use xxhash_rust::xxh3::Xxh3;

use super::codec::{Decoder, Encoder};
use super::model::{FileHash, Revision, State};
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
    /// What the files held, by everything that ever changed in them.
    pub identity: u64,
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
    /// How many lines it had before, and has now.
    pub lines: (u32, u32),
}

impl Commit {
    /// Whether this is a change of what `head` is of. What an earlier life of the artifact left behind is not.
    pub(super) fn follows(&self, head: &Head) -> bool {
        let (before, after) = (head.revision, self.head.revision);
        let identity = match self.changes.is_empty() {
            true => head.identity,
            false => identity_after(head.identity, self.changes.iter().map(Change::parts)),
        };
        let number = before.number + u64::from(!self.changes.is_empty());
        after == Revision { number, ..before }
            && self.head.created_ns == head.created_ns
            && self.head.identity == identity
    }

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
    pub fn state(&self) -> State {
        State { revision: self.revision, identity: self.identity }
    }

    pub(super) fn encode(&self, to: &mut Encoder) {
        self.revision.encode(to);
        to.word(self.identity);
        to.time(self.created_ns);
        to.time(self.verified_ns);
        to.word(self.rules);
        to.word(self.git);
    }

    pub(super) fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            revision: Revision::decode(from)?,
            identity: from.word()?,
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
    /// The path, and what it held before and after.
    pub fn parts(&self) -> (&str, Option<FileHash>, Option<FileHash>) {
        (&self.path, self.before, self.after)
    }

    fn encode(&self, to: &mut Encoder) {
        to.text(&self.path);
        to.option(self.before.map(|hash| hash.0));
        to.option(self.after.map(|hash| hash.0));
        to.number(u64::from(self.lines.0));
        to.number(u64::from(self.lines.1));
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            path: from.text()?.to_owned(),
            before: from.option()?.map(FileHash),
            after: from.option()?.map(FileHash),
            lines: (from.small()?, from.small()?),
        })
    }
}

/// What the files of a new artifact are known by: when it was made, and what they held.
pub fn first_identity(created_ns: i64, hashes: impl Iterator<Item = FileHash>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&created_ns.to_le_bytes());
    hashes.for_each(|hash| hasher.update(&hash.0.to_le_bytes()));
    hasher.digest()
}

/// What files are known by after each of `changes`, a path with what it held before and after, happened to those that were
/// known by `before`.
///
/// A number alone does not tell: when the last record of a log is lost, another change gets the same one.
pub fn identity_after<'c>(
    before: u64,
    changes: impl IntoIterator<Item = (&'c str, Option<FileHash>, Option<FileHash>)>,
) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&before.to_le_bytes());
    for (path, before, after) in changes {
        hasher.update(&(path.len() as u64).to_le_bytes());
        hasher.update(path.as_bytes());
        for hash in [before, after] {
            hasher.update(&[u8::from(hash.is_some())]);
            hasher.update(&hash.map_or(0, |hash| hash.0).to_le_bytes());
        }
    }
    hasher.digest()
}

/// What files are known by at `number`, from what they were known by before all `changes`.
pub(super) fn identity_at(before: u64, changes: &[(u64, Change)], number: u64) -> u64 {
    let revisions = changes.chunk_by(|(one, _), (other, _)| one == other);
    let until = revisions.take_while(|changes| changes.iter().all(|(at, _)| *at <= number));
    until.fold(before, |before, changes| {
        identity_after(before, changes.iter().map(|(_, change)| change.parts()))
    })
}

/// All that was ever changed, as far as it is kept, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The changes since this number are kept.
    pub since: u64,
    /// What the files were known by at that number.
    pub identity: u64,
    /// The number that each change led to, and the change.
    pub changes: Vec<(u64, Change)>,
}

/// More changes than these are not kept; a client that is further behind is told so.
const MAX_KEPT: usize = 200_000;

impl History {
    /// Of nothing that came before.
    pub(super) fn since(head: &Head) -> Self {
        let Head { revision, identity, .. } = *head;
        Self { since: revision.number, identity, changes: Vec::new() }
    }

    /// Forgets the oldest revisions, whole, until few enough changes are left.
    pub(super) fn trim(&mut self) {
        let Some(n_over) = self.changes.len().checked_sub(MAX_KEPT).filter(|n| *n > 0) else {
            return;
        };
        let last_cut = self.changes[n_over - 1].0;
        self.identity = identity_at(self.identity, &self.changes, last_cut);
        self.since = last_cut;
        self.changes.retain(|(number, _)| last_cut < *number);
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.since);
        to.word(self.identity);
        to.list(&self.changes, |to, (number, change)| {
            to.number(*number);
            change.encode(to);
        });
        to.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder::new(bytes);
        let (since, identity) = (from.number()?, from.word()?);
        let changes = from.list(|from| Some((from.number()?, Change::decode(from)?)))?;
        from.is_empty().then_some(Self { since, identity, changes })
    }
}
