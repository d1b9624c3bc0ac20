//! The engine against real connections: a server on this machine that streams, stalls, cuts and garbles.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests play the server and the network, and look for one event among many"
)]

mod answers;
mod campaign;
mod failures;
mod harness;
mod keys;
mod loopback;
mod recording;
mod runs;
mod shapes;
mod stage;
mod styles;
mod telemetry;
