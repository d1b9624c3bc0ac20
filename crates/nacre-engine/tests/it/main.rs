//! Tests for the engine over real connections, with a local server that streams, stalls, truncates
//! and corrupts its replies.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests play the server, the network and the person, and look for one event among many"
)]

mod answers;
#[cfg(target_os = "linux")]
mod crash;
mod failures;
#[cfg(target_os = "linux")]
mod guarded;
mod harness;
mod keys;
mod loopback;
#[cfg(target_os = "linux")]
mod programs;
mod recording;
mod runs;
mod shapes;
mod stage;
mod styles;
#[cfg(target_os = "linux")]
mod tools;
#[cfg(target_os = "linux")]
mod walls;
mod web;
#[cfg(target_os = "linux")]
mod workshop;
