//! Nacre's end of a running program, where it can be confined: gives the order, collects the output, and lets go.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Connection;
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::capture::Captured;
use super::launcher::{Finished, Launcher, ProcessError};
use super::order::{Ending, LaunchRequest, Refusal, Word};
use crate::model::Cancel;

impl Launcher {
    pub(super) async fn run_confined(
        &self,
        order: &LaunchRequest,
        cancel: &Cancel,
    ) -> Result<Finished, ProcessError> {
        let started = self.start().map_err(ProcessError::Watcher)?;
        let (stdout, stderr, told) = tokio::join!(
            Captured::read(started.stdout, order.output),
            Captured::read(started.stderr, order.output),
            converse(started.connection, order, cancel),
        );
        let (ending, left_behind) = told?;
        Ok(Finished { ending, stdout, stderr, left_behind, notes: Vec::new() })
    }

    fn start(&self) -> io::Result<Started> {
        let (ours, theirs) = Connection::pair()?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(their_stdout))
            .stderr(Stdio::from(their_stderr))
            .spawn()?;
        // Somebody has to wait for it, also when nobody waits for its result.
        thread::spawn(move || child.wait());
        ours.set_nonblocking(true)?;
        Ok(Started {
            connection: UnixStream::from_std(ours)?,
            stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
            stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
        })
    }
}

struct Started {
    connection: UnixStream,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// Gives the order and hears how it ends.
async fn converse(
    connection: UnixStream,
    order: &LaunchRequest,
    cancel: &Cancel,
) -> Result<(Ending, usize), ProcessError> {
    let (reader, mut writer) = connection.into_split();
    let mut words = BufReader::new(reader).lines();
    let mut line =
        serde_json::to_vec(order).map_err(|error| ProcessError::Watcher(error.into()))?;
    line.push(b'\n');
    writer.write_all(&line).await.map_err(|_| ProcessError::Lost)?;
    let mut running = None;
    let mut is_wanted = true;
    loop {
        let word = tokio::select! {
            biased;
            () = cancel.cancelled(), if is_wanted => {
                // The watcher hears that nobody listens, ends everything, and says so.
                is_wanted = false;
                let _ = writer.shutdown().await;
                continue;
            }
            word = words.next_line() => word,
        };
        match word.ok().flatten().and_then(|text| serde_json::from_str(&text).ok()) {
            Some(Word::Started { pid }) => running = Some(pid),
            Some(Word::Ended { ending, left_behind }) => return Ok((ending, left_behind)),
            Some(Word::Refused(refusal)) => return Err(refused(order, refusal)),
            None => {
                end_group(running);
                return Err(ProcessError::Lost);
            }
        }
    }
}

/// Without its watcher, a program can only be ended as far as it stayed in its group.
fn end_group(program: Option<i32>) {
    if let Some(group) = program.and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn refused(order: &LaunchRequest, refusal: Refusal) -> ProcessError {
    match refusal {
        Refusal::Unconfined(why) => ProcessError::Unconfined(why),
        Refusal::NotFound(why) => {
            ProcessError::NotFound { name: order.program.argv().0.to_owned(), why }
        }
        Refusal::Failed(why) => ProcessError::Failed(why),
    }
}
