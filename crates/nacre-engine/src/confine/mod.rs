//! Starts programs for agents, within resource limits and a sandbox.

#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "programs are started only on systems with a sandbox")
)]
mod process;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "programs are started only on systems with a sandbox")
)]
mod sandbox;

#[cfg(target_os = "linux")]
pub use process::helper;
pub use process::{
    Captured, Ending as ProgramEnding, Finished, LaunchRequest, Launcher, LiveOutput, OutputCaps,
    ProcessError, Program, Quotas, own_folders, own_home, program_environment,
};
pub use sandbox::{Confinement, secrets_of_home};

/// Starts a new session, which detaches the process from its terminal. Fails only for a process
/// group leader, which a newly started process never is.
pub fn leave_session() -> std::io::Result<()> {
    nacre_base::platform::leave_session()
}
