//! Types for chat sessions and the chat protocol.

mod message;
mod rpc;
mod session;

pub use message::*;
pub use rpc::*;
pub use session::*;
