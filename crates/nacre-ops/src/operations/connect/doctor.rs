//! Starts what is configured, as each agent would, and says what it would see.

use std::path::Path;

use nacre_api::wire::{
    AgentCheck, CheckState, ConnectDoctorReport, ConnectDoctorRequest, PartCheck, WiringPart,
};
use nacre_core::agent_config::{AGENTS, AgentSpec, Edit, EntryState, HookEvent, Part};
use serde_json::{Value, json};

use super::dialogue::{Dialogue, run_shell};
use super::listing::Files;
use crate::error::OpError;
use crate::host::Host;

/// The version of MCP that is asked for.
const PROTOCOL: &str = "2025-06-18";

/// Names of tools that are shown.
const MAX_NAMES: usize = 4;

/// Checks the agents that have something configured, or those that are named.
pub fn doctor(host: &Host, request: &ConnectDoctorRequest) -> Result<ConnectDoctorReport, OpError> {
    let named: Vec<&AgentSpec> = request
        .agents
        .iter()
        .map(|name| super::known(name))
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    let files = Files::of(host)?;
    let all: Vec<&AgentSpec> = if named.is_empty() { AGENTS.to_vec() } else { named.clone() };
    let checks = all.into_iter().map(|spec| AgentCheck {
        agent: spec.name.to_owned(),
        checks: Part::USUAL.iter().filter_map(|part| check(host, &files, spec, *part)).collect(),
    });
    // Several agents read one file of the skill: it alone does not tell that an agent is connected.
    let is_off =
        |check: &PartCheck| check.state == CheckState::Off || check.part == WiringPart::Skill;
    let agents = checks.filter(|agent| !named.is_empty() || !agent.checks.iter().all(is_off));
    Ok(ConnectDoctorReport { agents: agents.collect() })
}

fn check(host: &Host, files: &Files, spec: &AgentSpec, part: Part) -> Option<PartCheck> {
    let wire_part = match part {
        Part::Mcp => WiringPart::Mcp,
        Part::Hooks => WiringPart::Hooks,
        Part::Skill => WiringPart::Skill,
        Part::Trust => return None,
    };
    let (edit, text) = files.configured(spec, part, false)?;
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
        Part::Mcp => shake_hands(host, &edit.edit, &text),
        Part::Hooks => fire(host, files, spec, &edit.edit, &text),
        Part::Skill | Part::Trust => Ok(format!("read from {}", edit.candidates[0].display())),
    };
    Some(match seen {
        Ok(detail) => PartCheck { part: wire_part, state: CheckState::Ok, detail, hint: None },
        Err(error) => failed(error, again()),
    })
}

/// Starts the configured server and asks for its tools.
fn shake_hands(host: &Host, edit: &Edit, text: &str) -> Result<String, String> {
    let command = edit.configured_command(text).ok_or("the entry names no command")?;
    let (program, args) = command.split_first().ok_or("the entry names no command")?;
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
    let tools = tools["tools"].as_array().ok_or("`tools/list` returned no list")?;
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let shown = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    Ok(format!("{} tools: {shown}{more}", names.len()))
}

/// Fires the hook that runs when a session starts.
fn fire(
    host: &Host,
    files: &Files,
    spec: &AgentSpec,
    edit: &Edit,
    text: &str,
) -> Result<String, String> {
    let command = match edit.configured_command(text) {
        Some(command) => command.join(" "),
        // A script of ours starts exactly this, if it is as we would write it.
        None if files.state(spec, Part::Hooks) == Some(Ok(EntryState::Current)) => {
            files.program(false).hook(spec.name, HookEvent::Start)
        }
        None => return Err("it is not as this version would write it".to_owned()),
    };
    let event = json!({
        "session_id": "nacre-connect-doctor",
        "transcript_path": Value::Null,
        "cwd": host.environment.folder,
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let printed = run_shell(host, &command, &event.to_string())?;
    match printed.code {
        Some(0) => Ok(match printed.stdout.trim().chars().count() {
            0 => "a session would start with nothing to add here".to_owned(),
            n_chars => format!("a session would start with {n_chars} characters from Nacre"),
        }),
        Some(code) => Err(format!("`{command}` ended with {code}")),
        None => Err(format!("`{command}` was killed")),
    }
}
