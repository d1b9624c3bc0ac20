//! Processes by number. There are no signals: a group is a process with its children, and is ended at once.

use std::process::{Command, Stdio};

use super::io::Errno;

/// The number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pid(i32);

impl Pid {
    pub const fn from_raw(number: i32) -> Option<Self> {
        if 0 < number { Some(Self(number)) } else { None }
    }
}

/// What ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    TERM,
    KILL,
}

/// Who runs this process; everybody is the same here.
#[derive(Clone, Copy, Debug)]
pub struct Uid;

impl Uid {
    pub const fn as_raw(self) -> u32 {
        0
    }
}

pub const fn geteuid() -> Uid {
    Uid
}

/// Ends a process and its children, by the program that the system has for it.
pub fn kill_process_group(process: Pid, _: Signal) -> Result<(), Errno> {
    let number = process.0.to_string();
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &number]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.status()?.success() { Ok(()) } else { Err(Errno::SRCH) }
}

/// Whether a process is there is not known; it is taken to be, so that nothing of it is removed.
pub const fn test_kill_process(_: Pid) -> Result<(), Errno> {
    Ok(())
}
