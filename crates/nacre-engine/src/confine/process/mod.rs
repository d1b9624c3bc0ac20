//! Starts, limits and stops programs.
//!
//! A watcher process, which is the same binary in another role, is the parent of the program and
//! adopts its orphaned descendants. When a call is cancelled or Nacre is killed, the watcher's
//! connection to Nacre closes. The watcher then kills every descendant, including those in other
//! sessions. Programs are never started outside the sandbox.

mod capture;
#[cfg(target_os = "linux")]
mod confined;
mod environment;
#[cfg(target_os = "linux")]
mod helper;
mod launcher;
#[cfg(target_os = "linux")]
mod watch;

pub use capture::{Captured, LiveOutput, OutputCaps};
pub use environment::{own_folders, own_home, program_environment};
#[cfg(target_os = "linux")]
pub use helper::helper;
pub use launcher::{Ending, Finished, LaunchRequest, Launcher, ProcessError, Program, Quotas};
