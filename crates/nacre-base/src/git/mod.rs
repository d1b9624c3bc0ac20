//! Runs git and reads the `.git` directories of untrusted repositories.
//!
//! A repository's settings cannot start a program, and its git files are read only if they are
//! plain files. A `.git` file that points to another repository is accepted only if that repository
//! points back. The caller always specifies the repository, because git's own discovery could find
//! a different one.

mod folder;
mod launch;
mod running;
mod settings;

#[cfg(test)]
mod tests;

pub use folder::parse_settings;
pub use folder::{GitFolder, MAX_INDEX_BYTES, MAX_SMALL_BYTES};
pub use launch::{Git, GitFault, GitProgram};
pub use running::next_object;
pub use running::{Finished, Running, Stop};
