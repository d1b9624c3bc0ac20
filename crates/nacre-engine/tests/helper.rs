//! The binary that tests start programs with; the product's own does the same first thing.

use std::process::ExitCode;

#[cfg_attr(
    target_os = "linux",
    expect(clippy::disallowed_methods, reason = "this is a `main`, which has arguments")
)]
fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let arguments: Vec<_> = std::env::args_os().collect();
        nacre_engine::confine::helper(&arguments).unwrap_or(ExitCode::FAILURE)
    }
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}
