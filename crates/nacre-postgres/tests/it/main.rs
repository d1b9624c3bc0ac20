//! The stores in PostgreSQL, against a real server, beside those of one machine.

mod chance;
mod database;
mod queue;
mod search;
mod server;
mod state;
