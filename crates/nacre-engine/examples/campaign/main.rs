//! `campaign`: thousands of hostile tool calls under the permissions of the lead and of an explorer.
//!
//! `cargo run -p nacre-engine --example campaign -- [CALLS] [SEED]`. Prints the seed and the sums, and ends with 1 when a
//! promise was broken.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test program: it owns its clock, its folders and its terminal"
)]

mod calls;
mod drive;
mod rng;
mod site;

use std::process::ExitCode;

fn main() -> ExitCode {
    let all: Vec<_> = std::env::args_os().collect();
    // Programs of the campaign are watched by this binary in another role.
    #[cfg(target_os = "linux")]
    if let Some(code) = nacre_engine::confine::helper(&all) {
        return code;
    }
    let helper = std::path::PathBuf::from(&all[0]);
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (n_calls, seed) = (number(10_000), number(1));
    println!("seed {seed}, {n_calls} calls an agent");
    let mut is_broken = false;
    for agent in drive::Agent::ALL {
        let report = drive::campaign(agent, n_calls, seed, &helper);
        println!("{report}");
        is_broken |= !report.broken.is_empty();
    }
    if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
