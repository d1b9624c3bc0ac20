//! A line to Nacre's agent: requests go out with a number, answers come back with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nacre_api::wire::{
    ErrorCode, Failure, HelloReport, HelloRequest, RPC_VERSION, RpcAnswer, RpcCall, RpcMessage,
    RpcRequest,
};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{Receiver, UnboundedSender};

/// The agent, whoever runs it.
pub(crate) struct Backend {
    /// A new line for a client that works in a folder.
    pub(crate) connect: Box<dyn Fn(PathBuf) -> Connection + Send + Sync>,
    /// Ends every turn, because the process does.
    pub(crate) cancel_all: Box<dyn Fn() + Send + Sync>,
}

/// Both ends of a new line.
pub(crate) type Connection = (UnboundedSender<RpcRequest>, Receiver<RpcMessage>);

/// The end that requests go into. Clones are the same line.
#[derive(Clone)]
pub(super) struct Requests {
    line: UnboundedSender<RpcRequest>,
    last: Arc<AtomicU64>,
}

impl Requests {
    /// Sends a request; its number.
    pub(super) fn send(&self, call: RpcCall) -> u64 {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        // A line that is closed shows where its messages end.
        let _ = self.line.send(RpcRequest { id, call });
        id
    }
}

/// A line that both sides have greeted on.
pub(super) struct Link {
    pub(super) requests: Requests,
    pub(super) messages: Receiver<RpcMessage>,
}

impl Link {
    pub(super) async fn open(backend: &Backend, folder: PathBuf) -> Result<Self, Failure> {
        let (line, messages) = (backend.connect)(folder);
        let mut link = Self { requests: Requests { line, last: Arc::default() }, messages };
        let hello = HelloRequest { version: RPC_VERSION, client: "nacre chat --acp".to_owned() };
        let HelloReport { .. } = link.ask(RpcCall::Hello(hello)).await?;
        Ok(link)
    }

    /// Asks and waits; only before the line follows a task, whose messages would be lost.
    pub(super) async fn ask<R: DeserializeOwned>(&mut self, call: RpcCall) -> Result<R, Failure> {
        let id = self.requests.send(call);
        while let Some(message) = self.messages.recv().await {
            match message {
                RpcMessage::Answer(answer) if answer.id == Some(id) => return result(answer),
                RpcMessage::Answer(_) | RpcMessage::Task(_) => {}
            }
        }
        Err(failure("The line to the agent is closed"))
    }
}

/// What an answer says.
pub(super) fn result<R: DeserializeOwned>(answer: RpcAnswer) -> Result<R, Failure> {
    match answer {
        RpcAnswer { error: Some(error), .. } => Err(error),
        RpcAnswer { result, .. } => serde_json::from_value(result.unwrap_or_default())
            .map_err(|error| failure(&format!("The answer cannot be read: {error}"))),
    }
}

pub(super) fn failure(message: &str) -> Failure {
    Failure {
        code: ErrorCode::Failed,
        message: message.to_owned(),
        causes: Vec::new(),
        hints: Vec::new(),
    }
}
