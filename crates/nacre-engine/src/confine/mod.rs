//! Programs that agents start: launched, bounded, confined to what they may read and write.

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
    Captured, Ending as ProgramEnding, Finished, LaunchRequest, Launcher, OutputCaps, ProcessError,
    Program, Quotas, own_folders, own_home, program_environment,
};
pub use sandbox::{Confinement, Metadata, Reach, secrets_of_home};

/// Takes this process out of the session and the terminal of whoever started it: what is done to them is not done to it. Fails
/// for the leader of a group, which a process is not that another one just started.
pub fn leave_session() -> std::io::Result<()> {
    nacre_core::platform::leave_session()
}
