//! Ids, hashes, times, redaction, names of secrets, safe terminal text, diffs, and the one way to start git: words that no domain
//! owns.
//!
//! Knows nothing of settings or memories, and writes no file.

mod alarm;
pub(crate) mod bounded;
mod cores;
pub mod git;
mod hash;
mod heap;
mod local_names;
mod owner;
pub mod redact;
mod search_path;
mod sensitive;
mod shown;
mod time;
mod unified;

pub(crate) use alarm::Alarm;
pub use cores::{on_all_cores, yield_processor};
pub use hash::{ContentHash, ParseHashError};
pub use heap::{give_back_memory, share_memory};
pub use local_names::LocalNames;
pub use owner::{Person, Stranger};
pub use search_path::{is_of_repository, search_folders, search_path, trees_around};
pub use sensitive::{
    SECRETS, acted_on_places, is_acted_on, secret_places, secret_rule, with_folders,
};
pub use shown::{Shown, ShownLine, is_hidden_char};
pub use time::parse_time;
pub use unified::unified_diff;
