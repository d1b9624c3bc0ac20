//! Lists runs, and shows their actions, costs and model messages. A cloned repository can contain
//! run directories, so every read is limited.

use nacre_engine::record::{Event, Record};
use nacre_traces::transcript::Agent;
use nacre_types::{
    ItemId, LimitRequest, MaintainAction, MessageRole, OpenContradiction, RunCounts, RunEntry,
    RunListReport, RunMessage, RunMessagesReport, RunMetrics, RunMode, RunReport, RunShowReport,
    SessionAction, SessionRun, StoreMaintenance, UndoRunReport,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::prelude::*;
use crate::run::change::{StoredChange, changes, list_runs};
use crate::run::folder::{self, MAX_ARTIFACT_BYTES, METRICS_FILE, RunId, UndoError};

pub fn show(host: &Host, request: &ItemId) -> Result<RunShowReport> {
    let store = host.store_to_write(None)?.store;
    match find_runs(&store, &request.id)?.as_slice() {
        [run] => show_run(&store, run),
        runs => {
            let runs = runs.iter().map(|run| show_run(&store, run)).collect::<Result<_, _>>()?;
            Ok(RunShowReport { id: request.id.clone(), report: None, metrics: None, runs })
        }
    }
}

fn show_run(store: &Store, id: &RunId) -> Result<RunShowReport> {
    Ok(RunShowReport {
        id: id.to_string(),
        report: read_record(store, id)?,
        metrics: read_metrics(store, id)?,
        runs: Vec::new(),
    })
}

pub(super) fn find(store: &Store, text: &str) -> Result<RunId> {
    match find_runs(store, text)?.as_slice() {
        [only] => Ok(only.clone()),
        runs => {
            let message = format!("`{text}` matches {} runs, one for each session", runs.len());
            Err(OpError::new(ErrorCode::Ambiguous, message)
                .hint(format!("`nacre runs {text}` lists them")))
        }
    }
}

/// Finds runs. `text` names a run, or a change that consists of several runs.
fn find_runs(store: &Store, text: &str) -> Result<Vec<RunId>> {
    let all = changes(store)?;
    let change = all.iter().find(|change| change.id == text);
    if let Some(change) = change.filter(|change| !change.runs.is_empty()) {
        return Ok(change.runs.clone());
    }
    match folder::find(store, text) {
        // If all matching runs are part of the same change, `text` refers to that change.
        Err(error @ UndoError::Ambiguous { .. }) => {
            let has_named =
                |change: &&StoredChange| change.runs.iter().any(|run| run.is_named(text));
            let named: Vec<&StoredChange> = all.iter().filter(has_named).collect();
            match named.as_slice() {
                [only] => Ok(only.runs.clone()),
                _ => Err(error.into()),
            }
        }
        found => Ok(vec![found?]),
    }
}

pub fn list(host: &Host, request: &LimitRequest, events: &Events) -> Result<RunListReport> {
    let scoped = host.store_to_write(None)?;
    let runs = list_runs(&scoped.store)?;
    let total = runs.len();
    let limit = host.max_results(request.limit);
    let mut reader = RunReader::new(&scoped.store);
    let changes = changes(&scoped.store)?;
    let runs = runs.into_iter().take(limit).map(|id| {
        entry(&mut reader, &changes, &id).unwrap_or_else(|error| {
            // An unreadable run directory must not prevent the other runs from being listed.
            events.warning(error.message, None);
            RunEntry { id: id.to_string(), mode: None, counts: None, of: String::new() }
        })
    });
    let runs = runs.collect();
    if reader.n_unread != 0 {
        let message = format!("{} older runs are listed without their actions", reader.n_unread);
        events.warning(message, Some("nacre runs RUN"));
    }
    Ok(RunListReport { runs, total })
}

fn entry(reader: &mut RunReader<'_>, changes: &[StoredChange], id: &RunId) -> Result<RunEntry> {
    let (mode, counts, of) = match reader.record(id)? {
        Some(RunReport::Sync(report)) => {
            let counts = RunCounts::Sync(report.counts);
            (Some(report.mode), Some(counts), report.trace_path)
        }
        Some(RunReport::Maintain(report)) => {
            let counts = RunCounts::Maintain(report.counts);
            (Some(RunMode::Maintain), Some(counts), String::new())
        }
        Some(RunReport::Undo(record)) => (Some(RunMode::Undo), None, record.of),
        None => {
            let is_its = |change: &&StoredChange| change.is_own && change.runs.contains(id);
            let command = changes.iter().find(is_its).map(|change| change.command.clone());
            (None, None, command.unwrap_or_default())
        }
    };
    Ok(RunEntry { id: id.to_string(), mode, counts, of })
}

const MAX_ALL_BYTES: u64 = 32 << 20;

/// Reads a run's report. Returns `None` if the file is missing or was not written by Nacre.
pub fn read_record(store: &Store, id: &RunId) -> Result<Option<RunReport>, FsError> {
    RunReader::new(store).record(id)
}

#[derive(Debug)]
pub struct RunReader<'a> {
    store: &'a Store,
    n_left: u64,
    /// The number of records that were skipped because the budget was used up.
    n_unread: usize,
}

impl<'a> RunReader<'a> {
    pub fn new(store: &'a Store) -> Self {
        Self { store, n_left: MAX_ALL_BYTES, n_unread: 0 }
    }

    /// Reads a run's report. Returns `None` if the file is missing or invalid, or if the budget is
    /// used up.
    pub fn record(&mut self, id: &RunId) -> Result<Option<RunReport>, FsError> {
        if self.n_left == 0 {
            self.n_unread += 1;
            return Ok(None);
        }
        let bytes = bytes_of(self.store, id, id.actions_file())?;
        let Some(bytes) = bytes else { return Ok(None) };
        self.n_left = self.n_left.saturating_sub(bytes.len() as u64);
        let report = if id.is_of(RunMode::Maintain) {
            parse_json(&bytes).map(Box::new).map(RunReport::Maintain)
        } else if id.is_of(RunMode::Undo) {
            parse_json(&bytes).map(RunReport::Undo)
        } else {
            parse_json(&bytes).map(Box::new).map(RunReport::Sync)
        };
        Ok(report.filter(has_valid_ids))
    }
}

/// Reads a run's metrics. Returns `None` if the file is missing or invalid.
pub fn read_metrics(store: &Store, id: &RunId) -> Result<Option<RunMetrics>, FsError> {
    let Some(bytes) = bytes_of(store, id, METRICS_FILE)? else {
        return Ok(None);
    };
    Ok(if id.is_of(RunMode::Maintain) {
        parse_json(&bytes).map(Box::new).map(RunMetrics::Maintain)
    } else {
        parse_json(&bytes).map(Box::new).map(RunMetrics::Sync)
    })
}

fn has_valid_ids(report: &RunReport) -> bool {
    let is_run = |id: &String| id.parse::<RunId>().is_ok();
    let is_memory = |id: &String| id.parse::<MemoryId>().is_ok();
    match report {
        RunReport::Sync(report) => {
            let SessionRun { run_id, agent, actions, .. } = &**report;
            let ids = |action: &SessionAction| {
                let ids = [&action.target, &action.supersedes, &action.nearest];
                ids.into_iter().flatten().all(is_memory)
            };
            is_run(run_id) && Agent::from_name(agent).is_some() && actions.iter().all(ids)
        }
        RunReport::Maintain(report) => {
            let StoreMaintenance { run_id, actions, contradictions, .. } = &**report;
            let ids = |action: &MaintainAction| {
                is_memory(&action.target) && action.with.iter().all(is_memory)
            };
            let pair = |pair: &OpenContradiction| is_memory(&pair.newer) && is_memory(&pair.older);
            run_id.iter().all(is_run) && actions.iter().all(ids) && contradictions.iter().all(pair)
        }
        RunReport::Undo(UndoRunReport { run_id, runs, .. }) => {
            is_run(run_id) && runs.iter().all(is_run)
        }
    }
}

fn bytes_of(store: &Store, id: &RunId, name: &str) -> Result<Option<Vec<u8>>, FsError> {
    store.scope().read_optional(&id.folder()?.join(name)?, MAX_ARTIFACT_BYTES)
}

pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

pub fn messages(host: &Host, request: &ItemId) -> Result<RunMessagesReport> {
    let store = host.store_to_write(None)?.store;
    let id = find(&store, &request.id)?;
    read_messages(&store, &id)
}

fn read_messages(store: &Store, id: &RunId) -> Result<RunMessagesReport> {
    let metrics = bytes_of(store, id, METRICS_FILE)?;
    let metrics: Value = metrics.and_then(|bytes| parse_json(&bytes)).unwrap_or_default();
    let mut found = RunMessagesReport { run: id.to_string(), messages: Vec::new(), left_out: 0 };
    if metrics["model_calls"].as_u64().unwrap_or(0) == 0 {
        return Ok(found);
    }
    let text = |name: &str| -> Result<String> {
        let bytes = bytes_of(store, id, name)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let agent = text("agent.log")?;
    if id.is_of(RunMode::Maintain) {
        agent.lines().for_each(|line| push(&mut found, note(line)));
    } else {
        let lines = agent + &text("subagents.log")?;
        let messages = lines.lines().filter_map(parse_message);
        messages.for_each(|message| push(&mut found, message));
    }
    Ok(found)
}

const MAX_TEXT_BYTES: usize = 16 << 10;

/// Maximum number of messages to return. Any others are only counted.
const MAX_MESSAGES: usize = 2000;

fn push(found: &mut RunMessagesReport, mut message: RunMessage) {
    if message.text.trim().is_empty() && message.tool.is_none() {
        return;
    }
    if found.messages.len() == MAX_MESSAGES {
        found.left_out += 1;
        return;
    }
    if message.text.len() > MAX_TEXT_BYTES {
        message.text.truncate(message.text.floor_char_boundary(MAX_TEXT_BYTES));
        message.text.push('…');
    }
    found.messages.push(message);
}

fn note(text: impl Into<String>) -> RunMessage {
    RunMessage { role: MessageRole::System, text: text.into(), at: None, tool: None }
}

/// Parses a message from a line of the log. Returns `None` if the event has no text.
fn parse_message(line: &str) -> Option<RunMessage> {
    let Ok(Record { at, event, .. }) = serde_json::from_str(line) else {
        // The first line of a log is a bare event that is not enclosed in a record.
        let Ok(Event::Notice { text }) = serde_json::from_str(line) else { return None };
        return Some(note(text));
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other events say nothing")]
    let message = match event {
        Event::RunPrepare { agent, model, n_tools } => {
            note(format!("{agent} started with {model} and {n_tools} tools"))
        }
        Event::ModelRetry { why, .. } | Event::CompletionReopen { why, .. } => note(why),
        Event::ModelFallback { why, to, .. } => note(format!("{why}; switching to {to}")),
        Event::ModelError { model, why, .. } => note(format!("{model}: {why}")),
        Event::RunSteer { text, .. } => RunMessage { role: MessageRole::User, ..note(text) },
        Event::Notice { text } | Event::Error { what: text, .. } => note(text),
        Event::BudgetBlock { limit } => note(format!("The budget of {limit} steps is used up")),
        Event::ToolCall { tool, arguments, .. } => {
            RunMessage { role: MessageRole::Assistant, tool: Some(tool.into()), ..note(arguments) }
        }
        Event::ToolDenied { tool, why, .. } => {
            RunMessage { role: MessageRole::Tool, tool: Some(tool.into()), ..note(why) }
        }
        Event::ToolResult(facts) => {
            let text = match facts.fault {
                Some(fault) => format!("failed: {}", fault.as_str()),
                None => format!("{} bytes", facts.bytes_out),
            };
            RunMessage { role: MessageRole::Tool, tool: Some(facts.tool.into()), ..note(text) }
        }
        _ => return None,
    };
    Some(RunMessage { at: Some(at.to_string()), ..message })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests create their own runs")]

    use std::fs;

    use nacre_base::fs::{Access, WriteScope};
    use nacre_memory::Rules;

    use super::*;
    use crate::run::folder;

    #[test]
    fn the_runs_of_one_command_are_bounded_in_sum() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..5 {
            let id = format!("undo-20260101-00000{n}-aaaaaaaa");
            let path = folder.path().join("workspace").join(&id);
            fs::create_dir_all(&path).unwrap();
            let text = format!(
                r#"{{"run_id":"{id}","mode":"undo","of":"{id}","finished_at":"","actions":[],"written_paths":[]}}"#
            );
            fs::write(path.join("memory_actions.json"), text).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let read = |n_left: u64| {
            let mut reader = RunReader { store: &store, n_left, n_unread: 0 };
            let runs = folder::list(&store).unwrap();
            let read = runs.iter().filter_map(|id| reader.record(id).unwrap()).count();
            (read, reader.n_unread)
        };
        assert_eq!(read(200), (2, 3), "each has more than 100 bytes");
        assert_eq!(read(MAX_ALL_BYTES), (5, 0));
    }
}

#[cfg(test)]
mod record_tests {
    #![expect(clippy::disallowed_methods, reason = "the test acts as a run's model")]

    use std::fs;

    use nacre_types::{ErrorCode, MessageRole, SyncRequest};

    use super::*;
    use crate::events::Events;
    use crate::sync::sync;
    use crate::test::Place;

    #[test]
    fn a_run_without_a_model_has_no_messages() {
        let place = Place::new();
        place.talk("one", "Always use pnpm here, never npm.");
        let host = place.host();
        sync(&host, &SyncRequest::default(), &Events::discard()).unwrap();
        let asked = |run: &str| messages(&host, &ItemId { id: run.to_owned() });
        let found = asked("sync-").unwrap();
        assert_eq!((found.messages.len(), found.left_out), (0, 0));

        let metrics =
            place.root().join("work/.nacre/workspace").join(&found.run).join("metrics.json");
        let text = fs::read_to_string(&metrics).unwrap();
        fs::write(&metrics, text.replace("\"model_calls\": 0", "\"model_calls\": 1")).unwrap();
        let found = asked(&found.run).unwrap();
        assert_eq!(found.messages.len(), 1, "what the log begins with");
        assert_eq!(found.messages[0].role, MessageRole::System);
        assert_eq!(asked("sync-none").unwrap_err().code, ErrorCode::NotFound);
    }
}

#[cfg(test)]
mod log_tests {
    #![expect(clippy::disallowed_methods, reason = "the tests create their own runs")]

    use std::fs;

    use jiff::Timestamp;
    use nacre_base::fs::{Access, WriteScope};
    use nacre_memory::Rules;

    use super::*;
    use nacre_engine::record::TaskId;

    fn read(run: &str, files: &[(&str, &str)]) -> Vec<(MessageRole, String, Option<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace").join(run);
        fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let found = read_messages(&store, &run.parse().unwrap()).unwrap();
        let plain = |one: RunMessage| (one.role, one.text, one.tool);
        found.messages.into_iter().map(plain).collect()
    }

    #[test]
    fn a_lead_is_quoted_from_its_events() {
        let record = Record {
            task: TaskId::from_random(7),
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            event: Event::ToolCall {
                step: 1,
                call: "c".into(),
                tool: "read_file".into(),
                arguments: "{}".into(),
            },
        };
        let call = serde_json::to_string(&record).unwrap();
        let notice = r#"{"event":"notice","text":"A model was called 2 times to read."}"#;
        let log = format!("{notice}\n{call}\nnot an event\n");
        let metrics = (METRICS_FILE, r#"{"model_calls":2}"#);
        let run = "sync-20260101-000000-aaaaaaaa";
        let told = (MessageRole::System, "A model was called 2 times to read.".to_owned(), None);
        let called = (MessageRole::Assistant, "{}".to_owned(), Some("read_file".to_owned()));
        let agent = ("agent.log", log.as_str());
        assert_eq!(read(run, &[metrics, agent]), [told.clone(), called.clone()]);
        let explorers = ("subagents.log", call.as_str());
        assert_eq!(read(run, &[metrics, agent, explorers]), [told, called.clone(), called]);
        assert_eq!(read(run, &[(METRICS_FILE, r#"{"model_calls":0}"#), agent]), []);
        assert_eq!(read(run, &[agent]), [], "no message says that a model was called");
        let maintained = [metrics, ("agent.log", "20260101-a 20260101-b: taken\n")];
        let note = "20260101-a 20260101-b: taken".to_owned();
        let expected = [(MessageRole::System, note, None)];
        assert_eq!(read("maintain-20260101-000000-aaaaaaaa", &maintained), expected);
    }
}
