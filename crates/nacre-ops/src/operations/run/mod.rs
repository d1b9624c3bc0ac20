//! What runs did, and what it took: one operation a file.

mod candidate;
mod list;
mod maintenance;
mod metrics;
mod session;
mod show;

pub use list::list;
pub use show::show;
