//! A client's end of the line to the agent.

use nacre_api::wire::{RpcAnswer, RpcCall, RpcMessage, RpcRequest, TaskMessage};
use nacre_ops::OpError;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{Receiver, UnboundedSender};

/// Both ends of a new line, on which nobody has greeted yet.
pub(super) type Connection = (UnboundedSender<RpcRequest>, Receiver<RpcMessage>);

/// Requests go in, messages come out.
pub(crate) struct Line {
    pub(crate) requests: UnboundedSender<RpcRequest>,
    pub(crate) messages: Receiver<RpcMessage>,
    pub(super) next: u64,
}

impl Line {
    /// Sends a request and waits for its answer; what tasks tell meanwhile is lost to it.
    pub(crate) async fn ask<R: DeserializeOwned>(&mut self, call: RpcCall) -> Result<R, OpError> {
        let id = self.send(call)?;
        loop {
            match self.messages.recv().await {
                Some(RpcMessage::Answer(answer)) if answer.id == Some(id) => return result(answer),
                Some(_) => {}
                None => return Err(closed()),
            }
        }
    }

    pub(crate) fn send(&mut self, call: RpcCall) -> Result<u64, OpError> {
        let id = self.next;
        self.next += 1;
        self.requests.send(RpcRequest { id, call }).map_err(|_| closed())?;
        Ok(id)
    }

    /// The next message about a task.
    pub(crate) async fn next(&mut self) -> Option<TaskMessage> {
        loop {
            match self.messages.recv().await? {
                RpcMessage::Task(message) => return Some(message),
                RpcMessage::Answer(_) => {}
            }
        }
    }
}

fn result<R: DeserializeOwned>(answer: RpcAnswer) -> Result<R, OpError> {
    match answer {
        RpcAnswer { error: Some(error), .. } => Err(error.into()),
        RpcAnswer { result, .. } => serde_json::from_value(result.unwrap_or_default())
            .map_err(|error| OpError::failed(format!("The answer cannot be read: {error}"))),
    }
}

fn closed() -> OpError {
    OpError::failed("The line to the agent is closed")
}
