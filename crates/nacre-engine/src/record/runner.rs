//! Processes that run tasks, and checks for whether those processes are still alive.
//!
//! Process IDs are reused, so a runner is also identified by its start time. If neither can be
//! checked, a runner counts as alive while its lease is valid.

use std::fs;
use std::time::Duration;

/// How long a runner counts as alive after its last heartbeat if its process cannot be checked.
pub const LEASE: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Runner {
    /// Identifies the current boot of the machine and the process namespace. Empty if unknown.
    pub host: String,
    pub pid: u32,
    /// Start time of the process, in the operating system's format.
    pub birth: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    Gone,
    Unknown,
}

impl Runner {
    pub fn here(pid: u32) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let birth = birth_of(pid).unwrap_or_default();
        let host = match boot.trim() {
            "" => String::new(),
            boot => format!("{boot} {}", namespace.display()),
        };
        Self { host, pid, birth }
    }

    pub fn look_from(&self, here: &Self) -> Life {
        if self == here {
            return Life::Alive;
        }
        if self.host.is_empty() || self.host != here.host || self.birth.is_empty() {
            return Life::Unknown;
        }
        match birth_of(self.pid) {
            Some(birth) if birth == self.birth => Life::Alive,
            Some(_) | None => Life::Gone,
        }
    }
}

/// Reads the start time: field 22 of `/proc/PID/stat`, counted after the process name, which may
/// contain spaces.
fn birth_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_runner_is_known_by_its_birth_and_not_by_its_number() {
        let here = Runner::here(std::process::id());
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let other = Runner::here(child.id());
        let namesake = Runner { birth: "1".to_owned(), ..other.clone() };
        assert_eq!(here.look_from(&here), Life::Alive);
        assert_eq!(other.look_from(&here), Life::Alive);
        assert_eq!(namesake.look_from(&here), Life::Gone);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(other.look_from(&here), Life::Gone);
    }

    #[test]
    fn who_runs_elsewhere_is_not_judged() {
        let here = Runner { host: "here".to_owned(), pid: 1, birth: "5".to_owned() };
        for host in ["", "there"] {
            let other = Runner { host: host.to_owned(), ..here.clone() };
            assert_eq!(other.look_from(&here), Life::Unknown);
        }
    }
}
