//! `nacre`, the command. Everything a person asks is in `cli`, everything an agent's hook asks in `hook`, everything an
//! editor asks in `acp`.

mod acp;
mod cli;
mod hook;
mod tui;

use std::process::ExitCode;

/// The allocator of musl serves one thread at a time, which a look at a large project would wait for.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
