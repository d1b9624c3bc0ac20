//! The one way to start git, and to read what lies in a `.git`.
//!
//! A repository is a stranger's. Its settings start no program, its files are plain or are not read, and a `.git` that leads
//! to another repository counts only if that repository leads back. Git never looks for a repository itself: it is told
//! which one, and the environment that it runs in is built from nothing.

mod batch;
mod config_text;
mod folder;
mod launch;
mod running;
mod settings;

#[cfg(test)]
mod tests;

pub use batch::next_object;
pub use config_text::parse_settings;
pub use folder::{GitFolder, MAX_INDEX_BYTES, MAX_SMALL_BYTES};
pub use launch::{Git, GitFault, GitProgram};
pub use running::{Finished, Running, Stop};
