//! A started git: its output is read as it comes, and its whole process group ends when nobody waits for it any more.
//!
//! The waiting is done by a thread of its own, so that a deadline needs no clock.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::platform::ext::CommandExt as _;
use crate::platform::process::{Pid, Signal, kill_process_group};

/// How long git may take to remove its locks before it is killed.
const GRACE: Duration = Duration::from_millis(150);

/// More of what git complains about is not read.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// More memory of its own git does not get.
#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 256 << 20;

/// What a finished git printed.
#[derive(Clone, Debug)]
pub struct Finished {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether there was more than was read; git was ended then.
    pub is_cut: bool,
    pub status: ExitStatus,
}

/// A git that was started.
#[derive(Debug)]
pub struct Running {
    finished: Receiver<io::Result<Finished>>,
    stop: Stop,
}

/// Ends the process group of a running git, once.
#[derive(Clone, Debug)]
pub struct Stop {
    group: Option<Pid>,
    is_over: Arc<AtomicBool>,
}

impl Running {
    /// Starts `command` in a process group of its own, hands it `input`, and reads at most `limit` bytes of what it prints.
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
            // Git answers while it is still being fed, so that neither may wait for the other.
            thread::spawn(move || stdin.write_all(&input));
        }
        let (sender, finished) = channel();
        thread::spawn(move || {
            let end = finish(child, limit);
            is_over.store(true, Ordering::SeqCst);
            // Nobody may be waiting any more.
            let _ = sender.send(end);
        });
        Ok(Self { finished, stop })
    }

    /// What ends it from elsewhere.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Waits until it ends, at most `time`, then kills it; `None` when it was killed.
    pub fn wait(self, time: Duration) -> Option<io::Result<Finished>> {
        let finished = self.poll(time);
        if finished.is_none() {
            self.stop.kill();
        }
        finished
    }

    /// Waits until it ends, at most `time`; `None` when it goes on.
    pub(super) fn poll(&self, time: Duration) -> Option<io::Result<Finished>> {
        match self.finished.recv_timeout(time) {
            Ok(finished) => Some(finished),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(io::Error::other("the thread that waits for git ended")))
            }
        }
    }
}

impl Stop {
    /// Asks the group to end, and kills it a moment later.
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

    /// Ends the group at once.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = self.group.filter(|_| !self.is_over.load(Ordering::SeqCst)) else {
            return;
        };
        // It may have ended by itself.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(target_os = "linux")]
fn bound_memory(process: Option<Pid>) {
    use crate::platform::process::{Resource, Rlimit, prlimit};
    let most = Rlimit { current: Some(MAX_MEMORY), maximum: Some(MAX_MEMORY) };
    // It may have ended by itself.
    let _ = process.map(|process| prlimit(Some(process), Resource::Data, most));
}

#[cfg(not(target_os = "linux"))]
fn bound_memory(_: Option<Pid>) {}

/// Reads both outputs and waits. Closing an output that is too long ends the program.
fn finish(mut child: Child, limit: u64) -> io::Result<Finished> {
    let no_pipe = || io::Error::other("git has no output");
    let (out, err) =
        (child.stdout.take().ok_or_else(no_pipe)?, child.stderr.take().ok_or_else(no_pipe)?);
    let errors = thread::spawn(move || read_some(err, MAX_ERROR_BYTES));
    let (stdout, is_cut) = read_some(out, limit);
    let (stderr, _) = errors.join().map_err(|_| io::Error::other("git's errors were not read"))?;
    Ok(Finished { stdout, stderr, is_cut, status: child.wait()? })
}

fn read_some(pipe: impl Read, limit: u64) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    // What was read before an error is still what was said.
    let _ = pipe.take(limit + 1).read_to_end(&mut bytes);
    let is_cut = limit < bytes.len() as u64;
    (bytes, is_cut)
}
