//! Ids, hashes, redaction, names of secrets and safe terminal text: words that no domain owns.
//!
//! Knows nothing of files, settings or memories.

mod cores;
mod hash;
pub mod redact;
mod sensitive;
mod shown;

pub use cores::on_all_cores;
pub use hash::{ContentHash, ParseHashError};
pub use sensitive::{SENSITIVE_NAMES, VARIABLES, holds_variables};
pub use shown::{Shown, ShownLine, is_hidden_char};
