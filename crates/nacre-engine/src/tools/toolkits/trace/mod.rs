//! What was said in sessions, as far as an agent may look for it.

mod search;

pub use search::{TraceHandle, TraceSearch};
