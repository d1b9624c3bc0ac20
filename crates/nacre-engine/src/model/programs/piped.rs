//! Runs a command until it exits, with data on standard input and limits on time and output, then
//! kills its process group.
//!
//! Signals are sent to the group only until its leader has been reaped, because the process ID may
//! be reused afterwards.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use nacre_base::config::NACRE_CHILD;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::model::error::{ErrorKind, Fault, Result, Wait};
use crate::model::programs::launch::{Finished, ProgramCall, cannot_start};

const MAX_ERROR_BYTES: usize = 64 << 10;

/// Maximum ratio of output size to answer size. Answers are encoded as JSON, and some agents print
/// the entire session.
const MAX_WRAPPING: usize = 4;

/// How long to keep reading output after the program has exited, in case another process keeps the
/// pipe open.
const AFTERMATH: Duration = Duration::from_secs(2);

/// Runs a command until it exits. Dropping the future kills the process group.
pub(super) async fn run(call: ProgramCall<'_>) -> Result<Finished> {
    let running = start(&call).map_err(|error| cannot_start(&error))?;
    let limit = call.output_bytes.saturating_mul(MAX_WRAPPING);
    let finish = running.finish(call.launch.stdin, limit, call.hopeless);
    let finished = timeout(call.time, finish).await;
    finished.unwrap_or_else(|_| Err(Fault::new(ErrorKind::Timeout(Wait::Total))))
}

struct Running {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    ended: oneshot::Receiver<Option<i32>>,
    _group: Group,
}

fn start(call: &ProgramCall<'_>) -> io::Result<Running> {
    let (their_stdin, stdin) = io::pipe()?;
    let (stdout, their_stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    let ours = |name: &str| !name.starts_with("NACRE_");
    let variables = call.settings.variables.iter().filter(|(name, _)| ours(name));
    let child = Command::new(call.program)
        .args(&call.launch.arguments)
        .env_clear()
        .envs(variables.map(|(name, value)| (name, value)))
        .envs(call.launch.variables.iter().map(|(name, value)| (name, value)))
        .env("PATH", call.settings.path())
        .env("PWD", call.folder)
        .env(NACRE_CHILD, "1")
        .current_dir(call.folder)
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(their_stdin)))
        .stdout(Stdio::from(OwnedFd::from(their_stdout)))
        .stderr(Stdio::from(OwnedFd::from(their_stderr)))
        .spawn()?;
    let group = Group::of(&child);
    let ended = group.watch(child)?;
    Ok(Running {
        stdin: pipe::Sender::from_owned_fd(stdin.into())?,
        stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
        stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
        ended,
        _group: group,
    })
}

impl Running {
    async fn finish(
        self,
        input: String,
        max_bytes: usize,
        hopeless: fn(&str) -> Option<Fault>,
    ) -> Result<Finished> {
        let Self { stdin, stdout, stderr, mut ended, _group } = self;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = {
            let talk = async {
                tokio::try_join!(
                    feed(stdin, input),
                    read_bounded(stdout, max_bytes, &mut out),
                    read_beginning(stderr, hopeless, &mut err),
                )
            };
            tokio::pin!(talk);
            let ended = tokio::select! {
                read = talk.as_mut() => {
                    read?;
                    ended.await
                }
                code = &mut ended => {
                    // A process that left the group may keep the pipes open forever, so the
                    // remaining output is read with a timeout.
                    if let Ok(read) = timeout(AFTERMATH, talk.as_mut()).await {
                        read?;
                    }
                    code
                }
            };
            ended.ok().flatten()
        };
        Ok(Finished { code, stdout: text(&out), stderr: text(&err) })
    }
}

/// Writes the input to the program. Ignores write errors, because a program that exits without
/// reading its input reports the reason in its output.
async fn feed(mut stdin: pipe::Sender, input: String) -> Result<()> {
    let _ = stdin.write_all(input.as_bytes()).await;
    Ok(())
}

async fn read_bounded(
    mut pipe: pipe::Receiver,
    max_bytes: usize,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let mut chunk = vec![0; 16 << 10];
    loop {
        match pipe.read(&mut chunk).await {
            // Keep the output that was read before the error.
            Ok(0) | Err(_) => return Ok(()),
            Ok(n_read) => bytes.extend_from_slice(chunk.get(..n_read).unwrap_or_default()),
        }
        if max_bytes < bytes.len() {
            return Err(Fault::protocol("the answer is too large"));
        }
    }
}

/// Reads all output but keeps only the beginning, so that the program never blocks on a full pipe.
async fn read_beginning(
    mut pipe: pipe::Receiver,
    hopeless: fn(&str) -> Option<Fault>,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let mut chunk = vec![0; 16 << 10];
    while let Ok(n_read @ 1..) = pipe.read(&mut chunk).await {
        let n_kept = n_read.min(MAX_ERROR_BYTES.saturating_sub(bytes.len()));
        bytes.extend_from_slice(chunk.get(..n_kept).unwrap_or_default());
        match hopeless(&text(bytes)) {
            Some(fault) if 0 < n_kept => return Err(fault),
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The process group of a command. Dropping it kills the group.
struct Group {
    /// `None` once the leader has been reaped, because its process ID may be reused.
    leader: Arc<Mutex<Option<Pid>>>,
}

impl Group {
    fn of(child: &Child) -> Self {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self { leader: Arc::new(Mutex::new(leader)) }
    }

    /// Starts a thread that waits for the leader to exit and then kills the other processes in its
    /// group.
    fn watch(&self, mut child: Child) -> io::Result<oneshot::Receiver<Option<i32>>> {
        let leader = Arc::clone(&self.leader);
        let (tell, ended) = oneshot::channel();
        let waiting = thread::Builder::new().name("agent".to_owned());
        waiting.spawn(move || {
            let known = *leader.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pid) = known {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while waitid(WaitId::Pid(pid), options).err() == Some(rustix::io::Errno::INTR) {}
            }
            end(&leader);
            let code = child.wait().ok().and_then(|status| status.code());
            // The receiver may have been dropped.
            let _ = tell.send(code);
        })?;
        Ok(ended)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *leader {
            // The process may have exited already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

fn end(leader: &Mutex<Option<Pid>>) {
    let mut leader = leader.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = leader.take() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}
