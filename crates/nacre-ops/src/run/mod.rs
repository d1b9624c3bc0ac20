//! Runs, including their directories, actions and costs, and the changes they belong to.

pub mod change;
pub mod folder;
pub mod show;

pub use show::{list, messages, show};
