//! `nacre`, the command. Everything a person asks is in `cli`, everything an agent's hook asks in `hook`.

mod cli;
mod hook;
#[cfg_attr(not(test), expect(dead_code, reason = "until `nacre chat` opens it"))]
#[expect(unused_imports, reason = "until `nacre chat` opens it")]
mod tui;

use std::process::ExitCode;

/// The allocator of musl serves one thread at a time, which a look at a large project would wait for.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
