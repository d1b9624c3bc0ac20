//! Which process runs a task, told well enough to know later whether it is still there.
//!
//! A process number alone is used again, so the moment of its birth belongs to it; and numbers mean something only
//! on one machine, between two starts of it, in one namespace. Where nothing can be known, a lease decides.

use std::fs;
use std::time::Duration;

/// How long a runner that gives no sign counts as alive, where nothing better is known.
pub const LEASE: Duration = Duration::from_secs(120);

/// A process that runs tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Runner {
    /// The machine since its last start, and the namespace; empty where neither is known.
    pub host: String,
    pub pid: u32,
    /// When the process began, in the system's own measure.
    pub birth: String,
}

/// What is known of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    Gone,
    /// It runs elsewhere, or this system does not tell.
    Unknown,
}

impl Runner {
    /// The process `pid` of this machine.
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

    /// Looks whether this runner is still there, seen from `here`.
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

/// Reads when a process began: the 22nd word about it, counted behind its name, which may hold anything.
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
