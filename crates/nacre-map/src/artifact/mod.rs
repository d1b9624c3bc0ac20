//! A code base's cached index.
//!
//! Each project has one file that lists its files and directories. Analyses are keyed by content
//! and shared by all projects. Word counts are keyed by content within each project. Everything can
//! be rebuilt from the code, so damaged files are treated as missing, writes are not flushed to
//! disk, and reads never fail.

mod cache;
mod imports;
mod model;
mod packs;
mod seal;
mod state;
#[cfg(test)]
mod tests;

pub use cache::{Cache, Derived};
pub use imports::{Imports, Lists};
pub(crate) use model::words_key;
pub use model::{
    AnalysisKey, Blobs, Commit, ContentChange, FileFacts, FileHash, FileOutline, FileRow,
    FolderRow, Head, History, MapState, Project, RelativePath, Stamp, first_identity,
    identity_after,
};
pub use packs::PackSet;
pub use seal::Seal;
pub use state::Artifact;
