//! Running programs.

mod guarded;
mod jobs;
mod run;

pub use jobs::{ShellJobs, ShellPoll, ShellStart, ShellStop};
pub use run::ShellRun;
