//! A program that is started, asked and ended: within a time, and whatever it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use nacre_core::platform::ext::CommandExt as _;
use serde_json::Value;

use crate::host::Host;

/// How long one answer, or a hook, may take.
const LIMIT: Duration = Duration::from_secs(10);

/// A longer line is not an answer.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// More lines than this without the answer are not a dialogue.
const MAX_LINES: usize = 1000;

/// How often it is looked whether a program has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that speaks JSON, a message a line. It ends with this.
pub(super) struct Dialogue {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    next_id: u64,
}

impl Dialogue {
    pub(super) fn start(host: &Host, program: &Path, args: &[&str]) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = spawn(host, command)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or("its pipes are missing")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!((&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line), Ok(1..))
            {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, lines, next_id: 1 })
    }

    /// Sends a message that has no answer.
    pub(super) fn tell(&mut self, method: &str, version: Option<&str>) -> Result<(), String> {
        let mut message = serde_json::Map::new();
        message.extend(version.map(|version| ("jsonrpc".to_owned(), version.into())));
        message.insert("method".to_owned(), method.into());
        self.send(&Value::Object(message))
    }

    /// Sends a request and returns its result.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: Value,
        version: Option<&str>,
    ) -> Result<Value, String> {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = serde_json::Map::new();
        message.extend(version.map(|version| ("jsonrpc".to_owned(), version.into())));
        message.insert("id".to_owned(), id.into());
        message.insert("method".to_owned(), method.into());
        message.insert("params".to_owned(), params);
        self.send(&Value::Object(message))?;
        for _ in 0..MAX_LINES {
            let line = self.lines.recv_timeout(LIMIT).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => {
                    format!("no answer to `{method}` within {} seconds", LIMIT.as_secs())
                }
                mpsc::RecvTimeoutError::Disconnected => {
                    format!("it ended without an answer to `{method}`")
                }
            })?;
            let Ok(mut answer) = serde_json::from_str::<Value>(&line) else {
                return Err(format!("it printed something else than JSON at `{method}`"));
            };
            if answer["id"] == id {
                return match answer.get("error") {
                    Some(error) => Err(format!("`{method}` failed: {}", error["message"])),
                    None => Ok(answer["result"].take()),
                };
            }
        }
        Err(format!("no answer to `{method}` among {MAX_LINES} messages"))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let sent = writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| "it ended before it was asked".to_owned())
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command printed.
pub(super) struct Printed {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
}

/// Runs a line of shell with `input`, as an agent runs a hook.
pub(super) fn run_shell(host: &Host, line: &str, input: &str) -> Result<Printed, String> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn(host, command)?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut stdin, stdout) = pipes.ok_or("its pipes are missing")?;
    let input = input.to_owned();
    thread::spawn(move || {
        // A hook need not read what it is told.
        let _ = stdin.write_all(input.as_bytes());
    });
    let (sender, output) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(MAX_LINE_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    let n_looks = LIMIT.as_millis() / PAUSE.as_millis();
    for _ in 0..n_looks {
        if let Ok(Some(status)) = child.try_wait() {
            let stdout = output.recv_timeout(LIMIT).unwrap_or_default();
            return Ok(Printed { code: status.code(), stdout });
        }
        thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("it did not end within {} seconds", LIMIT.as_secs()))
}

/// Starts a program with the variables that the person's agents have.
fn spawn(host: &Host, mut command: Command) -> Result<Child, String> {
    let environment = &host.environment;
    command.env_clear().envs(environment.vars.iter().map(|(name, value)| (name, value)));
    command.current_dir(&environment.folder).process_group(0);
    command.spawn().map_err(|error| format!("it cannot be started: {error}"))
}
