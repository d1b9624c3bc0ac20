//! Asks the user to approve a call, after the permission check and before execution.
//!
//! Calls are approved one at a time, immediately before they run, so that the diff includes the
//! effects of earlier calls. If a file changes after the user has seen the diff, the approval is
//! void.

use std::sync::Arc;
use std::time::Duration;

use nacre_base::fs::RelPath;
use nacre_base::text::collapse_whitespace;
use nacre_base::{ContentHash, ShownLine, format_unified_diff};
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::confine::Program;
use crate::model::Cancel;
use crate::record::{ApprovalDecision, BoundedText, Event, Events, Fault};
use crate::tools::approval::{
    Approval, ApprovalAnswer, ApprovalKind, ApprovalRequest, grant_of, needs,
};
use crate::tools::footprint::{Area, Exec, Footprint, MemoryUse};
use crate::tools::pipeline::execute::Job;
use crate::tools::tool::{Preview, Result, ToolError};
use crate::tools::workspace::Workspace;

/// Time after which an unanswered request is denied.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

const MAX_DIFF_BYTES: usize = 64 << 10;

const MAX_SUMMARY_CHARS: usize = 200;

#[derive(Clone)]
pub(super) struct Gate {
    approval: Approval,
    events: Events,
    turn: Arc<Mutex<()>>,
}

impl Gate {
    pub(super) fn new(approval: Approval, events: Events) -> Self {
        Self { approval, events, turn: Arc::default() }
    }

    pub(super) async fn pass(
        &self,
        job: &Job,
        workspace: &Arc<Workspace>,
        cancel: &Cancel,
    ) -> Result<()> {
        let kinds = needs(self.approval.policy, &job.footprint);
        if kinds.is_empty() {
            return Ok(());
        }
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stop_error(job)),
            turn = self.turn.lock() => turn,
        };
        let (request, seen) = prepare(job, kinds, workspace).await?;
        let grant = grant_of(&request);
        if self.approval.grants.has(&grant) {
            self.decide(&request, ApprovalDecision::Remembered, None);
            return Ok(());
        }
        match self.ask(&request, cancel).await.ok_or_else(|| stop_error(job))? {
            ApprovalAnswer::Once => self.decide(&request, ApprovalDecision::Once, None),
            ApprovalAnswer::Session => {
                self.decide(&request, ApprovalDecision::Session, None);
                self.approval.grants.add(grant);
            }
            ApprovalAnswer::Deny { reason } => {
                self.decide(&request, ApprovalDecision::Denied, Some(&reason));
                return Err(denial_error(&reason));
            }
        }
        check_unchanged(seen, workspace).await
    }

    async fn ask(&self, request: &ApprovalRequest, cancel: &Cancel) -> Option<ApprovalAnswer> {
        let no = |reason: &str| Some(ApprovalAnswer::Deny { reason: reason.to_owned() });
        let Some(approver) = &self.approval.approver else {
            return no("no user is available to approve it");
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
            () = sleep(ANSWER_TIMEOUT) => no("no answer within five minutes"),
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

fn stop_error(job: &Job) -> ToolError {
    let what = format!("`{}` was cancelled before it was approved", job.tool.spec().name);
    ToolError::new(Fault::Cancelled, what, "The run is being stopped.")
}

fn denial_error(reason: &str) -> ToolError {
    let what = match reason.trim() {
        "" => "The user declined".to_owned(),
        reason => format!("This was not approved: {reason}"),
    };
    let hint =
        "Do not try to get around this. Continue without it, or ask what the user would prefer.";
    ToolError::new(Fault::Denied, what, hint)
}

/// The files that the user saw, and the version of each.
type Seen = Vec<(RelPath, Option<ContentHash>)>;

/// Builds the preview on a blocking thread. Calls that would fail anyway are rejected without
/// asking the user.
async fn prepare(
    job: &Job,
    kinds: std::collections::BTreeSet<ApprovalKind>,
    workspace: &Arc<Workspace>,
) -> Result<(ApprovalRequest, Seen)> {
    let (tool, arguments) = (Arc::clone(&job.tool), job.arguments.clone());
    let (footprint, call) = (job.footprint.clone(), job.call.clone());
    let workspace = Arc::clone(workspace);
    let prepared = tokio::task::spawn_blocking(move || {
        let preview = tool.preview(&arguments)?;
        let (diff, is_diff_cut, seen) = diff_of(&preview, &workspace)?;
        let name = tool.spec().name.to_owned();
        let host = footprint.host.clone();
        if diff.is_none() && preview.program.is_none() && host.is_none() {
            let what = format!("`{name}` cannot show what it would do");
            return Err(ToolError::new(Fault::Denied, what, "Continue without it."));
        }
        let request = ApprovalRequest {
            call,
            summary: summary(&name, &preview, &footprint),
            tool: name,
            kinds,
            footprint: in_words(&footprint, preview.folder.as_deref()),
            host,
            program: preview.program,
            memory: preview.memory,
            diff,
            is_diff_cut,
        };
        Ok((request, seen))
    });
    prepared.await.unwrap_or_else(|_| Err(super::execute::internal_error(job.tool.spec().name)))
}

fn diff_of(preview: &Preview, workspace: &Workspace) -> Result<(Option<String>, bool, Seen)> {
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
            text += &format_unified_diff(path.as_str(), before.as_deref(), after.as_deref());
        }
    }
    if let Some(memory) = &preview.memory {
        text += &format_unified_diff("memory", None, Some(memory));
    }
    let is_cut = MAX_DIFF_BYTES < text.len();
    if is_cut {
        let end =
            text[..text.floor_char_boundary(MAX_DIFF_BYTES)].rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    Ok(((!text.is_empty()).then_some(text), is_cut, seen))
}

async fn check_unchanged(seen: Seen, workspace: &Arc<Workspace>) -> Result<()> {
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
            let what = format!("`{path}` changed while waiting for approval");
            Err(ToolError::new(Fault::Stale, what, "Read it again with `file_read`."))
        }
        Err(_) => Err(super::execute::internal_error("approval")),
    }
}

fn summary(tool: &str, preview: &Preview, footprint: &Footprint) -> String {
    let files: Vec<&str> = preview.files.iter().map(|(path, _)| path.as_str()).collect();
    let text = match (&preview.program, files.as_slice(), &footprint.host) {
        _ if preview.memory.is_some() => {
            format!("Change memories: {}", preview.memory.as_deref().unwrap_or_default())
        }
        (Some(Program::Argv { name, arguments }), ..) => {
            format!("Run {name} {}", arguments.join(" "))
        }
        (Some(Program::Script(script)), ..) => format!("Run the script: {script}"),
        (None, [], Some(host)) => format!("Connect to {host}"),
        (None, [], _) => format!("Call {tool}"),
        (None, [path], _) => {
            let is_deleted = preview.files.first().is_some_and(|(_, after)| after.is_none());
            format!("{} {path}", if is_deleted { "Delete" } else { "Write" })
        }
        (None, [from, to], _) if tool == "file_move" => format!("Move {from} to {to}"),
        (None, many, _) => format!("Change {} files: {}", many.len(), many.join(", ")),
    };
    // A long run of spaces could push the end of the line out of view.
    let text = collapse_whitespace(&text);
    let line = ShownLine(&text).to_string();
    match line.char_indices().nth(MAX_SUMMARY_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

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
    words.extend(footprint.host.as_ref().map(|host| format!("connects to {}", ShownLine(host))));
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
