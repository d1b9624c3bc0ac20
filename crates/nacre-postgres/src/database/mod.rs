//! The database: where it is, how it is reached, and its schema.
//!
//! Everything here is called from threads that may wait. A call never waits longer than the limits of [`DatabaseOptions`]: for a free
//! connection, for a new one, and for an answer. Password and URL stand in no error and no `Debug`.

mod connect;
mod error;
mod leader;
mod listen;
mod migrate;
mod options;
mod pool;
mod text;
mod tls;

pub use error::{DatabaseError, Distrust};
pub use leader::Leadership;
pub use listen::Notifications;
pub use migrate::{MIN_VECTOR, Migration, NEWEST};
pub use options::DatabaseOptions;
pub use pool::{Database, Health, PoolUse};
pub(crate) use text::{millis_after, moment, plain};
