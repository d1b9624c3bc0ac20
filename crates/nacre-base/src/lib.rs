//! The foundation of all other crates: safe file access, git, settings, redaction, hashes, time and
//! text.
//!
//! The crate uses no async code, network, terminal or environment variables. Callers pass in the
//! time, paths and settings, so one process can serve many projects and tests can control the
//! clock.

#[macro_use]
mod words;

pub mod bounded;
pub mod config;
pub mod fs;
pub mod git;
mod hash;
mod heap;
mod local_names;
mod owner;
pub mod platform;
pub mod redact;
mod sensitive;
mod shown;
pub mod text;
mod threads;
mod time;
mod unified;

pub use hash::{ContentHash, ParseHashError};
pub use heap::{give_back_memory, share_memory};
pub use local_names::LocalNames;
pub use owner::{Person, Stranger, is_of_repository, search_folders, search_path, trees_around};
pub use sensitive::{
    SECRETS, is_acted_on, list_acted_on_places, secret_places, secret_rule, with_folders,
};
pub use shown::{Shown, ShownLine, is_hidden_char, with_causes};
pub use threads::{Alarm, on_all_cores, yield_processor};
pub use time::parse_time;
pub use unified::{ChangeTag, ChangedPart, find_changed_parts, format_unified_diff};
