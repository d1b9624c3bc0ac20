//! A running git process. Its output is read as it arrives, and its process group is terminated
//! when it is no longer needed.
//!
//! A separate thread waits for the process, so a time limit can be applied without a clock.

use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, thread};

use crate::platform::ext::CommandExt as _;
use crate::platform::process::{Pid, Signal, kill_process_group};

/// How long git has to remove its lock files before it is killed.
const GRACE: Duration = Duration::from_millis(150);

const MAX_ERROR_BYTES: u64 = 64 << 10;

#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 256 << 20;

#[derive(Clone, Debug)]
pub struct Finished {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether the output exceeded the limit, in which case git was terminated.
    pub is_cut: bool,
    pub status: ExitStatus,
}

#[derive(Debug)]
pub struct Running {
    finished: Receiver<io::Result<Finished>>,
    stop: Stop,
}

/// A handle that terminates the process group of a running git, at most once.
#[derive(Clone, Debug)]
pub struct Stop {
    group: Option<Pid>,
    is_over: Arc<AtomicBool>,
}

impl Running {
    /// Starts `command` in its own process group with `input` on stdin, and reads at most `limit`
    /// bytes of its output.
    pub(super) fn start(
        command: &mut Command,
        input: Option<Vec<u8>>,
        limit: u64,
    ) -> io::Result<Self> {
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        bound_memory(group);
        let stop = Stop { group, is_over: Arc::default() };
        let is_over = Arc::clone(&stop.is_over);
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // Git may write output before it has read all of its input, so writing the input on
            // this thread before reading the output could deadlock.
            thread::spawn(move || stdin.write_all(&input));
        }
        let (sender, finished) = channel();
        thread::spawn(move || {
            let end = finish(child, limit);
            is_over.store(true, Ordering::SeqCst);
            let _ = sender.send(end);
        });
        Ok(Self { finished, stop })
    }

    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Waits for at most `time`. If the process is still running, kills it and returns `None`.
    pub fn wait(self, time: Duration) -> Option<io::Result<Finished>> {
        let finished = self.poll(time);
        if finished.is_none() {
            self.stop.kill();
        }
        finished
    }

    /// Waits for at most `time`. Returns `None` if the process is still running.
    pub(super) fn poll(&self, time: Duration) -> Option<io::Result<Finished>> {
        match self.finished.recv_timeout(time) {
            Ok(finished) => Some(finished),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(io::Error::other("the thread waiting for git ended")))
            }
        }
    }
}

impl Stop {
    /// Sends the process group a termination signal, and kills it after `GRACE`.
    pub fn end(&self) {
        if self.is_over.load(Ordering::SeqCst) {
            return;
        }
        self.signal(Signal::TERM);
        let stop = self.clone();
        thread::spawn(move || {
            thread::sleep(GRACE);
            stop.signal(Signal::KILL);
        });
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = self.group.filter(|_| !self.is_over.load(Ordering::SeqCst)) else {
            return;
        };
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(target_os = "linux")]
fn bound_memory(process: Option<Pid>) {
    use crate::platform::process::{Resource, Rlimit, prlimit};
    let most = Rlimit { current: Some(MAX_MEMORY), maximum: Some(MAX_MEMORY) };
    let _ = process.map(|process| prlimit(Some(process), Resource::Data, most));
}

#[cfg(not(target_os = "linux"))]
fn bound_memory(_: Option<Pid>) {}

/// Reads stdout and stderr, then waits for the process. If the output exceeds the limit, the pipe
/// is closed, which makes git stop.
fn finish(mut child: Child, limit: u64) -> io::Result<Finished> {
    let no_pipe = || io::Error::other("git's output was not captured");
    let (out, err) =
        (child.stdout.take().ok_or_else(no_pipe)?, child.stderr.take().ok_or_else(no_pipe)?);
    let errors = thread::spawn(move || read_some(err, MAX_ERROR_BYTES));
    let (stdout, is_cut) = read_some(out, limit);
    let (stderr, _) =
        errors.join().map_err(|_| io::Error::other("git's errors were not captured"))?;
    Ok(Finished { stdout, stderr, is_cut, status: child.wait()? })
}

fn read_some(pipe: impl Read, limit: u64) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    // Output that was read before an error is still valid.
    let _ = pipe.take(limit + 1).read_to_end(&mut bytes);
    let is_cut = limit < bytes.len() as u64;
    (bytes, is_cut)
}

/// Splits the first object off the output of `git cat-file --batch`. The object is `None` if git
/// cannot find it. Returns `None` at the end of the output.
pub fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', answer)?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let rest = &answer[end + 1..];
    let Some(size) = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok()) else {
        return Some((None, rest));
    };
    let (bytes, rest) = rest.split_at_checked(size)?;
    Some((Some(bytes), rest.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_one_after_another_and_missing_ones_are_told() {
        let answer = b"aa blob 3\nx\ny\nbb missing\ncc blob 0\n\n";
        let (bytes, rest) = next_object(answer).unwrap();
        assert_eq!(bytes, Some(b"x\ny".as_slice()));
        let (bytes, rest) = next_object(rest).unwrap();
        assert_eq!(bytes, None);
        assert_eq!(next_object(rest), Some((Some(b"".as_slice()), b"".as_slice())));
        for cut in [b"".as_slice(), b"aa blob 9\nx", b"aa blob 1\nx"] {
            assert_eq!(next_object(cut), None);
        }
    }
}
