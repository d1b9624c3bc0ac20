//! PostgreSQL stores that a team shares. They must pass the same conformance tests (`tests/it/`) as
//! the local stores.

pub mod database;
pub mod people;
pub mod queue;
pub mod search;
pub mod state;
