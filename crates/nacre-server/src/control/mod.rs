//! Starts, asks and stops the server of this home from another process.
//!
//! A request goes over the socket file where there is one, else to the port on this machine with the token. No other machine is
//! ever asked.

mod ask;
mod down;
mod up;

pub use self::ask::{ask_hook, health, wake};
pub use self::down::down;
pub use self::up::up;
