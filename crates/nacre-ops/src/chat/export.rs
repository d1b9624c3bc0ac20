//! A session in the format that `sync` reads: given to whoever asks, and kept below the global folder after every turn.
//!
//! What is kept there is made from the state and can be made again. An agent's own traces are read the same way, so that
//! nothing about a conversation with Nacre is remembered by other rules.

use std::path::{Path, PathBuf};

use nacre_api::wire::{SessionExportReport, SessionRequest};
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::lifecycle::Item;
use nacre_engine::model::ToolStatus;
use nacre_engine::record::state::{ItemRecord, SessionRecord, State};
use serde::Serialize;

use super::items::value;
use super::sessions::find;
use super::shared::open_state;
use crate::error::OpError;
use crate::host::{Host, SESSIONS_FOLDER};

/// Where exported sessions are kept, below the global folder.
const EXPORTS_FOLDER: &str = "exports";

const FORMAT_VERSION: u32 = 1;

pub(super) fn export(
    host: &Host,
    folder: &Path,
    request: &SessionRequest,
) -> Result<SessionExportReport, OpError> {
    let state = open_state(host)?;
    let session = find(&state, host, folder, request)?;
    let transcript = transcript(&state, &session)?;
    Ok(SessionExportReport { session: session.id.to_string(), transcript })
}

/// Puts the session where `sync` finds it.
pub(super) fn keep(host: &Host, state: &State, session: &SessionRecord) -> Result<(), OpError> {
    let text = transcript(state, session)?;
    let folder =
        WriteScope::create_inside(host.home_scope()?.path(), SESSIONS_FOLDER, Access::Private)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    writer.put_derived(&RelPath::new(&format!("{}.jsonl", session.id))?, text.as_bytes())?;
    Ok(())
}

/// Keeps an exported session as a file of the person's own, and returns where. `sync` does not look there.
pub fn save_export(host: &Host, report: &SessionExportReport) -> Result<PathBuf, OpError> {
    let folder =
        WriteScope::create_inside(host.home_scope()?.path(), EXPORTS_FOLDER, Access::Private)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    let name = RelPath::new(&format!("{}.jsonl", report.session))?;
    writer.put_derived(&name, report.transcript.as_bytes())?;
    Ok(folder.path().join(name.as_str()))
}

fn transcript(state: &State, session: &SessionRecord) -> Result<String, OpError> {
    let records = state.items(&session.id, 0, usize::MAX)?;
    let mut lines = vec![line(&Header::of(session, &records))];
    lines.extend(records.iter().filter_map(event).map(|event| line(&event)));
    lines.push(String::new());
    Ok(lines.join("\n"))
}

fn line(value: &impl Serialize) -> String {
    // Plain data always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

/// The first line.
#[derive(Serialize)]
struct Header<'a> {
    r#type: &'static str,
    version: u32,
    id: &'a str,
    agent: &'static str,
    cwd: &'a Option<String>,
    title: &'a str,
    models: Vec<String>,
    started: String,
    last_activity: String,
}

impl<'a> Header<'a> {
    fn of(session: &'a SessionRecord, records: &[ItemRecord]) -> Self {
        let mut models: Vec<String> = records
            .iter()
            .filter_map(|record| record.json["model"].as_str().map(str::to_owned))
            .collect();
        models.sort_unstable();
        models.dedup();
        Self {
            r#type: "session",
            version: FORMAT_VERSION,
            id: session.id.as_str(),
            agent: "nacre",
            cwd: &session.workspace,
            title: &session.title,
            models,
            started: session.created.to_string(),
            last_activity: session.updated.to_string(),
        }
    }
}

/// Any other line.
#[derive(Default, Serialize)]
struct Event {
    r#type: &'static str,
    text: String,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
}

/// What of an item is told; nothing of what only matters to the host.
fn event(record: &ItemRecord) -> Option<Event> {
    let time = record.at.to_string();
    let plain =
        |r#type, text: String| Event { r#type, text, time: time.clone(), ..Event::default() };
    Some(match Item::from_json(&record.json) {
        Item::User { text, .. } | Item::Steering { text, .. } => plain("user", text),
        Item::Assistant { text, .. } | Item::Interrupted { text } => plain("assistant", text),
        Item::Reasoning { text, .. } => plain("reasoning", text),
        Item::ToolCall { call, tool, arguments, .. } => Event {
            call: Some(call),
            tool: Some(tool),
            ..plain("tool_call", value(&arguments).to_string())
        },
        Item::ToolResult { call, tool, status, text, .. } => Event {
            call: Some(call),
            tool: Some(tool),
            error: Some(status == ToolStatus::Failed),
            ..plain("tool_result", text)
        },
        Item::Summary(summary) => plain("summary", summary.text),
        Item::Remark { text, .. } => Event { origin: Some("host"), ..plain("meta", text) },
        Item::HiddenReasoning { .. }
        | Item::End(_)
        | Item::Notice { .. }
        | Item::Checklist { .. }
        | Item::Unknown => return None,
    })
}
