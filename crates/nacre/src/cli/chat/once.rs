//! One turn for a script: the words go in, the answer comes out, and what needs a person's yes is denied.

use nacre_api::wire::{
    ApprovalAnswer, ApprovalAnswerRequest, ChatAbortRequest, ChatStartReport, ChatStartRequest,
    ChatTurnReport, ErrorCode, Report as _, RpcCall, SessionCreateRequest, SessionReport,
    TaskMessage, TaskState, TaskUpdate,
};
use nacre_ops::{Cancel, OpError};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ChatArgs;
use super::line::Line;
use super::link::Conversations;

/// What the agent is told where it asks for a yes.
const NOBODY: &str = "Nobody is there to ask: this turn was started by a script";

pub(super) fn print(
    ui: &mut Ui,
    conversations: &Conversations,
    args: &ChatArgs,
) -> Result<Exit, OpError> {
    if args.words.is_empty() {
        return Err(OpError::usage("There is no terminal to talk on")
            .hint("Say what is to be done: nacre chat -p \"Why does the test fail?\""));
    }
    let cancel = ui.cancellable_events().cancel().clone();
    let mut line = conversations.line()?;
    let open = open(args, conversations.folder());
    let report = conversations.runtime.block_on(turn(ui, &mut line, (args, open), &cancel))?;
    if args.stream_json {
        return Ok(report.outcome().into());
    }
    ui.report(&report, show)
}

/// Runs the turn to its end.
async fn turn(
    ui: &mut Ui,
    line: &mut Line,
    (args, open): (&ChatArgs, RpcCall),
    cancel: &Cancel,
) -> Result<ChatTurnReport, OpError> {
    let session: SessionReport = line.ask(open).await?;
    let start = ChatStartRequest {
        session: session.session.id,
        text: args.words.join(" "),
        policy: args.policy.map(Into::into),
        ..ChatStartRequest::default()
    };
    let ChatStartReport { task, session } = line.ask(RpcCall::ChatStart(start)).await?;
    let mut told = ChatTurnReport::new(session, task.clone());
    let mut is_stopped = false;
    loop {
        let message = tokio::select! {
            message = line.next() => message,
            () = cancel.cancelled(), if !is_stopped => {
                is_stopped = true;
                line.send(RpcCall::ChatAbort(ChatAbortRequest { task: task.clone() }))?;
                continue;
            }
        };
        let Some(message) = message else { return Err(gone(&told.session)) };
        if args.stream_json {
            ui.json_line(&message)?;
            ui.flush();
        }
        if let Some(report) = take(line, &mut told, message)? {
            return Ok(report);
        }
    }
}

/// The server that the agent was in has ended. The session is kept.
fn gone(session: &str) -> OpError {
    let error = OpError::failed("The agent is gone: the server has ended");
    OpError { code: ErrorCode::Unavailable, ..error }
        .hint(format!("The session is kept; go on with it: nacre chat --resume {session}"))
}

fn open(args: &ChatArgs, folder: String) -> RpcCall {
    match args.session(folder.clone()) {
        Some(session) => RpcCall::SessionGet(session),
        None => RpcCall::SessionCreate(SessionCreateRequest {
            workspace: Some(folder),
            model: args.model.clone(),
            policy: args.policy.map(Into::into),
            ..SessionCreateRequest::default()
        }),
    }
}

/// Takes a message in; the report with the last one.
fn take(
    line: &mut Line,
    told: &mut ChatTurnReport,
    message: TaskMessage,
) -> Result<Option<ChatTurnReport>, OpError> {
    if let TaskUpdate::Approval(question) = message.update {
        told.denied.push(question.summary);
        let answer = ApprovalAnswer::Deny { reason: NOBODY.to_owned() };
        let request = ApprovalAnswerRequest { approval: question.approval, answer };
        line.send(RpcCall::ApprovalAnswer(request))?;
    } else if let TaskUpdate::Completed(end) = message.update {
        told.state = TaskState::Completed;
        told.signal = Some(end.signal);
        told.text = end.text;
        told.reason = end.reason;
        told.changed = end.changed;
        told.usage = end.usage;
    } else if let TaskUpdate::Failed { error, usage } = message.update {
        told.state = TaskState::Failed;
        told.failure = Some(error);
        told.usage = usage;
    } else if let TaskUpdate::Cancelled { by } = message.update {
        told.state = TaskState::Cancelled;
        told.reason = Some(by);
    }
    Ok(told.state.is_over().then(|| told.clone()))
}

fn show(ui: &mut Ui, report: &ChatTurnReport) -> Result<(), OpError> {
    if !report.text.is_empty() {
        ui.text(&report.text)?;
    }
    for summary in &report.denied {
        ui.warning(
            format!("Not allowed: {summary}"),
            Some("Allow changes of files with `--policy auto-edit`, programs too with `--policy full`"),
        );
    }
    match (&report.failure, report.state) {
        (Some(failure), _) => Err(failure.clone().into()),
        (None, TaskState::Cancelled) => Err(OpError::cancelled()),
        (None, _) => {
            // Standard output is the answer, for a script that takes it.
            ui.hint(&format!("Go on: nacre chat --resume {}", report.session));
            Ok(())
        }
    }
}
