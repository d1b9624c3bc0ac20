//! An open session. A session runs prompts as turns and sends their messages to the client in
//! order. Each session has its own task, so the client can cancel a turn or answer a question at
//! any time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nacre_ops::OpError;
use nacre_types::{
    ApprovalAnswerRequest, ApprovalRequest, ChatSession, ChatStartReport, ChatStartRequest,
    ChatUndoReport, ChatUndoRequest, Failure, RpcAnswer, RpcCall, RpcMessage, SessionChangeRequest,
    SessionReport, SessionRequest, TaskMessage, TaskRef, TaskUpdate,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::json_rpc::{RequestId, RpcError};
use super::link::{Requests, result};
use super::options::options;
use super::prompt::{self, Prompt};
use super::protocol::{PromptBlock, chunk};
use super::streams::Outbox;
use super::tool_calls::{answer_of, permission_request};
use super::updates::{Notices, TurnView};

type Result<T = (), E = Failure> = std::result::Result<T, E>;

pub(super) enum Order {
    Prompt {
        id: RequestId,
        prompt: Vec<PromptBlock>,
    },
    /// Changes session settings. The session adds its own id.
    Change {
        id: RequestId,
        change: Box<SessionChangeRequest>,
        /// Whether the client set the session mode rather than an option.
        is_mode: bool,
    },
    Cancel,
    CancelRequest(RequestId),
    Close(RequestId),
    /// The process is about to exit. The code that sends `End` also stops the running turns.
    End,
}

pub(super) struct Session {
    id: String,
    root: PathBuf,
    skills: Vec<String>,
    models: Vec<String>,
    notices: Notices,
    out: Outbox,
    requests: Requests,
    spent: f64,
    waiting: BTreeMap<u64, Waiting>,
    turns: BTreeMap<String, ActiveTurn>,
    has_told_title: bool,
    ending: Option<Ending>,
}

/// A pending request to the chat agent, and the client request that caused it.
enum Waiting {
    Start { request: RequestId, is_cancelled: bool },
    Change { request: RequestId, is_mode: bool },
    Undo { request: RequestId },
    Title,
}

struct ActiveTurn {
    request: RequestId,
    view: TurnView,
    questions: BTreeMap<String, u64>,
}

/// What to do once the session's last turn has stopped.
enum Ending {
    Closed(RequestId),
    Process,
}

impl Session {
    pub(super) fn new(
        session: &ChatSession,
        skills: Vec<String>,
        models: Vec<String>,
        notices: Notices,
        out: Outbox,
        requests: Requests,
    ) -> Self {
        Self {
            id: session.id.clone(),
            root: PathBuf::from(&session.workspace),
            skills,
            models,
            notices,
            out,
            requests,
            spent: 0.0,
            waiting: BTreeMap::new(),
            turns: BTreeMap::new(),
            has_told_title: false,
            ending: None,
        }
    }

    pub(super) async fn run(
        mut self,
        mut orders: Receiver<Order>,
        mut messages: Receiver<RpcMessage>,
    ) {
        loop {
            tokio::select! {
                order = orders.recv(), if self.ending.is_none() => match order {
                    Some(order) => self.obey(order).await,
                    None => self.ending = Some(Ending::Process),
                },
                message = messages.recv() => match message {
                    Some(RpcMessage::Task(message)) => self.hear(message).await,
                    Some(RpcMessage::Answer(answer)) => self.handle_answer(answer).await,
                    None => return self.give_up().await,
                },
            }
            if let Some(ending) =
                self.ending.take_if(|_| self.turns.is_empty() && self.waiting.is_empty())
            {
                if let Ending::Closed(request) = ending {
                    self.out.answer(&request, json!({})).await;
                }
                return;
            }
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Prompt { id, prompt } => self.prompt(id, prompt).await,
            Order::Change { id, change, is_mode } => {
                let change = SessionChangeRequest { session: self.id.clone(), ..*change };
                let waiting = Waiting::Change { request: id, is_mode };
                self.ask(RpcCall::SessionChange(change), waiting);
            }
            Order::Cancel => self.cancel(|_| true),
            Order::CancelRequest(request) => self.cancel(|of| *of == request),
            Order::Close(request) => {
                self.cancel(|_| true);
                self.ending = Some(Ending::Closed(request));
            }
            Order::End => {
                // The code that sends `End` stops running turns, but only the session can cancel
                // turns that are just starting.
                self.cancel_starts(|_| true);
                self.ending = Some(Ending::Process);
            }
        }
    }

    fn ask(&mut self, call: RpcCall, waiting: Waiting) {
        let number = self.requests.send(call);
        self.waiting.insert(number, waiting);
    }

    async fn prompt(&mut self, request: RequestId, blocks: Vec<PromptBlock>) {
        match prompt::read(blocks, &self.root, &self.skills) {
            Ok(Prompt::Turn { text, attachments, skill }) => {
                let session = self.id.clone();
                let start = ChatStartRequest { session, text, attachments, skill, policy: None };
                let waiting = Waiting::Start { request, is_cancelled: false };
                self.ask(RpcCall::ChatStart(start), waiting);
            }
            Ok(Prompt::Undo) => {
                let undo = ChatUndoRequest { session: self.id.clone(), task: None };
                self.ask(RpcCall::ChatUndo(undo), Waiting::Undo { request });
            }
            Err(error) => self.out.refuse(&request, error).await,
        }
    }

    fn cancel(&mut self, is_meant: impl Fn(&RequestId) -> bool) {
        for (task, _) in self.turns.iter().filter(|(_, turn)| is_meant(&turn.request)) {
            self.requests.send(RpcCall::ChatAbort(TaskRef { task: task.clone() }));
        }
        self.cancel_starts(is_meant);
    }

    /// Marks turns that are just starting as canceled. They are aborted once their task id is
    /// known.
    fn cancel_starts(&mut self, is_meant: impl Fn(&RequestId) -> bool) {
        for waiting in self.waiting.values_mut() {
            if let Waiting::Start { request, is_cancelled } = waiting {
                *is_cancelled |= is_meant(request);
            }
        }
    }

    async fn handle_answer(&mut self, answer: RpcAnswer) {
        // Responses to aborts and approvals are not tracked, because task messages report the
        // outcome.
        let Some(waiting) = answer.id.and_then(|id| self.waiting.remove(&id)) else { return };
        let (done, request) = match waiting {
            Waiting::Title => {
                // Without a title, clients show the first words of the prompt.
                let Ok(SessionReport { session }) = result(answer) else { return };
                let (title, updated) = (session.title, session.updated);
                let kind = "session_info_update";
                let update = json!({ "sessionUpdate": kind, "title": title, "updatedAt": updated });
                return self.tell(update).await;
            }
            Waiting::Start { request, is_cancelled } => {
                (self.start_turn(&request, is_cancelled, answer), request)
            }
            Waiting::Change { request, is_mode } => {
                (self.apply_change(&request, is_mode, answer).await, request)
            }
            Waiting::Undo { request } => (self.report_undo(&request, answer).await, request),
        };
        if let Err(error) = done {
            self.out.refuse(&request, error).await;
        }
    }

    fn start_turn(&mut self, request: &RequestId, is_cancelled: bool, answer: RpcAnswer) -> Result {
        let ChatStartReport { task, .. } = result(answer)?;
        if is_cancelled {
            self.requests.send(RpcCall::ChatAbort(TaskRef { task: task.clone() }));
        }
        let view = TurnView::new(self.root.clone(), task.clone(), self.notices);
        let turn = ActiveTurn { request: request.clone(), view, questions: BTreeMap::new() };
        self.turns.insert(task, turn);
        Ok(())
    }

    /// Applies a setting change. Also reports the mode, for clients that do not support options.
    async fn apply_change(&self, request: &RequestId, is_mode: bool, answer: RpcAnswer) -> Result {
        let SessionReport { session } = result(answer)?;
        let config_options = options(&session, &self.models);
        let result = if is_mode { json!({}) } else { json!({ "configOptions": config_options }) };
        self.out.answer(request, result).await;
        let mode = session.policy.label();
        self.tell(json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode })).await;
        if is_mode {
            let update = "config_option_update";
            self.tell(json!({ "sessionUpdate": update, "configOptions": config_options })).await;
        }
        Ok(())
    }

    fn add_past_cost(&self, mut update: Value) -> Value {
        if let Some(amount) = update.pointer_mut("/cost/amount") {
            *amount = json!(amount.as_f64().unwrap_or_default() + self.spent);
        }
        update
    }

    async fn report_undo(&self, request: &RequestId, answer: RpcAnswer) -> Result {
        let report: ChatUndoReport = result(answer)?;
        let message_id = format!("{}.undone", report.task);
        self.tell(chunk("agent_message_chunk", undo_text(&report), &message_id)).await;
        self.stop(request, "end_turn").await;
        Ok(())
    }

    async fn tell(&self, update: Value) {
        self.out.update(&self.id, update).await;
    }

    async fn stop(&self, request: &RequestId, reason: &str) {
        self.out.answer(request, json!({ "stopReason": reason })).await;
    }

    async fn hear(&mut self, message: TaskMessage) {
        let TaskMessage { task, update, .. } = message;
        if update.is_terminal() {
            return self.end_turn(&task, update).await;
        }
        if let TaskUpdate::Approval(question) = update {
            return self.put(&task, question).await;
        }
        if let TaskUpdate::Decided { approval, .. } = &update {
            // Another client answered the question, or it timed out.
            let turn = self.turns.get_mut(&task);
            if let Some(number) = turn.and_then(|turn| turn.questions.remove(approval)) {
                self.out.withdraw(number).await;
            }
            return;
        }
        let Some(turn) = self.turns.get_mut(&task) else { return };
        for update in turn.view.take(update) {
            let update = self.add_past_cost(update);
            self.tell(update).await;
        }
    }

    async fn put(&mut self, task: &str, question: ApprovalRequest) {
        let Some(turn) = self.turns.get_mut(task) else { return };
        let params = permission_request(&self.id, &self.root, task, &question);
        let (number, reply) = self.out.ask("session/request_permission", params).await;
        turn.questions.insert(question.approval.clone(), number);
        let requests = self.requests.clone();
        tokio::spawn(async move {
            let Ok(reply) = reply.await else { return };
            let answer =
                ApprovalAnswerRequest { approval: question.approval, answer: answer_of(reply) };
            requests.send(RpcCall::ApprovalAnswer(answer));
        });
    }

    async fn end_turn(&mut self, task: &str, last: TaskUpdate) {
        let Some(mut turn) = self.turns.remove(task) else { return };
        let spent = cost(&last);
        for number in turn.questions.into_values() {
            self.out.withdraw(number).await;
        }
        if let TaskUpdate::Failed { error, .. } = last {
            self.out.refuse(&turn.request, error).await;
        } else if let TaskUpdate::Cancelled { .. } = last {
            self.stop(&turn.request, "cancelled").await;
        } else {
            for update in turn.view.take(last) {
                self.tell(self.add_past_cost(update)).await;
            }
            self.stop(&turn.request, "end_turn").await;
        }
        self.spent += spent;
        if !self.has_told_title && self.ending.is_none() {
            self.has_told_title = true;
            let request = SessionRequest { session: Some(self.id.clone()), workspace: None };
            self.ask(RpcCall::SessionGet(request), Waiting::Title);
        }
    }

    async fn give_up(self) {
        let gone =
            RpcError::from(Failure::from(OpError::failed("The connection to the agent was lost")));
        let waiting = self.waiting.into_values().filter_map(|waiting| match waiting {
            Waiting::Start { request, .. }
            | Waiting::Change { request, .. }
            | Waiting::Undo { request } => Some(request),
            Waiting::Title => None,
        });
        for request in waiting.chain(self.turns.into_values().map(|turn| turn.request)) {
            self.out.refuse(&request, gone.clone()).await;
        }
    }
}

/// Returns the cost of a turn in dollars, or 0 if unknown.
fn cost(last: &TaskUpdate) -> f64 {
    let usage = if let TaskUpdate::Completed(end) = last {
        end.usage
    } else if let TaskUpdate::Failed { usage, .. } = last {
        *usage
    } else {
        return 0.0;
    };
    usage.cost_usd.unwrap_or(0.0)
}

fn undo_text(report: &ChatUndoReport) -> String {
    let mut lines: Vec<String> =
        report.restored.iter().map(|path| format!("- Put back `{path}`")).collect();
    let kept =
        report.kept.iter().map(|kept| format!("- Did not restore `{}`: {}", kept.path, kept.why));
    lines.extend(kept);
    if lines.is_empty() { "No files were restored.".to_owned() } else { lines.join("\n") }
}
