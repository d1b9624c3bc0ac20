//! The Rust SDK: asks a `nacre serve` of this machine, by its port or its socket file.
//!
//! Every route is a method (`methods.rs`) that takes the wire type of its request and returns that of its report. It blocks, and
//! needs nothing but the standard library: hooks use it, and have milliseconds.

mod address;
mod chat;
mod connection;
mod error;
mod events;
mod methods;

pub use self::chat::{ChatReader, ChatWriter};
pub use self::connection::Client;
pub use self::error::ClientError;
pub use self::events::EventStream;
pub use self::methods::{ROUTES, TASKS};
