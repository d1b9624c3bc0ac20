//! Ids, hashes, redaction and safe terminal text: words that no domain owns.
//!
//! Knows nothing of files, settings or memories.

mod cores;
mod hash;
pub mod redact;
mod shown;

pub use cores::on_all_cores;
pub use hash::{ContentHash, ParseHashError};
pub use shown::{Shown, ShownLine, is_hidden_char};
