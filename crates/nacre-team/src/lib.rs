//! Support for teams: people with tokens and permissions, and stores shared by several servers.

pub mod people;
pub mod postgres;
