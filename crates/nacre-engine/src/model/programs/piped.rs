//! Runs one command to its end: fed by standard input, bounded in time and output, and ended with its whole process group.
//!
//! The group is signalled only while its leader has not been waited for, so that no other process of the same number is hit.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nacre_core::config::NACRE_CHILD;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::super::error::{ErrorKind, Fault, Wait};
use super::launch::{Finished, OnOutput, ProgramCall, cannot_start};

/// More of what a program complains about is not kept.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// JSON takes more room than the text in it, and some agents print their whole session.
const MAX_WRAPPING: usize = 4;

/// How long its output is awaited after the program ended, where something else holds the pipe.
const AFTERMATH: Duration = Duration::from_secs(2);

/// Runs a command to its end. Dropping the future ends the command's whole group.
pub(super) async fn run(call: ProgramCall<'_>) -> Result<Finished, Fault> {
    let running = start(&call).map_err(|error| cannot_start(&error))?;
    let limit = call.output_bytes.saturating_mul(MAX_WRAPPING);
    let mut ignored = |_: &[u8]| {};
    let on_output: &mut OnOutput<'_> = match call.on_output {
        Some(on_output) => on_output,
        None => &mut ignored,
    };
    let output = Output { limit, on_output };
    let finish = running.finish(call.launch.stdin, output, call.hopeless);
    let finished = timeout(call.time, finish).await;
    finished.unwrap_or_else(|_| Err(Fault::new(ErrorKind::Timeout(Wait::Total))))
}

/// What becomes of a program's output.
struct Output<'o, 'f> {
    /// In bytes.
    limit: usize,
    on_output: &'o mut OnOutput<'f>,
}

/// A command that runs. Its group ends when this is dropped.
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
        output: Output<'_, '_>,
        hopeless: fn(&str) -> Option<Fault>,
    ) -> Result<Finished, Fault> {
        let Self { stdin, stdout, stderr, mut ended, _group } = self;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = {
            let talk = async {
                tokio::try_join!(
                    feed(stdin, input),
                    read_bounded(stdout, output, &mut out),
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
                    // What is left in the pipes. A process that left the group may hold them open for ever.
                    if let Ok(read) = timeout(AFTERMATH, talk.as_mut()).await {
                        read?;
                    }
                    code
                }
            };
            // The thread that waits tells how it ended, unless it could not.
            ended.ok().flatten()
        };
        Ok(Finished { code, stdout: text(&out), stderr: text(&err) })
    }
}

/// Hands the program its input. One that ends without reading it says why by other means.
async fn feed(mut stdin: pipe::Sender, input: String) -> Result<(), Fault> {
    let _ = stdin.write_all(input.as_bytes()).await;
    Ok(())
}

async fn read_bounded(
    mut pipe: pipe::Receiver,
    output: Output<'_, '_>,
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut chunk = vec![0; 16 << 10];
    loop {
        match pipe.read(&mut chunk).await {
            // What was read before an error is still what was said.
            Ok(0) | Err(_) => return Ok(()),
            Ok(n_read) => {
                let read = chunk.get(..n_read).unwrap_or_default();
                bytes.extend_from_slice(read);
                (output.on_output)(read);
            }
        }
        if output.limit < bytes.len() {
            return Err(Fault::protocol("the answer is too large"));
        }
    }
}

/// Reads to the end and keeps the beginning, so that the program is never kept waiting.
async fn read_beginning(
    mut pipe: pipe::Receiver,
    hopeless: fn(&str) -> Option<Fault>,
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
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

/// The process group of a command; it ends when this is dropped.
struct Group {
    /// `None` once the leader is waited for: its number may be another's then.
    leader: Arc<Mutex<Option<Pid>>>,
}

impl Group {
    fn of(child: &Child) -> Self {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self { leader: Arc::new(Mutex::new(leader)) }
    }

    /// Waits for the leader on a thread of its own, and ends what it left in its group.
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
            // Nobody may be waiting any more.
            let _ = tell.send(code);
        })?;
        Ok(ended)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *leader {
            // It may have ended by itself.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Ends what is left of a group whose leader ended and was not waited for yet.
fn end(leader: &Mutex<Option<Pid>>) {
    let mut leader = leader.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = leader.take() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}
