//! Tests for `nacre-lab` commands.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests play the developer and their repository"
)]

mod bench_map;
mod campaign;
mod extraction;
mod lab;
mod one_session;
