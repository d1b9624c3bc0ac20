//! The watcher: starts the program, waits for whatever comes first, and leaves nothing behind.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use rustix::fs::{Access, access};
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};

use super::json_line::{read_line, write_line};
use super::order::{ENTER, Ending, HELPER, LaunchRequest, Refusal, Step, Word};
use super::tree;

/// What the watcher waits for.
enum Notice {
    /// The process became the program, or said why not.
    Entered(Option<Refusal>),
    Ended(Ending),
    /// Nobody is at the other end of the connection any more.
    Abandoned,
}

/// Watches over one program, from its start to its end.
pub(super) fn watch(connection: &UnixStream) -> io::Result<()> {
    // Away from the person's terminal, and from signals that it sends to groups.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let order: LaunchRequest = read_line(connection)?;
    let (sender, notices) = channel();
    let started = start(&order, &sender);
    match started {
        Ok(pid) => follow(connection, &order, pid, &notices, sender),
        Err(refusal) => write_line(connection, &Word::Refused(refusal)),
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
            tree::end_all();
            return write_line(connection, &Word::Refused(refusal));
        }
    };
    let left_behind = tree::end_all();
    write_line(connection, &Word::Ended { ending, left_behind })
}

/// Waits for the first thing that ends the program, or for the word that it never became one.
fn first_end(
    connection: &UnixStream,
    order: &LaunchRequest,
    pid: Pid,
    notices: &Receiver<Notice>,
) -> io::Result<Result<Ending, Refusal>> {
    let mut is_entered = false;
    let mut ended = None;
    loop {
        match notices.recv_timeout(order.time_limit) {
            Ok(Notice::Entered(None)) => {
                is_entered = true;
                write_line(connection, &Word::Started { pid: pid.as_raw_nonzero().get() })?;
            }
            Ok(Notice::Entered(Some(refusal))) => return Ok(Err(refusal)),
            Ok(Notice::Ended(ending)) => ended = Some(ending),
            Ok(Notice::Abandoned) => {
                // The program is not waited for yet, so that its number is still its own.
                tree::end_group(pid);
                return Ok(Ok(Ending::Cancelled));
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                tree::end_group(pid);
                return Ok(Ok(Ending::TimedOut));
            }
        }
        // The two come over different ways, in either order.
        if let (true, Some(ending)) = (is_entered, ended) {
            return Ok(Ok(ending));
        }
    }
}

/// Starts the process that will become the program.
fn start(order: &LaunchRequest, sender: &Sender<Notice>) -> Result<Pid, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(error.to_string());
    // The walls are tried by writing here; that proves something only where it works without them.
    if access(&order.confinement.outside, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let outside = order.confinement.outside.display();
        return Err(Refusal::Unconfined(format!(
            "the walls cannot be tried: no writing to `{outside}`"
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
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| Refusal::Failed("the system gave the program no number".to_owned()))
}

/// `None` when the process has become the program: then the connection ends after the word that the walls stand.
fn refusal_from(connection: UnixStream) -> Option<Refusal> {
    let lines = BufReader::new(connection).lines().map_while(Result::ok);
    let last = lines.last().and_then(|line| serde_json::from_str(&line).ok());
    match last {
        Some(Step::Confined) => None,
        Some(Step::Refused(refusal)) => Some(refusal),
        None => Some(Refusal::Failed("it ended before it was confined".to_owned())),
    }
}

fn listen(mut connection: UnixStream, sender: &Sender<Notice>) {
    // Nothing is ever said after the order.
    let _ = connection.read(&mut [0]);
    let _ = sender.send(Notice::Abandoned);
}

/// Waits for every child, those that were adopted included, so that none stays as a zombie.
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
