//! The stores in PostgreSQL, against a real server, beside those of one machine.

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
