//! One open session: its prompts become turns, and what these tell goes to the client in order. It runs by itself, so that
//! a client can cancel or answer a question while updates stream.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nacre_api::wire::{
    ApprovalAnswerRequest, ApprovalPolicy, ApprovalRequest, ChatAbortRequest, ChatSession,
    ChatStartReport, ChatStartRequest, ChatUndoReport, ChatUndoRequest, RpcAnswer, RpcCall,
    RpcMessage, SessionChangeRequest, SessionReport, SessionRequest, TaskMessage, TaskUpdate,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::json_rpc::{RequestId, RpcError};
use super::link::{Requests, failure, result};
use super::modes;
use super::options::options;
use super::permission::{answer_of, request};
use super::prompt::{self, Prompt};
use super::protocol::{PromptBlock, SessionUpdate, StopReason};
use super::streams::Outbox;
use super::updates::{Notices, TurnView};

/// What the client wants of a session.
pub(super) enum Order {
    Prompt {
        id: RequestId,
        prompt: Vec<PromptBlock>,
    },
    SetMode {
        id: RequestId,
        policy: ApprovalPolicy,
    },
    /// What is changed; the session is filled in.
    SetOption {
        id: RequestId,
        change: Box<SessionChangeRequest>,
    },
    /// Stops every turn.
    Cancel,
    /// Stops the turn of one request.
    CancelRequest(RequestId),
    /// Stops every turn and ends.
    Close(RequestId),
    /// The process ends, and whoever ends it stops the turns.
    End,
}

/// See the module.
pub(super) struct Session {
    id: String,
    root: PathBuf,
    skills: Vec<String>,
    models: Vec<String>,
    notices: Notices,
    out: Outbox,
    requests: Requests,
    /// What turns cost that are over, in dollars, since the session was opened.
    spent: f64,
    /// Requests to the agent that are not answered yet.
    waiting: BTreeMap<u64, Waiting>,
    /// Turns by their task.
    turns: BTreeMap<String, Turn>,
    has_told_title: bool,
    ending: Option<Ending>,
}

/// What an answer of the agent is for.
enum Waiting {
    Start { request: RequestId, is_cancelled: bool },
    Mode { request: RequestId, policy: ApprovalPolicy },
    Option { request: RequestId },
    Undo { request: RequestId },
    Title,
}

/// A prompt that is being carried out.
struct Turn {
    request: RequestId,
    view: TurnView,
    /// Questions to the person: the number of the client's request by approval.
    questions: BTreeMap<String, u64>,
}

/// Why the session ends once nothing runs in it.
enum Ending {
    Closed(RequestId),
    Process,
}

impl Session {
    pub(super) fn new(
        session: &ChatSession,
        (skills, models): (Vec<String>, Vec<String>),
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

    /// Works until the session is closed or the process ends.
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
                    Some(RpcMessage::Answer(answer)) => self.answered(answer).await,
                    None => return self.give_up().await,
                },
            }
            if let Some(ending) =
                self.ending.take_if(|_| self.turns.is_empty() && self.waiting.is_empty())
            {
                if let Ending::Closed(request) = ending {
                    self.out.answer(&request, Ok(json!({}))).await;
                }
                return;
            }
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Prompt { id, prompt } => self.prompt(id, prompt).await,
            Order::SetMode { id, policy } => {
                let session = self.id.clone();
                let change = SessionChangeRequest {
                    session,
                    policy: Some(policy),
                    ..SessionChangeRequest::default()
                };
                let waiting = Waiting::Mode { request: id, policy };
                self.ask(RpcCall::SessionChange(change), waiting);
            }
            Order::SetOption { id, change } => {
                let change = SessionChangeRequest { session: self.id.clone(), ..*change };
                self.ask(RpcCall::SessionChange(change), Waiting::Option { request: id });
            }
            Order::Cancel => self.cancel(|_| true),
            Order::CancelRequest(request) => self.cancel(|of| *of == request),
            Order::Close(request) => {
                self.cancel(|_| true);
                self.ending = Some(Ending::Closed(request));
            }
            Order::End => {
                // Turns that run are stopped by whoever ends the process; one that only begins is not seen there.
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
            Err(error) => self.out.answer(&request, Err::<Value, _>(error)).await,
        }
    }

    fn cancel(&mut self, is_meant: impl Fn(&RequestId) -> bool) {
        for (task, _) in self.turns.iter().filter(|(_, turn)| is_meant(&turn.request)) {
            self.requests.send(RpcCall::ChatAbort(ChatAbortRequest { task: task.clone() }));
        }
        self.cancel_starts(is_meant);
    }

    /// Marks turns whose task is not known yet; they are stopped as soon as it is.
    fn cancel_starts(&mut self, is_meant: impl Fn(&RequestId) -> bool) {
        for waiting in self.waiting.values_mut() {
            if let Waiting::Start { request, is_cancelled } = waiting {
                *is_cancelled |= is_meant(request);
            }
        }
    }

    async fn answered(&mut self, answer: RpcAnswer) {
        let waiting = answer.id.and_then(|id| self.waiting.remove(&id));
        match waiting {
            Some(Waiting::Start { request, is_cancelled }) => {
                self.started(request, is_cancelled, answer).await;
            }
            Some(Waiting::Mode { request, policy }) => {
                self.changed_mode(request, policy, answer).await;
            }
            Some(Waiting::Option { request }) => self.changed_option(request, answer).await,
            Some(Waiting::Undo { request }) => self.undone(request, answer).await,
            Some(Waiting::Title) => self.tell_title(answer).await,
            // Of an abort, or of an answer to a question: the task tells what came of it.
            None => {}
        }
    }

    async fn started(&mut self, request: RequestId, is_cancelled: bool, answer: RpcAnswer) {
        let task = match result::<ChatStartReport>(answer) {
            Ok(report) => report.task,
            Err(error) => {
                return self.out.answer(&request, Err::<Value, _>(error.into())).await;
            }
        };
        if is_cancelled {
            self.requests.send(RpcCall::ChatAbort(ChatAbortRequest { task: task.clone() }));
        }
        let view = TurnView::new(self.root.clone(), task.clone(), self.notices);
        self.turns.insert(task, Turn { request, view, questions: BTreeMap::new() });
    }

    async fn changed_mode(&self, request: RequestId, policy: ApprovalPolicy, answer: RpcAnswer) {
        match result::<SessionReport>(answer) {
            Ok(SessionReport { session }) => {
                self.out.answer(&request, Ok(json!({}))).await;
                let current_mode_id = modes::id_of(policy);
                self.tell(SessionUpdate::CurrentModeUpdate { current_mode_id }).await;
                let config_options = options(&session, &self.models);
                self.tell(SessionUpdate::ConfigOptionUpdate { config_options }).await;
            }
            Err(error) => self.out.answer(&request, Err::<Value, _>(error.into())).await,
        }
    }

    /// Clients that know modes alone are told of a mode that was chosen as an option.
    async fn changed_option(&self, request: RequestId, answer: RpcAnswer) {
        match result::<SessionReport>(answer) {
            Ok(SessionReport { session }) => {
                let config_options = options(&session, &self.models);
                let result = json!({ "configOptions": config_options });
                self.out.answer(&request, Ok(result)).await;
                let current_mode_id = modes::id_of(session.policy);
                self.tell(SessionUpdate::CurrentModeUpdate { current_mode_id }).await;
            }
            Err(error) => self.out.answer(&request, Err::<Value, _>(error.into())).await,
        }
    }

    /// What a session costs is what it cost before and what the turn did.
    fn priced(&self, mut update: SessionUpdate) -> SessionUpdate {
        if let SessionUpdate::UsageUpdate { cost: Some(cost), .. } = &mut update {
            cost.amount += self.spent;
        }
        update
    }

    async fn undone(&self, request: RequestId, answer: RpcAnswer) {
        let report = match result::<ChatUndoReport>(answer) {
            Ok(report) => report,
            Err(error) => {
                return self.out.answer(&request, Err::<Value, _>(error.into())).await;
            }
        };
        let content = undo_text(&report).into();
        let message_id = format!("{}.undone", report.task);
        self.tell(SessionUpdate::AgentMessageChunk { content, message_id }).await;
        self.stop(&request, StopReason::EndTurn).await;
    }

    async fn tell_title(&self, answer: RpcAnswer) {
        // Best effort: a client shows the first words itself.
        let Ok(SessionReport { session }) = result(answer) else { return };
        let (title, updated_at) = (session.title, session.updated);
        self.tell(SessionUpdate::SessionInfoUpdate { title, updated_at }).await;
    }

    async fn tell(&self, update: SessionUpdate) {
        self.out.update(&self.id, update).await;
    }

    async fn stop(&self, request: &RequestId, reason: StopReason) {
        self.out.answer(request, Ok(json!({ "stopReason": reason }))).await;
    }

    /// Passes on what a task tells.
    async fn hear(&mut self, message: TaskMessage) {
        let TaskMessage { task, update, .. } = message;
        if update.is_terminal() {
            return self.ended(&task, update).await;
        }
        if let TaskUpdate::Approval(question) = update {
            return self.put(&task, question).await;
        }
        if let TaskUpdate::Decided { approval, .. } = &update {
            return self.decided(&task, approval).await;
        }
        let Some(turn) = self.turns.get_mut(&task) else { return };
        for update in turn.view.take(update) {
            let update = self.priced(update);
            self.tell(update).await;
        }
    }

    /// Puts a question to the person. The answer goes to the agent whenever it comes.
    async fn put(&mut self, task: &str, question: ApprovalRequest) {
        let Some(turn) = self.turns.get_mut(task) else { return };
        let params = request(&self.id, &self.root, task, &question);
        let (number, reply) = self.out.ask("session/request_permission", params).await;
        turn.questions.insert(question.approval.clone(), number);
        let requests = self.requests.clone();
        tokio::spawn(async move {
            // Without a reply the question was withdrawn.
            let Ok(reply) = reply.await else { return };
            let answer =
                ApprovalAnswerRequest { approval: question.approval, answer: answer_of(reply) };
            requests.send(RpcCall::ApprovalAnswer(answer));
        });
    }

    /// A question that was decided without the client, by time or by another client, is not open any more.
    async fn decided(&mut self, task: &str, approval: &str) {
        let Some(turn) = self.turns.get_mut(task) else { return };
        if let Some(number) = turn.questions.remove(approval) {
            self.out.withdraw(number).await;
        }
    }

    async fn ended(&mut self, task: &str, last: TaskUpdate) {
        let Some(mut turn) = self.turns.remove(task) else { return };
        let spent = cost(&last);
        for number in turn.questions.into_values() {
            self.out.withdraw(number).await;
        }
        if let TaskUpdate::Failed { error, .. } = last {
            self.out.answer(&turn.request, Err::<Value, _>(error.into())).await;
        } else if let TaskUpdate::Cancelled { .. } = last {
            self.stop(&turn.request, StopReason::Cancelled).await;
        } else {
            for update in turn.view.take(last) {
                self.tell(self.priced(update)).await;
            }
            self.stop(&turn.request, StopReason::EndTurn).await;
        }
        self.spent += spent;
        if !self.has_told_title && self.ending.is_none() {
            self.has_told_title = true;
            let request = SessionRequest { session: Some(self.id.clone()), workspace: None };
            self.ask(RpcCall::SessionGet(request), Waiting::Title);
        }
    }

    /// Answers everything that is open, because the agent is gone.
    async fn give_up(self) {
        let gone = RpcError::from(failure("The agent is gone"));
        let waiting = self.waiting.into_values().filter_map(|waiting| match waiting {
            Waiting::Start { request, .. }
            | Waiting::Mode { request, .. }
            | Waiting::Option { request }
            | Waiting::Undo { request } => Some(request),
            Waiting::Title => None,
        });
        for request in waiting.chain(self.turns.into_values().map(|turn| turn.request)) {
            self.out.answer(&request, Err::<Value, _>(gone.clone())).await;
        }
    }
}

/// What a turn cost, in dollars, as far as that is known.
fn cost(last: &TaskUpdate) -> f64 {
    let usage = if let TaskUpdate::Completed(end) = last {
        Some(end.usage)
    } else if let TaskUpdate::Failed { usage, .. } = last {
        Some(*usage)
    } else {
        None
    };
    usage.and_then(|usage| usage.cost_usd).unwrap_or(0.0)
}

fn undo_text(report: &ChatUndoReport) -> String {
    let mut lines: Vec<String> =
        report.restored.iter().map(|path| format!("- Put back `{path}`")).collect();
    let kept =
        report.kept.iter().map(|kept| format!("- Left `{}` as it is: {}", kept.path, kept.why));
    lines.extend(kept);
    match lines.is_empty() {
        true => "Nothing was put back.".to_owned(),
        false => lines.join("\n"),
    }
}
