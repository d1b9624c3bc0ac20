//! Reverts a turn's file changes, which are recorded when the turn ends.
//!
//! A file that has been modified since then is not reverted but listed in the report. The agent is
//! told about the undo in its next turn, so that it does not rely on reverted changes.

use nacre_base::fs::Writer;
use nacre_base::redact::ExtraWords;
use nacre_engine::lifecycle::{Item, TurnEnd};
use nacre_engine::record::state::{NewItem, SessionRecord, State, TaskStore as _};
use nacre_engine::record::{NewTask, Runner, Signal, Start, TaskClass, TaskId, TaskState};
use nacre_engine::tools::{TakenBack, TurnChanges, TurnFile, Workspace};
use nacre_types::{ChatUndoReport, ChatUndoRequest, PathProblem};
use serde::{Deserialize, Serialize};

use super::log::TaskLog;
use super::open_state;
use super::sessions::find_session;
use crate::host::new_task;
use crate::prelude::*;

const FOLDER: &str = "undo";

/// Number of turns per session that can be reverted. Older records are deleted.
const MAX_TURNS: usize = 50;

const MAX_MANIFEST_BYTES: u64 = 4 << 20;
const MAX_FILE_BYTES: u64 = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    task: String,
    workspace: String,
    files: Vec<KeptFile>,
    not_kept: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptFile {
    path: String,
    /// Whether the file existed before the turn. If so, its contents are stored next to the
    /// manifest.
    was_there: bool,
    #[serde(default)]
    mode: Option<u32>,
    after: Option<ContentHash>,
}

pub(super) fn keep(
    host: &Host,
    log: &TaskLog,
    workspace: &Workspace,
    changes: &TurnChanges,
) -> Result<()> {
    if changes.files.is_empty() {
        return Ok(());
    }
    let folder = host.home_folder(FOLDER)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    // Names are sorted by item number, so the last name belongs to the last turn.
    let n_items = open_state(host)?.session(&log.session)?.last_item;
    let name = format!("{}.{n_items:020}.{}", log.session, log.task);
    for (number, file) in changes.files.iter().enumerate() {
        if let Some(bytes) = &file.before {
            writer.write_atomic(&RelPath::new(&format!("{name}.{number}"))?, bytes)?;
        }
    }
    let note = |TurnFile { path, before, mode, after }: &TurnFile| KeptFile {
        path: path.to_string(),
        was_there: before.is_some(),
        mode: *mode,
        after: *after,
    };
    let lost = |PathProblem { path, why }: &PathProblem| (path.clone(), why.clone());
    let manifest = Manifest {
        task: log.task.to_string(),
        workspace: workspace.root().display().to_string(),
        files: changes.files.iter().map(note).collect(),
        not_kept: changes.not_kept.iter().map(lost).collect(),
    };
    // The manifest is written last. If the manifest exists, so do all of its files.
    let text = serde_json::to_vec(&manifest).unwrap_or_default();
    writer.write_atomic(&RelPath::new(&format!("{name}.json"))?, &text)?;
    let names = turns(&folder, log.session.as_str());
    let n_old = names.len().saturating_sub(MAX_TURNS);
    names[..n_old].iter().for_each(|name| forget(&folder, &writer, name));
    Ok(())
}

fn turns(folder: &WriteScope, session: &str) -> Vec<String> {
    let is_its = |name: &String| {
        name.strip_prefix(session).is_some_and(|rest| rest.starts_with('.'))
            && name.ends_with(".json")
    };
    let entries = folder.root().and_then(|root| root.list()).unwrap_or_default();
    let names = entries.into_iter().map(|entry| entry.name).filter(is_its);
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    names.sort_unstable();
    names
}

/// Removes a turn's record, starting with its manifest. The next call removes any files that are
/// left over.
fn forget(folder: &WriteScope, writer: &Writer<'_>, name: &str) {
    let entries = folder.root().and_then(|root| root.list()).unwrap_or_default();
    let mut files: Vec<String> = entries
        .into_iter()
        .map(|entry| entry.name)
        .filter(|file| file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
        .collect();
    files.sort_by_key(|file| !file.ends_with(".json"));
    for file in files {
        if let Ok(path) = RelPath::new(&file) {
            let _ = writer.remove_derived(&path);
        }
    }
}

/// Reverts the given turn, or else the last turn that changed files.
pub(super) fn undo(host: &Host, request: &ChatUndoRequest) -> Result<ChatUndoReport> {
    let ChatUndoRequest { session, task } = request;
    let mut state = open_state(host)?;
    let session = find_session(&state, session)?;
    let folder = host.home_folder(FOLDER)?;
    let names = turns(&folder, session.id.as_str());
    let is_wanted = |name: &&String| task.as_ref().is_none_or(|task| name.ends_with(task.as_str()));
    let Some(name) = names.iter().rev().find(is_wanted) else {
        return Err(OpError::not_found("No change in this session can be undone"));
    };
    let (manifest, changes) = read(&folder, name)?;
    let workspace =
        Workspace::open(manifest.workspace.as_ref(), &[]).map_err(|error| OpError::wrap(&error))?;
    let (turn, runner) = begin(host, &mut state, &session)?;
    let TakenBack { changed, kept } = changes.take_back(&workspace);
    let restored: Vec<String> = changed.into_iter().map(|change| change.path).collect();
    let done = TaskState::Completed { signal: Signal::Done };
    let mut items: Vec<NewItem> = Vec::new();
    if !restored.is_empty() {
        let text = format!("I undid your last changes to these files: {}", restored.join(", "));
        let said = Item::User { text, attachments: Vec::new() };
        let end = Item::End(TurnEnd { state: done, text: None });
        items.extend([said.to_new(), end.to_new()]);
    }
    state.append_items(&session.id, &turn, &runner, &items, host.now())?;
    state.go(&turn, done, host.now())?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    forget(&folder, &writer, name);
    Ok(ChatUndoReport { task: manifest.task, restored, kept })
}

fn read(folder: &WriteScope, name: &str) -> Result<(Manifest, TurnChanges)> {
    let text = folder.read(&RelPath::new(&format!("{name}.json"))?, MAX_MANIFEST_BYTES)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
        OpError::failed("The record of the turn's changes cannot be read").because(error)
    })?;
    let mut files = Vec::with_capacity(manifest.files.len());
    for (number, file) in manifest.files.iter().enumerate() {
        let bytes = RelPath::new(&format!("{name}.{number}"))?;
        let before = if file.was_there { Some(folder.read(&bytes, MAX_FILE_BYTES)?) } else { None };
        let (path, mode, after) = (RelPath::new(&file.path)?, file.mode, file.after);
        files.push(TurnFile { path, before, mode, after });
    }
    let lost =
        |(path, why): &(String, String)| PathProblem { path: path.clone(), why: why.clone() };
    let not_kept = manifest.not_kept.iter().map(lost).collect();
    Ok((manifest, TurnChanges { files, not_kept }))
}

/// Starts a turn, so that nothing else changes the session during the undo.
fn begin(host: &Host, state: &mut State, session: &SessionRecord) -> Result<(TaskId, Runner)> {
    let task = TaskId::from_random(crate::host::seed(host).rotate_left(17));
    let runner = Runner::here(host.environment.pid);
    let (title, words) = ("Undo the last changes", ExtraWords::default());
    let new = NewTask {
        session: session.id.clone(),
        project: session.project.clone(),
        ..new_task(host, &task, "undo", TaskClass::Interactive, title, &words)
    };
    state.accept(&new, &runner, host.now())?;
    if state.start(&task, &runner, host.now())? != Start::Now {
        state.cancel(&task, nacre_engine::record::CancelledBy::Person, host.now())?;
        return Err(OpError::new(ErrorCode::Busy, "The agent is still working in this session")
            .hint("Stop the agent first, or wait"));
    }
    Ok((task, runner))
}
