//! The engine against real connections: a server on this machine that streams, stalls, cuts and garbles.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests play the server, the network and the person, and look for one event among many"
)]

mod answers;
mod asking;
mod campaign;
#[cfg(target_os = "linux")]
mod crash;
mod embeddings;
mod extraction;
mod failures;
mod harness;
mod keys;
mod lead;
mod loopback;
mod maintain;
#[path = "../../examples/ask_bench/measure.rs"]
mod measure;
#[cfg(target_os = "linux")]
mod programs;
mod recording;
mod runs;
mod shapes;
mod stage;
mod styles;
mod sync;
mod telemetry;
#[cfg(target_os = "linux")]
mod tools;
#[cfg(target_os = "linux")]
mod walls;
mod web;
#[cfg(target_os = "linux")]
mod workshop;
