//! Implements `nacre serve`, which offers Nacre's operations over HTTP on this machine. Every
//! request first passes the guard and is then parsed into the operation's request type.

mod answer;
mod connections;
mod events;
mod guard;
mod loops;
mod parameters;
mod protocols;
mod route;
mod router;
mod routes;
mod server;
mod service;
mod tasks;
#[cfg(test)]
mod tests;

pub use self::connections::{ServeOptions, USUAL_PORT, serve};
