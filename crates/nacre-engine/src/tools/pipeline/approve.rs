//! A person's yes, between permission and execution.
//!
//! The question is asked when the call could run, so that its diff is against the files as the calls before it left
//! them; and one question at a time. Files that changed while a person was thinking are not what they agreed to.

use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::{ContentHash, ShownLine, unified_diff};
use nacre_core::safefs::RelPath;
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::super::approval::{Approval, ApprovalAnswer, ApprovalKind, ApprovalRequest, Grant};
use super::super::footprint::{Area, Exec, Footprint, MemoryUse, Network};
use super::super::tool::{Preview, PreviewProgram, ToolError};
use super::super::workspace::Workspace;
use super::job::Job;
use crate::model::Cancel;
use crate::record::{ApprovalDecision, BoundedText, Event, Events, Fault};

/// Who says nothing for so long says no.
const PATIENCE: Duration = Duration::from_secs(300);

/// Longer diffs are cut, in whole lines.
const MAX_DIFF_BYTES: usize = 64 << 10;

const MAX_SUMMARY_CHARS: usize = 200;

/// The stage where calls get their yes.
#[derive(Clone)]
pub(super) struct Gate {
    approval: Approval,
    events: Events,
    /// Held while a person is asked.
    turn: Arc<Mutex<()>>,
}

impl Gate {
    pub(super) fn new(approval: Approval, events: Events) -> Self {
        Self { approval, events, turn: Arc::default() }
    }

    /// Returns when the call may run, or says why it may not.
    pub(super) async fn pass(
        &self,
        job: &Job,
        workspace: &Arc<Workspace>,
        cancel: &Cancel,
    ) -> Result<(), ToolError> {
        let kinds = self.approval.policy.needs(&job.footprint);
        if kinds.is_empty() {
            return Ok(());
        }
        // Before the turn: who asks after a cancelled run must not wait for it.
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped(job)),
            turn = self.turn.lock() => turn,
        };
        let (request, seen) = prepare(job, kinds, workspace).await?;
        let grant = Grant::of(&request);
        if self.approval.grants.has(&grant) {
            self.decide(&request, ApprovalDecision::Remembered, None);
            return Ok(());
        }
        match self.ask(&request, cancel).await.ok_or_else(|| stopped(job))? {
            ApprovalAnswer::Once => self.decide(&request, ApprovalDecision::Once, None),
            ApprovalAnswer::Session => {
                self.decide(&request, ApprovalDecision::Session, None);
                self.approval.grants.add(grant);
            }
            ApprovalAnswer::Denied { reason } => {
                self.decide(&request, ApprovalDecision::Denied, Some(&reason));
                return Err(denied(&reason));
            }
        }
        check_unchanged(seen, workspace).await
    }

    /// Asks the person; `None` when the run is stopped meanwhile.
    async fn ask(&self, request: &ApprovalRequest, cancel: &Cancel) -> Option<ApprovalAnswer> {
        let no = |reason: &str| Some(ApprovalAnswer::Denied { reason: reason.to_owned() });
        let Some(approver) = &self.approval.approver else {
            return no("nobody is here who could allow it");
        };
        self.events.emit_with(|| Event::ApprovalRequest {
            call: BoundedText::new(&request.call),
            tool: BoundedText::new(&request.tool),
            summary: BoundedText::new(&request.summary),
        });
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = approver.ask(request) => Some(answer),
            () = sleep(PATIENCE) => no("nobody answered within five minutes"),
        }
    }

    fn decide(&self, request: &ApprovalRequest, decision: ApprovalDecision, why: Option<&str>) {
        self.events.emit_with(|| Event::ApprovalDecision {
            call: BoundedText::new(&request.call),
            tool: BoundedText::new(&request.tool),
            decision,
            why: why.map(BoundedText::new),
        });
    }
}

fn stopped(job: &Job) -> ToolError {
    let what = format!("`{}` was cancelled before it was allowed", job.tool.spec().name);
    ToolError::new(Fault::Cancelled, what, "The run is being stopped.")
}

fn denied(reason: &str) -> ToolError {
    let what = match reason.trim() {
        "" => "The person said no".to_owned(),
        reason => format!("This was not allowed: {reason}"),
    };
    let hint = "Do not try the same in another way. Go on without it, or ask what they would like instead.";
    ToolError::new(Fault::Denied, what, hint)
}

/// A file as the person was shown it.
type Seen = Vec<(RelPath, Option<ContentHash>)>;

/// Looks at what the call would do, beside the runtime. A call that could not be made anyway is not asked about.
async fn prepare(
    job: &Job,
    kinds: std::collections::BTreeSet<ApprovalKind>,
    workspace: &Arc<Workspace>,
) -> Result<(ApprovalRequest, Seen), ToolError> {
    let (tool, arguments) = (Arc::clone(&job.tool), job.arguments.clone());
    let (footprint, call) = (job.footprint.clone(), job.call.clone());
    let workspace = Arc::clone(workspace);
    let prepared = tokio::task::spawn_blocking(move || {
        let preview = tool.preview(&arguments)?;
        let (diff, is_diff_cut, seen) = diff_of(&preview, &workspace)?;
        let name = tool.spec().name.to_owned();
        let request = ApprovalRequest {
            call,
            summary: summary(&name, &preview, &footprint),
            tool: name,
            kinds,
            footprint: in_words(&footprint, preview.folder.as_deref()),
            host: match &footprint.network {
                Network::Host(host) => Some(host.clone()),
                Network::Nothing | Network::Anything => None,
            },
            program: preview.program,
            diff,
            is_diff_cut,
        };
        Ok((request, seen))
    });
    prepared.await.unwrap_or_else(|_| Err(super::broken::broken(job.tool.spec().name)))
}

/// The diff of everything that the call would change, whether it is cut, and the files that it was made against.
fn diff_of(
    preview: &Preview,
    workspace: &Workspace,
) -> Result<(Option<String>, bool, Seen), ToolError> {
    let mut text = String::new();
    let mut seen = Vec::with_capacity(preview.files.len());
    for (path, after) in &preview.files {
        let before = match workspace.read(path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.fault == Fault::NotFound => None,
            Err(error) => return Err(error),
        };
        seen.push((path.clone(), before.as_deref().map(ContentHash::of)));
        if text.len() <= MAX_DIFF_BYTES {
            let before = before.as_deref().map(String::from_utf8_lossy);
            text += &unified_diff(path.as_str(), before.as_deref(), after.as_deref());
        }
    }
    let is_cut = MAX_DIFF_BYTES < text.len();
    if is_cut {
        let end =
            text[..text.floor_char_boundary(MAX_DIFF_BYTES)].rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    Ok(((!preview.files.is_empty()).then_some(text), is_cut, seen))
}

/// Refuses a call whose files are not those that the person was shown.
async fn check_unchanged(seen: Seen, workspace: &Arc<Workspace>) -> Result<(), ToolError> {
    let workspace = Arc::clone(workspace);
    let changed = tokio::task::spawn_blocking(move || {
        seen.into_iter().find(|(path, before)| {
            let now = workspace.read(path).ok().as_deref().map(ContentHash::of);
            now != *before
        })
    });
    match changed.await {
        Ok(None) => Ok(()),
        Ok(Some((path, _))) => {
            let what = format!("`{path}` changed while the person was asked");
            Err(ToolError::new(Fault::Stale, what, "Read it again with `file_read`."))
        }
        Err(_) => Err(super::broken::broken("approval")),
    }
}

fn summary(tool: &str, preview: &Preview, footprint: &Footprint) -> String {
    let files: Vec<&str> = preview.files.iter().map(|(path, _)| path.as_str()).collect();
    let text = match (&preview.program, files.as_slice(), &footprint.network) {
        (Some(PreviewProgram::Argv(argv)), ..) => format!("Run {}", argv.join(" ")),
        (Some(PreviewProgram::Script(script)), ..) => format!("Run the script: {script}"),
        (None, [], Network::Host(host)) => format!("Connect to {host}"),
        (None, [], _) if footprint.memory == MemoryUse::Changes => "Change memories".to_owned(),
        (None, [], _) => format!("Call {tool}"),
        (None, [path], _) => format!("{} {path}", verb(preview)),
        (None, [from, to], _) if tool == "file_move" => format!("Move {from} to {to}"),
        (None, many, _) => format!("Change {} files: {}", many.len(), many.join(", ")),
    };
    // Nothing hides behind blanks.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = ShownLine(&text).to_string();
    match line.char_indices().nth(MAX_SUMMARY_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What happens to the one file of a preview.
fn verb(preview: &Preview) -> &'static str {
    match preview.files.first() {
        Some((_, None)) => "Delete",
        Some((_, Some(_))) | None => "Write",
    }
}

/// What a call would touch, in words.
fn in_words(footprint: &Footprint, folder: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    match footprint.exec {
        Exec::Anything => words.push(match folder {
            Some(folder) => format!("starts a program in {}", ShownLine(folder)),
            None => "starts a program".to_owned(),
        }),
        Exec::Helper => words.push("starts git".to_owned()),
        Exec::Nothing => {}
    }
    words.extend(footprint.writes.iter().map(|area| format!("may change {}", place(area))));
    match &footprint.network {
        Network::Host(host) => words.push(format!("connects to {}", ShownLine(host))),
        Network::Anything => words.push("may connect anywhere".to_owned()),
        Network::Nothing => {}
    }
    if footprint.memory == MemoryUse::Changes {
        words.push("changes memories".to_owned());
    }
    words
}

fn place(area: &Area) -> String {
    match area {
        Area::File(path) => path.to_string(),
        Area::Tree(Some(path)) => format!("everything below {path}/"),
        Area::Tree(None) => "everything in the workspace".to_owned(),
    }
}
