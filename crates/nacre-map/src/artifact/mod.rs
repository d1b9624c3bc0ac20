//! The cached index of one code base: what is known of its files, and the files that keep it.
//!
//! A project has one file with everything, which is mapped and not parsed, and a log with what changed since. Analyses lie
//! beside, by content, for all projects. Everything can be made again from the code, so a byte that is not as it was
//! written makes the whole as good as absent; nothing is flushed, and nothing is ever an error.

mod analyses;
mod analysis_key;
mod bags;
mod base;
mod blob;
mod cache;
mod codec;
mod commit;
mod fresh;
mod graph;
mod imports;
mod limits;
mod lists;
mod log;
mod mapped;
mod model;
mod open_packs;
mod pack;
mod packs;
mod project_files;
mod rest;
mod row;
mod seal;
mod slice;
mod state;
#[cfg(test)]
mod tests;

pub use analyses::Analyses;
pub use analysis_key::AnalysisKey;
pub use bags::{BagKey, BagPlace, Bags, NewBags};
pub use cache::Cache;
pub(crate) use codec::{Decoder, Encoder};
pub use commit::{Change, Commit, Head, History, first_identity, identity_after};
pub use fresh::{NewAnalyses, NewPack};
pub use graph::Graph;
pub use imports::{Importers, Imports, InsideImports, OutsideImports};
pub use lists::Lists;
pub use model::{
    BadRevision, ChangedFile, FileFacts, FileHash, FileOutline, Project, ProjectId, RelativePath,
    Revision, Stamp, State, estimated_tokens,
};
pub use project_files::Kept;
pub use row::{FileRow, FolderRow, Marks, Skipped};
pub use seal::Seal;
pub use state::Artifact;
