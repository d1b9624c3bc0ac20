//! The engine against real connections: a server on this machine that streams, stalls, cuts and garbles.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests play the server and the network, and look for one event among many"
)]

mod answers;
mod extraction;
mod failures;
mod harness;
mod keys;
mod loopback;
mod shapes;
mod styles;
mod sync;
