//! What is kept of each file and folder, besides its path.

use serde::Serialize;

use super::codec::{Decoder, Encoder};
use super::model::{FileHash, Stamp};

/// Bytes of a row in the table of files: two for the path's place, the stamp, the hash, lines and marks.
pub(super) const ROW_BYTES: usize = 56;

/// What is kept of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileRow {
    pub stamp: Stamp,
    pub hash: FileHash,
    pub lines: u32,
    pub marks: Marks,
}

/// What is special about a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// It changed so shortly before it was read that another change may have left no trace: read again next time.
    pub is_doubtful: bool,
    /// Its bytes were not read, because there are too many or they may not be; its hash is of its stamp.
    pub is_unread: bool,
}

impl Marks {
    fn bits(self) -> u32 {
        u32::from(self.is_doubtful) | u32::from(self.is_unread) << 1
    }

    fn of(bits: u32) -> Self {
        Self { is_doubtful: bits & 1 != 0, is_unread: bits & 2 != 0 }
    }
}

impl FileRow {
    /// The row of the table for a path at `start` of the texts.
    pub(super) fn to_table(self, start: u32, len: u32, table: &mut Vec<u8>) {
        table.extend(start.to_le_bytes());
        table.extend(len.to_le_bytes());
        table.extend(self.stamp.size.to_le_bytes());
        table.extend(self.stamp.mtime_ns.to_le_bytes());
        table.extend(self.stamp.ctime_ns.to_le_bytes());
        table.extend(self.stamp.inode.to_le_bytes());
        table.extend(self.hash.0.to_le_bytes());
        table.extend(self.lines.to_le_bytes());
        table.extend(self.marks.bits().to_le_bytes());
    }

    /// Reads a row of the table: where the path stands, and the rest.
    pub(super) fn of_table(row: &[u8; ROW_BYTES]) -> ((usize, usize), Self) {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&row[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let (first, last) = (word(0), word(48));
        let place = ((first & 0xffff_ffff) as usize, (first >> 32) as usize);
        let stamp = Stamp {
            size: word(8),
            mtime_ns: word(16).cast_signed(),
            ctime_ns: word(24).cast_signed(),
            inode: word(32),
        };
        let row = Self {
            stamp,
            hash: FileHash(word(40)),
            lines: (last & 0xffff_ffff) as u32,
            marks: Marks::of((last >> 32) as u32),
        };
        (place, row)
    }

    pub(super) fn encode(&self, to: &mut Encoder) {
        encode_stamp(&self.stamp, to);
        to.word(self.hash.0);
        to.number(u64::from(self.lines));
        to.number(u64::from(self.marks.bits()));
    }

    pub(super) fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            stamp: decode_stamp(from)?,
            hash: FileHash(from.word()?),
            lines: from.small()?,
            marks: Marks::of(from.small()?),
        })
    }
}

/// What is kept of a folder. One that is not there has an empty stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderRow {
    pub stamp: Stamp,
    /// As [`Marks::is_doubtful`].
    pub is_doubtful: bool,
    /// Whether its names were listed; otherwise it only leads to files that are tracked although a rule leaves them out.
    pub is_listed: bool,
    pub skipped: Skipped,
}

/// What a folder holds that is no part of the map, counted by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Where keys and passwords usually lie.
    pub denied: u32,
    pub links: u32,
    /// Pipes, sockets and devices.
    pub special: u32,
    /// Folders that could not be opened.
    pub unreadable: u32,
    /// Names that are no text.
    pub unnamable: u32,
    /// Repositories that are not submodules of this one.
    pub nested: u32,
    /// Folders that lie too deep, and tracked files that do or are too many.
    pub too_deep: u32,
    /// Folders whose `.gitignore` is beyond what is read: only their tracked files are in the map.
    pub unread_rules: u32,
}

impl Skipped {
    pub fn add(&mut self, other: Self) {
        self.denied += other.denied;
        self.links += other.links;
        self.special += other.special;
        self.unreadable += other.unreadable;
        self.unnamable += other.unnamable;
        self.nested += other.nested;
        self.too_deep += other.too_deep;
        self.unread_rules += other.unread_rules;
    }

    fn counts(self) -> [u32; 8] {
        let Self { denied, links, special, unreadable, unnamable, nested, too_deep, unread_rules } =
            self;
        [denied, links, special, unreadable, unnamable, nested, too_deep, unread_rules]
    }

    pub fn total(self) -> u32 {
        self.counts().iter().sum()
    }
}

impl FolderRow {
    pub(super) fn encode(&self, to: &mut Encoder) {
        encode_stamp(&self.stamp, to);
        to.byte(u8::from(self.is_doubtful) | u8::from(self.is_listed) << 1);
        for count in self.skipped.counts() {
            to.number(u64::from(count));
        }
    }

    pub(super) fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        let stamp = decode_stamp(from)?;
        let bits = from.byte()?;
        Some(Self {
            stamp,
            is_doubtful: bits & 1 != 0,
            is_listed: bits & 2 != 0,
            skipped: Skipped {
                denied: from.small()?,
                links: from.small()?,
                special: from.small()?,
                unreadable: from.small()?,
                unnamable: from.small()?,
                nested: from.small()?,
                too_deep: from.small()?,
                unread_rules: from.small()?,
            },
        })
    }
}

fn encode_stamp(stamp: &Stamp, to: &mut Encoder) {
    to.number(stamp.size);
    to.time(stamp.mtime_ns);
    to.time(stamp.ctime_ns);
    to.number(stamp.inode);
}

fn decode_stamp(from: &mut Decoder<'_>) -> Option<Stamp> {
    Some(Stamp {
        size: from.number()?,
        mtime_ns: from.time()?,
        ctime_ns: from.time()?,
        inode: from.number()?,
    })
}
