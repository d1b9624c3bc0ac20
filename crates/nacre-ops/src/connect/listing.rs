//! Lists the agents and checks whether their configuration works.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use nacre_base::platform::ext::CommandExt as _;
use nacre_traces::agent_config::{
    ConnectedPart, Edit, EntryState, FileEdit, HookEvent, Places, Program,
};
use nacre_traces::agents::{ADAPTERS, AgentSpec, connectable_agent, connectable_agents, trust};
use nacre_types::{
    AgentCheck, AgentEntry, CheckState, ConnectDoctorReport, ConnectReport, PartCheck, WiringPart,
    WiringState,
};
use serde_json::{Value, json};

use super::apply::TRUST_NOTE;
use super::plan::{AgentFile, file_of, places};
use crate::hook::last_failure;
use crate::host::{connections, homes, short};
use crate::prelude::*;

pub(super) fn list(host: &Host) -> Result<ConnectReport> {
    let connections = connections(host, &[])?;
    let homes = homes(host)?;
    let files = AgentFiles::of(host)?;
    let agents = super::names().into_iter().map(|name| {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == name);
        let connection = connections.iter().find(|connection| connection.agent.as_str() == name);
        let mut entry = AgentEntry { agent: name.to_owned(), ..AgentEntry::default() };
        if let Some(adapter) = adapter {
            let usual = || adapter.roots(&homes);
            let roots = connection.map_or_else(usual, |connection| connection.roots.clone());
            let discovery = adapter.discover(&roots);
            entry.connected = connection.is_some();
            entry.traces = if entry.connected { WiringState::On } else { WiringState::Off };
            entry.sources = discovery.sources.len() as u64;
            entry.roots = roots.iter().map(|root| short(host, root)).collect();
            let problems = discovery.problems.iter();
            entry.problems = problems.map(|problem| problem.error.to_string()).collect();
        }
        if let Some(spec) = connectable_agent(name) {
            for part in ConnectedPart::USUAL {
                let state = match files.state(spec, part) {
                    None => WiringState::NotPossible,
                    Some(Ok(EntryState::Current)) => WiringState::On,
                    Some(Ok(EntryState::Outdated)) => WiringState::Outdated,
                    Some(Ok(EntryState::Missing)) => WiringState::Off,
                    Some(Err(problem)) => {
                        entry.problems.push(problem);
                        WiringState::Off
                    }
                };
                match part {
                    ConnectedPart::Mcp => entry.mcp = state,
                    ConnectedPart::Hooks => entry.hooks = state,
                    ConnectedPart::Skill => entry.skill = state,
                    ConnectedPart::Trust => {}
                }
            }
            entry.problems.dedup();
        }
        entry
    });
    let agents: Vec<AgentEntry> = agents.collect();
    let is_untrusted =
        |entry: &AgentEntry| entry.hooks != WiringState::Off && files.lacks_trust(&entry.agent);
    let note = agents.iter().any(is_untrusted).then(|| TRUST_NOTE.to_owned());
    Ok(ConnectReport { agents, notes: note.into_iter().collect(), ..ConnectReport::default() })
}

pub(super) struct AgentFiles {
    pub(super) places: Places,
    /// Directories that must contain the files once links are resolved.
    pub(super) roots: Vec<PathBuf>,
    pub(super) program: PathBuf,
}

impl AgentFiles {
    pub(super) fn of(host: &Host) -> Result<Self> {
        let (places, roots) = places(host)?;
        let program = host.environment.program.clone().unwrap_or_else(|| PathBuf::from("nacre"));
        Ok(Self { places, roots, program })
    }

    pub(super) fn program(&self, has_guard: bool) -> Program {
        Program { path: self.program.clone(), has_guard }
    }

    /// Returns whether the agent is or was used on this machine.
    pub(super) fn is_used(&self, spec: &AgentSpec) -> bool {
        spec.signs(&self.places).iter().any(|sign| sign.exists())
    }

    /// Returns the state of a part in an agent's file. An entry is valid with or without the guard.
    pub(super) fn state(
        &self,
        spec: &AgentSpec,
        part: ConnectedPart,
    ) -> Option<Result<EntryState, String>> {
        let (guarded, text) = self.read_configured(spec, part, true)?;
        let text = match text {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        let (plain, _) = self.read_configured(spec, part, false)?;
        let state = |edit: &FileEdit| {
            edit.edit.state(&text).map_err(|error| self.problem(edit, &error.to_string()))
        };
        Some(match (state(&plain), state(&guarded)) {
            (Ok(EntryState::Current), _) | (_, Ok(EntryState::Current)) => Ok(EntryState::Current),
            (other, _) => other,
        })
    }

    /// Returns whether the agent runs its hooks only once they are trusted, and trusts none.
    fn lacks_trust(&self, agent: &str) -> bool {
        let place = AgentFile::find(file_of(&trust(&self.places, &[])), &self.roots);
        let text = place.and_then(|place| place.read()).ok().flatten().unwrap_or_default();
        let is_trusted = |line: &str| line.contains("hooks.state") && line.contains("hooks.json");
        agent == "codex" && !text.lines().any(is_trusted)
    }

    fn problem(&self, edit: &FileEdit, why: &str) -> String {
        format!("Cannot read `{}`: {why}", file_of(edit).display())
    }

    /// Returns a part's expected entry and the file's text, or `None` if the agent does not support
    /// the part.
    fn read_configured(
        &self,
        spec: &AgentSpec,
        part: ConnectedPart,
        has_guard: bool,
    ) -> Option<(FileEdit, Result<String, String>)> {
        let edit = spec.edit(part, &self.places, &self.program(has_guard))?;
        let read = AgentFile::find(file_of(&edit), &self.roots).and_then(|place| place.read());
        let text = read
            .map(Option::unwrap_or_default)
            .map_err(|error| self.problem(&edit, error.causes.first().unwrap_or(&error.message)));
        Some((edit, text))
    }
}

const PROTOCOL: &str = "2025-06-18";

const MAX_NAMES: usize = 4;

/// Checks the named agents, or else all configured agents.
pub fn doctor(host: &Host, agents: &[String]) -> Result<ConnectDoctorReport> {
    let named: Vec<&AgentSpec> = agents
        .iter()
        .map(|name| super::find_agent(name))
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    let files = AgentFiles::of(host)?;
    let all: Vec<&AgentSpec> =
        if named.is_empty() { connectable_agents().collect() } else { named.clone() };
    let checks = all.into_iter().map(|spec| AgentCheck {
        agent: spec.name.to_owned(),
        checks: ConnectedPart::USUAL
            .iter()
            .filter_map(|part| check(host, &files, spec, *part))
            .collect(),
    });
    // Several agents read the same skill file, so the skill alone does not mean that this agent is
    // connected.
    let is_off =
        |check: &PartCheck| check.state == CheckState::Off || check.part == WiringPart::Skill;
    let agents = checks.filter(|agent| !named.is_empty() || !agent.checks.iter().all(is_off));
    Ok(ConnectDoctorReport { agents: agents.collect() })
}

fn check(
    host: &Host,
    files: &AgentFiles,
    spec: &AgentSpec,
    part: ConnectedPart,
) -> Option<PartCheck> {
    let wire_part = WiringPart::from_name(part.as_str())?;
    let (edit, text) = files.read_configured(spec, part, false)?;
    let flag = part.as_str();
    let again = || Some(format!("nacre connect {} --{flag}", spec.name));
    let failed = |detail: String, hint: Option<String>| PartCheck {
        part: wire_part,
        state: CheckState::Failed,
        detail,
        hint,
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return Some(failed(error, None)),
    };
    match files.state(spec, part)? {
        Err(error) => return Some(failed(error, None)),
        Ok(EntryState::Missing) => {
            let (state, detail) = (CheckState::Off, "not connected".to_owned());
            return Some(PartCheck { part: wire_part, state, detail, hint: again() });
        }
        Ok(EntryState::Current | EntryState::Outdated) => {}
    }
    let seen = match part {
        ConnectedPart::Mcp => shake_hands(host, &edit.edit, &text),
        ConnectedPart::Hooks => match fire(host, files, spec, &edit.edit, &text) {
            Ok(_) if files.lacks_trust(spec.name) => {
                let detail = "Codex does not run them, because they are not trusted".to_owned();
                return Some(failed(detail, Some(TRUST_NOTE.to_owned())));
            }
            seen => seen,
        },
        ConnectedPart::Skill | ConnectedPart::Trust => {
            Ok(format!("read from {}", edit.candidates[0].display()))
        }
    };
    Some(match seen {
        Ok(detail) => PartCheck { part: wire_part, state: CheckState::Ok, detail, hint: None },
        Err(error) => failed(error, again()),
    })
}

fn shake_hands(host: &Host, edit: &Edit, text: &str) -> Result<String, String> {
    let command = edit.find_command(text).ok_or("the entry has no command")?;
    let (program, args) = command.split_first().ok_or("the entry has no command")?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut server = Dialogue::start(host, Path::new(program), &args)?;
    let client = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "nacre-doctor", "version": env!("CARGO_PKG_VERSION")},
    });
    let version = Some("2.0");
    server.ask("initialize", client, version)?;
    server.tell("notifications/initialized", version)?;
    let tools = server.ask("tools/list", json!({}), version)?;
    let tools = tools["tools"].as_array().ok_or("`tools/list` did not return a list")?;
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let shown = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    Ok(format!("{} tools: {shown}{more}", names.len()))
}

const NOTHING: &str = "a session started here would get nothing from Nacre";

fn fire(
    host: &Host,
    files: &AgentFiles,
    spec: &AgentSpec,
    edit: &Edit,
    text: &str,
) -> Result<String, String> {
    let command = match edit.find_command(text) {
        Some(command) => command.join(" "),
        // An up-to-date hook script runs exactly this command.
        None if files.state(spec, ConnectedPart::Hooks) == Some(Ok(EntryState::Current)) => {
            files.program(false).hook(spec.name, HookEvent::Start)
        }
        None => return Err("it differs from what this version writes".to_owned()),
    };
    let event = json!({
        // A session that already has its brief gets nothing, so every run is a new session.
        "session_id": format!("nacre-doctor-{}-{}", host.environment.pid, host.now()),
        "transcript_path": Value::Null,
        "cwd": host.environment.folder,
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let (code, stdout) = run_shell(host, &command, &event.to_string())?;
    match code {
        Some(0) => Ok(match (stdout.trim().chars().count(), last_failure(host)) {
            (0, None) => NOTHING.to_owned(),
            (0, Some(line)) => format!("{NOTHING}; the last error in its log: {line}"),
            (n, _) => format!("a session started here would get {n} characters from Nacre"),
        }),
        Some(code) => Err(format!("`{command}` exited with code {code}")),
        None => Err(format!("`{command}` was killed")),
    }
}

const LIMIT: Duration = Duration::from_secs(10);

const MAX_LINE_BYTES: u64 = 4 << 20;

/// A program that prints more lines before it responds is not an MCP server.
const MAX_LINES: usize = 1000;

const PAUSE: Duration = Duration::from_millis(10);

/// A running program that exchanges JSON messages, one per line. The program is killed on drop.
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
        let (stdin, stdout) = pipes.ok_or("its pipes are not available")?;
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

    /// Sends a notification, for which no response is expected.
    pub(super) fn tell(&mut self, method: &str, version: Option<&str>) -> Result<(), String> {
        self.send(&add_version(json!({"method": method}), version))
    }

    pub(super) fn ask(
        &mut self,
        method: &str,
        params: Value,
        version: Option<&str>,
    ) -> Result<Value, String> {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = json!({"id": id, "method": method});
        message["params"] = params;
        self.send(&add_version(message, version))?;
        for _ in 0..MAX_LINES {
            let line = self.lines.recv_timeout(LIMIT).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => {
                    format!("no response to `{method}` within {} seconds", LIMIT.as_secs())
                }
                mpsc::RecvTimeoutError::Disconnected => {
                    format!("it exited without a response to `{method}`")
                }
            })?;
            let Ok(mut answer) = serde_json::from_str::<Value>(&line) else {
                return Err(format!("its response to `{method}` is not JSON"));
            };
            if answer["id"] == id {
                return match answer.get("error") {
                    Some(error) => Err(format!("`{method}` failed: {}", error["message"])),
                    None => Ok(answer["result"].take()),
                };
            }
        }
        Err(format!("no response to `{method}` in {MAX_LINES} messages"))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let sent = writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| "it exited before the first request".to_owned())
    }
}

fn add_version(mut message: Value, version: Option<&str>) -> Value {
    if let Some(version) = version {
        message["jsonrpc"] = version.into();
    }
    message
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a shell command with `input`, just as an agent runs a hook. Returns the exit code and the
/// output.
fn run_shell(host: &Host, line: &str, input: &str) -> Result<(Option<i32>, String), String> {
    let mut command = nacre_base::platform::shell(line, None);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn(host, command)?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut stdin, stdout) = pipes.ok_or("its pipes are not available")?;
    let input = input.to_owned();
    thread::spawn(move || {
        // A hook may exit without reading its input, so ignore errors.
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
            return Ok((status.code(), stdout));
        }
        thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("it did not exit within {} seconds", LIMIT.as_secs()))
}

fn spawn(host: &Host, mut command: Command) -> Result<Child, String> {
    let environment = &host.environment;
    command.env_clear().envs(environment.vars.iter().map(|(name, value)| (name, value)));
    command.current_dir(&environment.folder).process_group(0);
    command.spawn().map_err(|error| format!("it could not be started: {error}"))
}
