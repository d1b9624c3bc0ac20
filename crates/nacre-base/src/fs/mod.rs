//! All file system access in Nacre: scoped, locked and crash-safe.
//!
//! A [`WriteScope`] is an open directory handle. Every path below it is walked one component at a
//! time without following symbolic links. A name supplied by a repository or a model therefore
//! cannot escape the directory, even if a component is replaced by a link between check and use.
//!
//! Changes are grouped into a [`ChangeSet`] and committed by a [`Writer`], which holds the scope's
//! lock. They are staged, journaled and swapped into place. After a crash, either all of the
//! changes are applied or none are. A file that the user changes at the same time is never
//! overwritten. A journal that was downloaded with a repository is not applied ([`Seal`]). Files in
//! the user's workspace are changed one at a time without a journal (`plain`).

mod apply;
mod derived;
mod error;
mod journal;
mod lock;
mod path;
mod plain;
mod proof;
mod scope;
mod sqlite;
mod sys;
#[cfg(test)]
mod tests;
mod writer;

pub use derived::ScratchFolder;
pub use error::{FsAction, FsError, Owner, Result};
pub use journal::ChangeSet;
pub use path::{PathFault, RelPath, without_dots};
pub use scope::Seal;
pub use scope::{Access, EntryKind, FileStamp, Folder, FolderEntry, OpenFile, WriteScope};
pub use sqlite::{
    database_path, make_database, migrate_database, open_database, schema_version,
    write_transaction,
};
pub use sys::FileBytes;
pub use writer::{Recovery, Writer};
