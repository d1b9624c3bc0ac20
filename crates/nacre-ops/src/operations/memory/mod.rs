//! What a person or an agent does with memories: one operation a file.

mod list;
mod show;
mod wire;

pub use list::list;
pub use show::show;
pub(super) use wire::memory_type;
