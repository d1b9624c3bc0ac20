//! Memories between the machines of a team, over a server: what one machine sends and brings, and what the server takes in and offers.
//!
//! A memory moves as git would move it: its files, under its own id. Where it arrives it is foreign until a person trusts it, and what
//! lies there under its id stays unless nobody changed it since it came.

mod offer;
mod pull;
mod push;
mod remote;
mod take_in;
mod withdraw;

pub use offer::{hand_over, offer};
pub use pull::pull;
pub use push::push;
pub use take_in::take_in;
