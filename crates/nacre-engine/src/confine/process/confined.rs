//! Nacre's side of a running program: sends the request, collects the output, and stops the
//! program.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Connection;
use std::process::{Command, Stdio};
use std::{io, thread};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use crate::confine::process::capture::LiveOutput;
use crate::confine::process::launcher::{
    Ending, Finished, HELPER, LaunchRequest, Launcher, ProcessError, WATCH, WatcherMessage,
};
use crate::model::Cancel;

impl Launcher {
    pub(super) async fn run_confined(
        &self,
        order: &LaunchRequest,
        cancel: &Cancel,
        stdout: &LiveOutput,
    ) -> Result<Finished, ProcessError> {
        let (connection, out, err) = self.start().map_err(ProcessError::Watcher)?;
        let stderr = LiveOutput::default();
        let ((), (), told) = tokio::join!(
            stdout.read(out, order.output),
            stderr.read(err, order.output),
            converse(connection, order, cancel),
        );
        let (ending, left_behind) = told?;
        let (stdout, stderr) = (stdout.so_far(), stderr.so_far());
        Ok(Finished { ending, stdout, stderr, left_behind, notes: Vec::new() })
    }

    fn start(&self) -> io::Result<(UnixStream, pipe::Receiver, pipe::Receiver)> {
        let (ours, theirs) = Connection::pair()?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let mut child = Command::new(&self.program)
            .args([HELPER, WATCH])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(their_stdout))
            .stderr(Stdio::from(their_stderr))
            .spawn()?;
        // Reap the watcher on a separate thread, because the caller may drop this future.
        thread::spawn(move || child.wait());
        ours.set_nonblocking(true)?;
        Ok((
            UnixStream::from_std(ours)?,
            pipe::Receiver::from_owned_fd(stdout.into())?,
            pipe::Receiver::from_owned_fd(stderr.into())?,
        ))
    }
}

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
                // When the connection closes, the watcher kills all processes and reports the
                // result.
                is_wanted = false;
                let _ = writer.shutdown().await;
                continue;
            }
            word = words.next_line() => word,
        };
        match word.ok().flatten().and_then(|text| serde_json::from_str(&text).ok()) {
            Some(WatcherMessage::Started { pid }) => running = Some(pid),
            Some(WatcherMessage::Ended { ending, left_behind }) => {
                return Ok((ending, left_behind));
            }
            Some(WatcherMessage::Refused(refusal)) => return Err(refusal),
            None => {
                // The watcher is gone, so kill the program's process group here. Processes that
                // left the group keep running.
                if let Some(group) = running.and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                return Err(ProcessError::Lost);
            }
        }
    }
}
