//! The engine of Nacre: model providers, and what is built on them.
//!
//! It speaks to the network and listens to none. Keys, settings, seeds and deadlines come in as values, so that a
//! test decides all of them.

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
