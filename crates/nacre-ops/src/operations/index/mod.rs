//! The derived files behind search: one operation a file.

mod rebuild;
mod status;

pub use rebuild::rebuild;
pub use status::status;
