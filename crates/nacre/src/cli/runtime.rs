//! The flag that says what a lead is run with.

use clap::{Args, ValueEnum};
use nacre_api::wire::LeadRuntime;

/// What a lead is run with.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RuntimeArgs {
    /// What the lead is run with: Nacre's own engine, or the installed Claude Code, which reads memories and can change
    /// nothing (`lead.runtime` unless given)
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<RuntimeName>,
}

impl RuntimeArgs {
    /// What the flag says, where it is given.
    pub(crate) fn choice(self) -> Option<LeadRuntime> {
        self.runtime.map(|name| match name {
            RuntimeName::Nacre => LeadRuntime::Nacre,
            RuntimeName::Claude => LeadRuntime::Claude,
        })
    }
}

/// A runtime on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RuntimeName {
    Nacre,
    Claude,
}
