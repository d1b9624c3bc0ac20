//! Runs thousands of hostile tool calls with the permissions of different agents.
//!
//! Prints the seed and the totals, and exits with 1 if a guarantee was violated.

mod calls;
mod drive;
mod site;

use clap::Args;

use crate::Outcome;

/// Run thousands of hostile tool calls as the lead, an explorer and a worker, and check their
/// effects
#[derive(Debug, Args)]
pub(crate) struct CampaignArgs {
    /// Number of calls per agent
    #[arg(default_value_t = 10_000)]
    calls: u64,
    /// Seed for all random choices
    #[arg(default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &CampaignArgs) -> Outcome {
    let CampaignArgs { calls, seed } = *args;
    let helper = std::env::current_exe()?;
    println!("seed {seed}, {calls} calls per agent");
    let mut is_broken = false;
    for agent in drive::Agent::ALL {
        let report = drive::campaign(agent, calls, seed, &helper);
        println!("{report}");
        is_broken |= !report.broken.is_empty();
    }
    Ok(!is_broken)
}
