//! Runs one turn without a terminal UI and prints the answer. Actions that need approval are
//! denied.

use nacre_ops::Cancel;
use nacre_types::{
    ApprovalAnswer, ApprovalAnswerRequest, ChatStartReport, ChatStartRequest, ChatTurnReport,
    ErrorCode, Report as _, RpcCall, RpcMessage, SessionCreateRequest, SessionReport, TaskMessage,
    TaskRef, TaskState, TaskUpdate,
};

use super::ChatArgs;
use super::conversations::Conversations;
use crate::acp::Link;
use crate::cli::prelude::*;

const NOBODY: &str = "No user to ask: this turn was started by a script";

pub(super) fn print(ui: &mut Ui, conversations: &Conversations, args: &ChatArgs) -> CommandResult {
    if args.words.is_empty() {
        return Err(OpError::usage("Chat requires a terminal")
            .hint("Pass the message as an argument: nacre chat -p \"Why does the test fail?\""));
    }
    let cancel = ui.cancellable_events().cancel().clone();
    let mut link = conversations.link()?;
    let open = open_call(args, conversations.folder());
    let report = conversations.runtime.block_on(run_turn(ui, &mut link, args, open, &cancel))?;
    if args.stream_json {
        return Ok(report.outcome().into());
    }
    let exit = ui.report(&report, show)?;
    match (report.failure, report.state) {
        _ if ui.is_json() => Ok(exit),
        (Some(failure), _) => Err(failure.into()),
        (None, TaskState::Cancelled) => Err(OpError::cancelled()),
        (None, _) => {
            // Hints go to standard error, because scripts read the answer from standard output.
            ui.hint(&format!("Continue: nacre chat --resume {}", report.session));
            Ok(exit)
        }
    }
}

async fn run_turn(
    ui: &mut Ui,
    link: &mut Link,
    args: &ChatArgs,
    open: RpcCall,
    cancel: &Cancel,
) -> Result<ChatTurnReport> {
    let session: SessionReport = link.ask(open).await?;
    let start = ChatStartRequest {
        session: session.session.id,
        text: args.words.join(" "),
        policy: args.policy,
        ..ChatStartRequest::default()
    };
    let ChatStartReport { task, session } = link.ask(RpcCall::ChatStart(start)).await?;
    let mut report = ChatTurnReport::new(session, task.clone());
    let mut is_stopped = false;
    while !report.state.is_over() {
        let message = tokio::select! {
            message = link.messages.recv() => message,
            () = cancel.cancelled(), if !is_stopped => {
                is_stopped = true;
                link.requests.send(RpcCall::ChatAbort(TaskRef { task: task.clone() }));
                continue;
            }
        };
        let message = match message {
            Some(RpcMessage::Task(message)) => message,
            Some(RpcMessage::Answer(_)) => continue,
            None => {
                let hint = format!(
                    "The session is saved; continue it: nacre chat --resume {}",
                    report.session
                );
                let message = "Lost the connection to the agent: the server stopped";
                return Err(OpError::new(ErrorCode::Unavailable, message).hint(hint));
            }
        };
        if args.stream_json {
            ui.json_line(&message);
            ui.flush()?;
        }
        apply(link, &mut report, message);
    }
    Ok(report)
}

fn open_call(args: &ChatArgs, folder: String) -> RpcCall {
    match args.session(folder.clone()) {
        Some(session) => RpcCall::SessionGet(session),
        None => RpcCall::SessionCreate(SessionCreateRequest {
            workspace: Some(folder),
            model: args.model.clone(),
            policy: args.policy,
            ..SessionCreateRequest::default()
        }),
    }
}

/// Adds a message to the report, and denies approval requests.
fn apply(link: &Link, report: &mut ChatTurnReport, message: TaskMessage) {
    if let TaskUpdate::Approval(question) = message.update {
        report.denied.push(question.summary);
        let answer = ApprovalAnswer::Deny { reason: NOBODY.to_owned() };
        let request = ApprovalAnswerRequest { approval: question.approval, answer };
        link.requests.send(RpcCall::ApprovalAnswer(request));
    } else if let TaskUpdate::Completed(end) = message.update {
        report.state = TaskState::Completed;
        report.signal = Some(end.signal);
        report.text = end.text;
        report.reason = end.reason;
        report.changed = end.changed;
        report.usage = end.usage;
    } else if let TaskUpdate::Failed { error, usage } = message.update {
        report.state = TaskState::Failed;
        report.failure = Some(error);
        report.usage = usage;
    } else if let TaskUpdate::Cancelled { by } = message.update {
        report.state = TaskState::Cancelled;
        report.reason = Some(by);
    }
}

fn show(ui: &mut Ui, report: &ChatTurnReport) {
    if !report.text.is_empty() {
        ui.text(&report.text);
    }
    for summary in &report.denied {
        ui.warning(
            format!("Not allowed: {summary}"),
            Some(
                "To allow file changes, use `--policy auto-edit`; to allow programs too, `--policy \
             full`",
            ),
        );
    }
}
