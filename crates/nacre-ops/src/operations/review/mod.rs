//! What a person decides about candidates: one operation a file.

mod accept;
mod list;
mod reject;

pub use accept::accept;
pub use list::list;
pub use reject::reject;
