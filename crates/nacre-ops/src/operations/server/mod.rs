//! The database that several servers share: prepared, looked at, and what moves there and back.

mod migrate;
mod status;

pub use migrate::migrate;
pub use status::status;
