//! What a person decides about candidates: one operation a file.

mod accept;
mod decide;
mod list;
mod reject;
#[cfg(test)]
mod tests;

pub use accept::accept;
pub use decide::decide;
pub use list::list;
pub use reject::reject;
