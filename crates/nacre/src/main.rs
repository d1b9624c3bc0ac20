//! The `nacre` program. `cli` is the command line, `hook` handles hook calls from agents, and `acp`
//! serves editors.

mod acp;
mod cli;
mod hook;
mod tui;

use std::process::ExitCode;

/// musl's own allocator uses a global lock, which makes indexing large projects slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
