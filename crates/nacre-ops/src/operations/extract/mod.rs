//! One session, read: what is worth keeping in it, and what it was about. No memory is written.

mod candidates;
mod summary;
mod wire;

pub use candidates::{extract, extract_to_file};
pub use summary::{summarize, summarize_to_file};
pub(crate) use wire::core_strategy;
