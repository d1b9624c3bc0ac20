//! Keeps an artifact in step with the files: what belongs, what changed, and what that means.
//!
//! Reads the tree and never writes to it. Which file changed is told by stamps, with git's rule for those that may lie.

mod affected;
mod bag_keys;
mod deadline;
mod delta;
mod depth;
mod excludes;
mod explain;
mod facts;
mod git;
mod git_index;
mod graph;
mod look;
mod mentioned;
mod options;
mod origins;
mod path_list;
mod patterns;
mod progress;
mod read;
mod refresh;
mod rules;
mod selection;
mod sensitive;
mod since_git;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod told;
mod totals;
mod tracked_files;
mod uses;
mod verify;
mod walk;
mod wording;

pub use affected::Affected;
pub use deadline::Deadline;
pub use delta::{
    ChangeKind, Delta, DeltaCounts, FileChange, SinceError, SymbolChange, SymbolDelta,
    delta_of_all, delta_since,
};
pub use excludes::{Excludes, GitPlaces};
pub use explain::{FileVerdict, explain};
pub use git::{git_folder, project_root};
pub use options::{CacheWrites, RefreshOptions, Verify, WordCounting};
pub use progress::ReadProgress;
pub use read::MAX_READ_BYTES;
pub use refresh::{CacheStatus, Current, RefreshError, RefreshStats, refresh};
pub use sensitive::{BadGlob, Sensitive};
pub use since_git::delta_since_git;
pub use texts::Texts;
pub use told::{Told, is_due, refresh_told};
pub use wording::{Counting, FileBags};
