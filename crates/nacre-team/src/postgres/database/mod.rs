//! Connections to the PostgreSQL database, and its schema.
//!
//! Calls block, but never longer than the limits in [`DatabaseOptions`]. Errors and `Debug` output
//! never contain the password or the URL.

mod connect;
mod error;
mod migrate;
mod options;
mod pool;
mod sessions;

pub(crate) use error::Result;
pub use error::{DatabaseError, Distrust};
pub use migrate::{MIN_VECTOR, Migration, NEWEST};
pub use options::DatabaseOptions;
pub use pool::Database;
pub(crate) use pool::{millis_after, plain};

pub(crate) use crate::people::moment;
pub use sessions::Leadership;
