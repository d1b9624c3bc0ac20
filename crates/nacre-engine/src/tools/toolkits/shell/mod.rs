//! Running programs.

mod guarded;
mod run;

pub use run::ShellRun;
