//! The stores that a team shares, in PostgreSQL.
//!
//! Four traits of the rooms below have their second implementation here: `JobQueue` (`queue`), `RecordIndex` (`search`), `TaskStore`
//! (`state`) and `PeopleStore` (`people`). Files stay the truth; what stands here is derived from them, except for the queue and the tasks. One conformance suite
//! (`tests/it/`) runs against both implementations.

pub mod database;
pub mod people;
pub mod queue;
pub mod search;
pub mod state;
