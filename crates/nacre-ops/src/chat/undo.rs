//! Takes the changes of a turn back: kept on disk when the turn ends, put back when a person asks.
//!
//! A file is put back only if it is as the turn left it; what somebody changed since stays, and is named. What was taken
//! back is told to the agent with the next turn, so that it does not build on files that are gone.

use nacre_api::wire::{ChatUndoReport, ChatUndoRequest, ErrorCode, KeptPath};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, RelPath, WriteScope, Writer};
use nacre_engine::lifecycle::{Item, TurnEnd};
use nacre_engine::record::state::{Holder, NewItem, SessionRecord, State};
use nacre_engine::record::{NewTask, Runner, Signal, Start, TaskClass, TaskId, TaskState};
use nacre_engine::tools::{NotKept, TakenBack, TurnChanges, TurnFile, Workspace};
use serde::{Deserialize, Serialize};

use super::log::TaskLog;
use super::sessions::named;
use super::shared::open_state;
use crate::error::OpError;
use crate::host::Host;

/// The folder below the global one.
const FOLDER: &str = "undo";

/// Turns of a session that can be taken back; older ones are forgotten.
const MAX_TURNS: usize = 50;

/// A manifest is a list of names.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What a turn changed, beside the files that hold the bytes.
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
    /// Whether it was there; its bytes lie beside the manifest.
    was_there: bool,
    /// Its permission bits then.
    #[serde(default)]
    mode: Option<u32>,
    after: Option<ContentHash>,
}

/// Keeps what a turn changed. Nothing is written for one that changed nothing.
pub(super) fn keep(
    host: &Host,
    log: &TaskLog,
    workspace: &Workspace,
    changes: &TurnChanges,
) -> Result<(), OpError> {
    if changes.files.is_empty() {
        return Ok(());
    }
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    // Names sort by the session's items, so that the last one is its last turn.
    let n_items = open_state(host)?.session(&log.session)?.last_item;
    let name = format!("{}.{n_items:020}.{}", log.session, log.task);
    for (number, file) in changes.files.iter().enumerate() {
        if let Some(bytes) = &file.before {
            writer.write_atomic(&RelPath::new(&format!("{name}.{number}"))?, bytes)?;
        }
    }
    let manifest = Manifest {
        task: log.task.to_string(),
        workspace: workspace.root().display().to_string(),
        files: changes.files.iter().map(kept).collect(),
        not_kept: changes
            .not_kept
            .iter()
            .map(|lost| (lost.what.clone(), lost.why.clone()))
            .collect(),
    };
    // Last: where there is a manifest, there is everything that it names.
    let text = serde_json::to_vec(&manifest).unwrap_or_default();
    writer.write_atomic(&RelPath::new(&format!("{name}.json"))?, &text)?;
    forget_old(&folder, &writer, log.session.as_str());
    Ok(())
}

fn kept(file: &TurnFile) -> KeptFile {
    let TurnFile { path, before, mode, after } = file;
    KeptFile { path: path.to_string(), was_there: before.is_some(), mode: *mode, after: *after }
}

fn folder(host: &Host) -> Result<WriteScope, OpError> {
    Ok(WriteScope::create_inside(host.home_scope()?.path(), FOLDER, Access::Private)?)
}

/// The names of the turns of a session that can be taken back, the oldest first.
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

fn forget_old(folder: &WriteScope, writer: &Writer<'_>, session: &str) {
    let names = turns(folder, session);
    let n_old = names.len().saturating_sub(MAX_TURNS);
    for name in &names[..n_old] {
        forget(folder, writer, name);
    }
}

/// Removes a turn, its manifest first. What is left is removed the next time.
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

/// Takes back the turn that is named, or the last one that changed something.
pub(super) fn undo(host: &Host, request: &ChatUndoRequest) -> Result<ChatUndoReport, OpError> {
    let ChatUndoRequest { session, task } = request;
    let mut state = open_state(host)?;
    let session = named(&state, session)?;
    let folder = folder(host)?;
    let names = turns(&folder, session.id.as_str());
    let is_wanted = |name: &&String| task.as_ref().is_none_or(|task| name.ends_with(task.as_str()));
    let Some(name) = names.iter().rev().find(is_wanted) else {
        return Err(OpError::not_found("There is no change of this session to take back"));
    };
    let (manifest, changes) = read(&folder, name)?;
    let workspace = Workspace::open(manifest.workspace.as_ref(), &[])
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let turn = UndoTurn::begin(host, &mut state, &session)?;
    let TakenBack { changed, kept } = changes.take_back(&workspace);
    let restored: Vec<String> = changed.into_iter().map(|change| change.path).collect();
    turn.end(host, &mut state, &restored)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    forget(&folder, &writer, name);
    let kept = kept.into_iter().map(|NotKept { what, why }| KeptPath { path: what, why }).collect();
    Ok(ChatUndoReport { task: manifest.task, restored, kept })
}

fn read(folder: &WriteScope, name: &str) -> Result<(Manifest, TurnChanges), OpError> {
    let text = folder.read(&RelPath::new(&format!("{name}.json"))?, MAX_MANIFEST_BYTES)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("What the turn changed cannot be read")
    })?;
    let mut files = Vec::with_capacity(manifest.files.len());
    for (number, file) in manifest.files.iter().enumerate() {
        let bytes = RelPath::new(&format!("{name}.{number}"))?;
        let before = match file.was_there {
            true => Some(folder.read(&bytes, MAX_FILE_BYTES)?),
            false => None,
        };
        let (path, mode, after) = (RelPath::new(&file.path)?, file.mode, file.after);
        files.push(TurnFile { path, before, mode, after });
    }
    let lost = |(what, why): &(String, String)| NotKept { what: what.clone(), why: why.clone() };
    let not_kept = manifest.not_kept.iter().map(lost).collect();
    Ok((manifest, TurnChanges { files, not_kept }))
}

/// An undo is a turn of its own, so that nothing else changes the session meanwhile.
struct UndoTurn {
    task: TaskId,
    session: SessionRecord,
    runner: Runner,
}

impl UndoTurn {
    fn begin(host: &Host, state: &mut State, session: &SessionRecord) -> Result<Self, OpError> {
        let task = TaskId::from_random(crate::host::seed(host).rotate_left(17));
        let runner = Runner::here(host.environment.pid);
        let new = NewTask {
            id: task.clone(),
            session: session.id.clone(),
            parent: None,
            project: session.project.clone(),
            agent: "undo".to_owned(),
            class: TaskClass::Interactive,
            title: "Take the last changes back".to_owned(),
        };
        state.accept(&new, &runner, host.now())?;
        if state.start(&task, &runner, host.now())? != Start::Now {
            state.cancel(&task, nacre_engine::record::CancelledBy::Person, host.now())?;
            let busy = OpError::failed("The agent is at work in this session");
            return Err(OpError { code: ErrorCode::Busy, ..busy }.hint("Stop it first, or wait"));
        }
        Ok(Self { task, session: session.clone(), runner })
    }

    fn end(self, host: &Host, state: &mut State, restored: &[String]) -> Result<(), OpError> {
        let done = TaskState::Completed { signal: Signal::Done };
        let told = match restored {
            [] => Vec::new(),
            paths => {
                let text =
                    format!("I took your last changes of these files back: {}", paths.join(", "));
                let said = Item::User { text, attachments: Vec::new() };
                vec![said, Item::End(TurnEnd { state: done, text: None })]
            }
        };
        let items: Vec<NewItem> = told
            .iter()
            .map(|item| NewItem { kind: item.kind().to_owned(), json: item.to_json() })
            .collect();
        let holder = Holder { session: &self.session.id, task: &self.task, runner: &self.runner };
        state.append_items(holder, &items, host.now())?;
        state.go(&self.task, done, host.now())?;
        Ok(())
    }
}
