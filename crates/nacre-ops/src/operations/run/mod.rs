//! What runs did, and what it took: one operation a file.

mod candidate;
mod list;
mod maintenance;
mod messages;
mod metrics;
mod session;
mod show;

pub(crate) use candidate::{drop_counts, drop_reason, gate, signal, strategy};
pub use list::list;
pub(crate) use maintenance::store_maintenance;
pub use messages::messages;
pub(crate) use session::session_run;
pub use show::show;
