//! The stores of Nacre: what is true on disk, and how it is read and changed.
//!
//! No async, no network, no terminal, no environment: time, paths and settings come in as arguments,
//! so that one process can serve many projects and a test can stop the clock.

pub mod agent_config;
pub mod base;
pub mod catalog;
pub mod config;
pub mod instructions;
pub mod memory;
pub mod people;
pub mod platform;
pub mod safefs;
pub mod search;
pub mod transcript;
