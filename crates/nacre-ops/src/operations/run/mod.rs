//! What runs did, as it goes over the wire.

mod candidate;
mod session;

pub(crate) use candidate::{drop_counts, drop_reason, gate, signal, strategy};
pub(crate) use session::session_run;
