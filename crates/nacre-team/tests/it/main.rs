//! Tests the PostgreSQL stores against a real server, and compares them with the local stores.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the tests play the agents, start a server, and say what was left out"
)]

mod backup;
mod chance;
mod database;
mod people;
mod permission;
mod queue;
mod search;
mod server;
mod state;
