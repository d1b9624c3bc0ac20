//! Keeps the index up to date with the file tree, and never modifies the tree.
//!
//! Changed files are detected by their stamps, using git's rule for racy timestamps.

mod affected;
mod current;
mod delta;
mod excludes;
mod explain;
mod git;
mod git_index;
mod look;
mod mentions;
mod options;
mod read;
mod refresh;
mod rules;
mod selection;
mod sensitive;
mod since_git;
#[cfg(test)]
pub(crate) mod tests;
mod uses;
mod walk;
mod words;

pub use current::Texts;
pub use delta::{Delta, FileChange, SinceError, delta_of_all, delta_since};
pub use excludes::{Excludes, GitPlaces};
pub use explain::explain;
pub use git::project_root;
pub use options::{CacheWrites, Deadline, ReadProgress, RefreshOptions, Verify, WordCounting};
pub use read::MAX_READ_BYTES;
pub use refresh::{Current, RefreshError, refresh};
pub use rules::{MAX_RULES_BYTES, RULES_FILE, RuleBudget, Rules};
pub use sensitive::{BadGlob, Sensitive};
pub use since_git::delta_since_git;
pub use words::{Counting, FileBags};
