//! Running programs.

mod jobs;
mod run;

pub use jobs::{ShellJobs, ShellPoll, ShellStart, ShellStop};
pub use run::ShellRun;

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![
        derived::<jobs::ShellPollInput>(),
        derived::<jobs::ShellStartInput>(),
        derived::<jobs::ShellStopInput>(),
        derived::<run::ShellRunInput>(),
    ]
}
