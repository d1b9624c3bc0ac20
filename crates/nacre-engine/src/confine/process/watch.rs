//! The watcher process: starts the program, waits for it to end, and kills all of its descendants.
//!
//! The watcher is a subreaper, which adopts orphans. A process therefore remains a descendant even
//! if its parent exits or it changes its group or session. If the descendants cannot be listed, the
//! watcher assumes that some of them are still running.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::sleep;
use std::time::Duration;
use std::{fs, thread};

use rustix::fs::{Access, access};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    set_child_subreaper, setsid, wait,
};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::confine::process::launcher::{
    ENTER, Ending, HELPER, LaunchRequest, ProcessError, WatcherMessage,
};

/// Maximum size of a request, which contains arguments and an environment. Larger requests are
/// refused.
const MAX_ORDER: u64 = 4 << 20;

pub(super) fn read_line<T: DeserializeOwned>(connection: &UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    BufReader::new(connection.take(MAX_ORDER)).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

pub(super) fn write_line<T: Serialize>(mut connection: &UnixStream, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    connection.write_all(&line)
}

enum Notice {
    Entered(Option<ProcessError>),
    Ended(Ending),
    Abandoned,
}

pub(super) fn watch(connection: &UnixStream) -> io::Result<()> {
    // Detach from the user's terminal and process group, so that their signals do not reach this
    // process.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let order: LaunchRequest = read_line(connection)?;
    let (sender, notices) = channel();
    match start(&order, &sender) {
        Ok(pid) => follow(connection, &order, pid, &notices, sender),
        Err(refusal) => write_line(connection, &WatcherMessage::Refused(refusal)),
    }
}

fn follow(
    connection: &UnixStream,
    order: &LaunchRequest,
    pid: Pid,
    notices: &Receiver<Notice>,
    sender: Sender<Notice>,
) -> io::Result<()> {
    let abandoned = connection.try_clone()?;
    let at_end = sender.clone();
    thread::spawn(move || listen(abandoned, &at_end));
    thread::spawn(move || reap(pid, &sender));
    let ending = match first_end(connection, order, pid, notices)? {
        Ok(ending) => ending,
        Err(refusal) => {
            end_all();
            return write_line(connection, &WatcherMessage::Refused(refusal));
        }
    };
    let left_behind = end_all();
    write_line(connection, &WatcherMessage::Ended { ending, left_behind })
}

fn first_end(
    connection: &UnixStream,
    order: &LaunchRequest,
    pid: Pid,
    notices: &Receiver<Notice>,
) -> io::Result<Result<Ending, ProcessError>> {
    let mut is_entered = false;
    let mut ended = None;
    loop {
        match notices.recv_timeout(order.time_limit) {
            Ok(Notice::Entered(None)) => {
                is_entered = true;
                let pid = pid.as_raw_nonzero().get();
                write_line(connection, &WatcherMessage::Started { pid })?;
            }
            Ok(Notice::Entered(Some(refusal))) => return Ok(Err(refusal)),
            Ok(Notice::Ended(ending)) => ended = Some(ending),
            Ok(Notice::Abandoned) => {
                // The program has not been reaped yet, so its process ID cannot have been reused.
                end_group(pid);
                return Ok(Ok(Ending::Cancelled));
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                end_group(pid);
                return Ok(Ok(Ending::TimedOut));
            }
        }
        // The two notices are sent by different threads and can arrive in either order.
        if let (true, Some(ending)) = (is_entered, ended) {
            return Ok(Ok(ending));
        }
    }
}

fn start(order: &LaunchRequest, sender: &Sender<Notice>) -> Result<Pid, ProcessError> {
    let failed = |error: io::Error| ProcessError::Failed(error.to_string());
    // The sandbox test tries to write to this directory. The result is meaningful only if the
    // directory is writable outside the sandbox.
    if access(&order.confinement.outside, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let outside = order.confinement.outside.display();
        return Err(ProcessError::Unconfined(format!(
            "the sandbox cannot be tested: `{outside}` is not writable"
        )));
    }
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let child = Command::new("/proc/self/exe")
        .args([HELPER, ENTER])
        .env_clear()
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    write_line(&ours, order).map_err(failed)?;
    let sender = sender.clone();
    thread::spawn(move || {
        let _ = sender.send(Notice::Entered(refusal_from(ours)));
    });
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| {
        ProcessError::Failed("the system returned no process ID for the program".to_owned())
    })
}

fn refusal_from(connection: UnixStream) -> Option<ProcessError> {
    let lines = BufReader::new(connection).lines().map_while(Result::ok);
    let last = lines.last().and_then(|line| serde_json::from_str(&line).ok());
    match last {
        Some(Ok(())) => None,
        Some(Err(refusal)) => Some(refusal),
        None => Some(ProcessError::Failed("the process exited before it was sandboxed".to_owned())),
    }
}

fn listen(mut connection: UnixStream, sender: &Sender<Notice>) {
    // Nothing is sent after the request, so this read returns only when the connection closes.
    let _ = connection.read(&mut [0]);
    let _ = sender.send(Notice::Abandoned);
}

/// Reaps all children, including adopted ones, so that none remains a zombie.
fn reap(program: Pid, sender: &Sender<Notice>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                let _ = sender.send(Notice::Ended(ending(status)));
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Cancelled,
    }
}

const PAUSE: Duration = Duration::from_micros(100);

const MAX_LOOKS: usize = 50_000;

/// Kills all members of a process group with a single call, so that they cannot restart each other.
pub(super) fn end_group(leader: Pid) {
    let _ = kill_process_group(leader, Signal::KILL);
}

pub(super) fn end_all() -> usize {
    let mut ended = BTreeSet::new();
    let own = getpid().as_raw_nonzero().get();
    for _ in 0..MAX_LOOKS {
        // The quick scan can miss processes that are being reparented, so only the thorough scan
        // can confirm that none are left.
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

fn family(own: i32) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        let children = match children(parent) {
            // The watcher has adopted the children of a process that has ended.
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

/// Lists the living descendants, using the parent ID of every process on the system.
fn descendants(own: i32) -> io::Result<Vec<i32>> {
    let mut children: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
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
        let (parent, is_alive) = parse(&stat).ok_or(io::ErrorKind::InvalidData)?;
        children.entry(parent).or_default().push((id, is_alive));
    }
    let mut found = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        // Removing the entry prevents an endless loop if the process list is inconsistent.
        for (id, is_alive) in children.remove(&parent).unwrap_or_default() {
            parents.push(id);
            if is_alive {
                found.push(id);
            }
        }
    }
    Ok(found)
}

fn is_gone(error: &io::Error) -> bool {
    let no_such_process = rustix::io::Errno::SRCH.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(no_such_process)
}

/// Parses `/proc/ID/stat` (`id (name) state parent …`) and returns the parent's process ID and
/// whether the process is alive. The name can contain any characters.
fn parse(stat: &str) -> Option<(i32, bool)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut words = after_name.split_ascii_whitespace();
    let is_alive = !matches!(words.next()?, "Z" | "X" | "x");
    let parent = words.next()?.parse().ok()?;
    Some((parent, is_alive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_the_fields_after_it() {
        for (stat, expected) in [
            ("7 (sh) S 3 5 5 0", Some((3, true))),
            ("7 (a) Z 1 1 (b) R 3 5 5 0", Some((3, true))),
            ("7 (sh) Z 3 5 5 0", Some((3, false))),
            ("7 (sh", None),
            ("", None),
        ] {
            assert_eq!(parse(stat), expected, "{stat}");
        }
    }
}
