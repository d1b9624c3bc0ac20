//! Files that are never lost: the only room that writes to disk.
//!
//! A [`WriteScope`] is an open directory handle. Every path below it is walked one component at a
//! time with symbolic links refused, so nothing a repository or a model names can lead outside, not
//! even by swapping a folder for a link between a check and a use. Changes are made by a [`Writer`],
//! which exists only while the scope's lock is held, and in a [`ChangeSet`]: staged, journaled, then
//! swapped into place, so that after a kill at any point all of it is there or none, and a file that
//! a person changed meanwhile is never overwritten. A journal that a repository brings along is not followed ([`Seal`]). The files of a person's own workspace are changed one at a time and
//! without a journal (`plain`).
//!
//! Knows nothing of memories or settings: it is handed paths, bytes and hashes.

mod apply;
mod change;
mod derived;
mod error;
mod growing;
mod journal;
mod lock;
mod mapped;
mod owner;
mod parse;
mod path;
mod plain;
mod proof;
mod reserved;
mod scope;
mod scratch;
mod seal;
mod sys;
#[cfg(test)]
mod tests;
mod writer;

pub use change::ChangeSet;
pub use error::{FsAction, FsError};
pub use mapped::Mapped;
pub use owner::Owner;
pub use path::{PathFault, RelPath};
pub use scope::{Access, Entry, EntryKind, FileStamp, Folder, OpenFile, WriteScope};
pub use scratch::ScratchFolder;
pub use seal::Seal;
pub use writer::{Recovery, Writer};
