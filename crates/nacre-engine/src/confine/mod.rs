//! Programs that agents start: launched, bounded, confined to what they may read and write.

mod process;
mod sandbox;

#[cfg(target_os = "linux")]
pub use process::helper;
pub use process::{
    Captured, Ending as ProgramEnding, Finished, LaunchRequest, Launcher, OutputCaps, ProcessError,
    Program, Quotas, own_folders, program_environment,
};
pub use sandbox::{Confinement, Metadata, Reach, secrets_of_home};
