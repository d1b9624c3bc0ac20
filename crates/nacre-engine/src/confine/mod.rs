//! Starts programs for agents, within resource limits and a sandbox.

#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "no program is started where it cannot be confined")
)]
mod process;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "no program is started where it cannot be confined")
)]
mod sandbox;

#[cfg(target_os = "linux")]
pub use process::helper;
pub use process::{
    Captured, Ending as ProgramEnding, Finished, LaunchRequest, Launcher, LiveOutput, OutputCaps,
    ProcessError, Program, Quotas, own_folders, own_home, program_environment,
};
pub use sandbox::{Confinement, secrets_of_home};

/// Detaches from the terminal's session. Fails if the process is the leader of a process group,
/// which is never the case for a newly started process.
pub fn leave_session() -> std::io::Result<()> {
    nacre_base::platform::leave_session()
}
