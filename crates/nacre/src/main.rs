//! `nacre`, the command. Everything a person asks is in `cli`, everything an agent's hook asks in `hook`.

mod cli;
mod hook;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
