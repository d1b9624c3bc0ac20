//! Nacre's engine: model providers, agents and the sandbox.
//!
//! It makes network requests but does not listen on the network. Keys, settings, seeds and time
//! limits are passed as arguments, so that tests can control them.

pub mod agents;
pub mod confine;
pub mod flows;
pub mod lifecycle;
pub mod model;
pub mod proof;
pub mod record;
pub mod remote;
mod schemas;
pub mod tools;
