//! Processes by ID. Windows has no signals, so a process group is represented by a process and its
//! children, and is killed immediately.

use std::process::{Command, Stdio};

use super::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pid(i32);

impl Pid {
    pub const fn from_raw(number: i32) -> Option<Self> {
        if 0 < number { Some(Self(number)) } else { None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    TERM,
    KILL,
}

/// Placeholder for numeric user IDs, which Windows does not have. All values are equal.
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

pub fn kill_process_group(process: Pid, _: Signal) -> Result<(), Errno> {
    let number = process.0.to_string();
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &number]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.status()?.success() { Ok(()) } else { Err(Errno::SRCH) }
}

/// Always succeeds, because this implementation cannot check whether the process exists. Treating
/// the process as running ensures that its files are not removed.
pub const fn test_kill_process(_: Pid) -> Result<(), Errno> {
    Ok(())
}
