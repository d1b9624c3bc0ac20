//! Everything that descends from this process, and its end.
//!
//! This process adopts its orphans, so that a descendant stays one whatever it does: a new group, a new session or a
//! parent that went away. What is left is a race against those that start each other, which is won by looking only at
//! one's own family, where a look takes less time than starting a program, and is over when nobody is found. A
//! family that cannot be looked at is not an empty one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// Between two looks that found somebody.
const PAUSE: Duration = Duration::from_micros(100);

/// After so many looks, those that remain are stuck in the kernel, and end when it lets them.
const MAX_LOOKS: usize = 50_000;

/// Ends a group at once, so that its members cannot take turns in starting each other.
pub(super) fn end_group(leader: Pid) {
    let _ = kill_process_group(leader, Signal::KILL);
}

/// Ends all descendants and returns how many there were.
pub(super) fn end_all() -> usize {
    let mut ended = BTreeSet::new();
    let own = getpid().as_raw_nonzero().get();
    for _ in 0..MAX_LOOKS {
        // The quick look may miss somebody who moves meanwhile; that nobody is left is for the thorough one to say.
        let found = match family(own) {
            Ok(found) if !found.is_empty() => Ok(found),
            _ => descendants(own),
        };
        match found {
            Ok(found) if found.is_empty() => break,
            Ok(found) => {
                for id in found {
                    let _ = Pid::from_raw(id).map(|pid| kill_process(pid, Signal::KILL));
                    ended.insert(id);
                }
            }
            Err(_) => {}
        }
        sleep(PAUSE);
    }
    ended.len()
}

/// The descendants, by the kernel's lists of children.
fn family(own: i32) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        let children = match children(parent) {
            // Whoever is gone has handed its children to us.
            Err(_) if parent != own => Vec::new(),
            children => children?,
        };
        parents.extend(&children);
        found.extend(children);
    }
    Ok(found)
}

fn children(parent: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(Path::new("/proc").join(parent.to_string()).join("task"))? {
        let text = fs::read_to_string(thread?.path().join("children"))?;
        children.extend(text.split_ascii_whitespace().filter_map(|id| id.parse::<i32>().ok()));
    }
    Ok(children)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: i32,
    parent: i32,
    is_alive: bool,
}

/// The living descendants, by everybody's own word for who their parent is.
fn descendants(own: i32) -> io::Result<Vec<i32>> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = match fs::read_to_string(entry.path().join("stat")) {
            Ok(stat) => stat,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(error),
        };
        let process = parse(id, &stat).ok_or(io::ErrorKind::InvalidData)?;
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        // Taken out, so that no loop in a torn listing is followed twice.
        for process in children.remove(&parent).unwrap_or_default() {
            parents.push(process.id);
            if process.is_alive {
                found.push(process.id);
            }
        }
    }
    Ok(found)
}

/// It ended between the listing and the look.
fn is_gone(error: &io::Error) -> bool {
    let no_such_process = rustix::io::Errno::SRCH.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(no_such_process)
}

/// Reads `/proc/ID/stat`: `id (name) state parent …`, where the name may hold anything.
fn parse(id: i32, stat: &str) -> Option<Process> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut words = after_name.split_ascii_whitespace();
    let is_alive = !matches!(words.next()?, "Z" | "X" | "x");
    let parent = words.next()?.parse().ok()?;
    Some(Process { id, parent, is_alive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_the_fields_after_it() {
        let process = |parent, is_alive| Process { id: 7, parent, is_alive };
        for (stat, expected) in [
            ("7 (sh) S 3 5 5 0", Some(process(3, true))),
            ("7 (a) Z 1 1 (b) R 3 5 5 0", Some(process(3, true))),
            ("7 (sh) Z 3 5 5 0", Some(process(3, false))),
            ("7 (sh", None),
            ("", None),
        ] {
            assert_eq!(parse(7, stat), expected, "{stat}");
        }
    }
}
