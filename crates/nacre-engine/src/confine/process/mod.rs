//! Programs that are started, bounded and gone again.
//!
//! Between Nacre and a program stands a watcher, the same binary in another role, which adopts whatever the program
//! leaves behind. One connection leads to it: when that closes, because a call was cancelled or dropped or because
//! Nacre was killed, the watcher ends every descendant, those in sessions of their own included, and then itself.
//! A program is never started without walls around it.

mod capture;
#[cfg(target_os = "linux")]
mod confined;
#[cfg(target_os = "linux")]
mod enter;
mod environment;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod json_line;
mod launcher;
mod order;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod watch;

pub use capture::Captured;
pub use environment::{own_folders, own_home, program_environment};
#[cfg(target_os = "linux")]
pub use helper::helper;
pub use launcher::{Finished, Launcher, ProcessError};
pub use order::{Ending, LaunchRequest, OutputCaps, Program, Quotas};
