//! `nacre serve`: Nacre's operations over HTTP on this machine.
//!
//! One table (`table.rs`) says what is served and who may ask for it; one guard looks at every request before anything else
//! does. A request becomes the wire type of its operation, and the report goes out as it is.

mod access;
mod answer;
mod assets;
mod body;
mod connections;
#[cfg(test)]
mod describe;
mod events;
mod guard;
mod headers;
mod hub;
mod lines;
mod login;
mod mcp;
mod metrics;
mod openapi;
mod parameters;
mod route;
mod routes;
mod server;
mod service;
mod table;
mod tasks;
mod upgrade;

pub use self::connections::{Bound, ServeOptions, USUAL_PORT, serve};
