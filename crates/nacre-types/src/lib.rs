//! Requests, reports, events and error codes shared by all crates. Once published, a key keeps its
//! name and meaning. Each request and report has a row in `schema.rs`, from which `make docs`
//! generates `docs/schema.json`.

#[macro_use]
mod names;

mod agent;
mod ask;
mod chat;
mod config;
mod connect;
mod error;
mod maintain;
mod map;
mod memory;
mod recall;
mod request;
mod review;
mod run;
mod schema;
mod server;
mod status;
mod sync;
mod task;
mod team;
mod trace;
mod transfer;
mod undo;

pub use agent::*;
pub use ask::*;
pub use chat::*;
pub use config::*;
pub use connect::*;
pub use error::*;
pub use maintain::*;
pub use map::*;
pub use memory::*;
pub use names::Names;
pub use recall::*;
pub use request::*;
pub use review::*;
pub use run::*;
pub use schema::schemas;
pub use server::*;
pub use status::*;
pub use sync::*;
pub use task::*;
pub use team::*;
pub use trace::*;
pub use transfer::*;
pub use undo::*;
