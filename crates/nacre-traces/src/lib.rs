//! Finds and parses the sessions that coding agents store on disk, tracks new ones, and connects
//! agents by editing their settings.

pub mod agent_config;
pub mod agents;
pub mod catalog;
pub mod instructions;
pub mod transcript;
