//! One client: its requests are answered in order, and what it follows is sent as it comes.

use std::path::PathBuf;
use std::sync::Arc;

use nacre_api::wire::{ErrorCode, RPC_VERSION, RpcAnswer, RpcCall, RpcRequest};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::follow::follow;
use super::requests::{Answered, answer};
use super::shared::ChatShared;
use super::{MAX_LINE_BYTES, Workspaces};
use crate::error::OpError;

/// Tasks that one client follows at the same time.
const MAX_FOLLOWED: usize = 64;

/// Somebody who sends requests. Dropping it stops what it follows, and no turn.
pub struct Client {
    chats: Arc<ChatShared>,
    folder: PathBuf,
    workspaces: Workspaces,
    out: Sender<Arc<str>>,
    greeting: Greeting,
    following: JoinSet<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Greeting {
    Awaited,
    Done,
}

impl Client {
    pub(super) fn new(
        chats: Arc<ChatShared>,
        (folder, workspaces): (PathBuf, Workspaces),
        out: Sender<Arc<str>>,
    ) -> Self {
        let (greeting, following) = (Greeting::Awaited, JoinSet::new());
        Self { chats, folder, workspaces, out, greeting, following }
    }

    /// Takes a line. It is answered by exactly one line; what it began to follow comes after that.
    pub async fn receive(&mut self, line: &str) {
        let answered = self.answer(line).await;
        let (answer, follows) = match answered {
            Ok((id, Answered { result, follows })) => {
                (RpcAnswer { id: Some(id), result: Some(result), error: None }, follows)
            }
            Err((id, error)) => {
                (RpcAnswer { id, result: None, error: Some(error.into()) }, Vec::new())
            }
        };
        // Wire types have only text as keys, so that writing them cannot fail.
        let text = serde_json::to_string(&answer).unwrap_or_default();
        if self.out.send(text.into()).await.is_err() {
            return;
        }
        while self.following.try_join_next().is_some() {}
        for wish in follows {
            let (chats, out) = (Arc::clone(&self.chats), self.out.clone());
            self.following.spawn(follow(chats, wish.task, wish.log, wish.after, out));
        }
    }

    async fn answer(&mut self, line: &str) -> Result<(u64, Answered), (Option<u64>, OpError)> {
        if MAX_LINE_BYTES < line.len() {
            let error = OpError::usage("The request is too long");
            return Err((None, OpError { code: ErrorCode::TooLarge, ..error }));
        }
        let RpcRequest { id, call } = parse(line)?;
        let refused = |error: OpError| (Some(id), error);
        match (&call, self.greeting) {
            (RpcCall::Hello(hello), _) if hello.version != RPC_VERSION => {
                return Err(refused(other_version(hello.version)));
            }
            (RpcCall::Hello(_), _) => self.greeting = Greeting::Done,
            (_, Greeting::Awaited) => {
                let error = OpError::usage("The first request has to be `hello`");
                return Err(refused(error));
            }
            (_, Greeting::Done) => {}
        }
        if MAX_FOLLOWED <= self.following.len() {
            let error = OpError::failed("This client follows too many tasks");
            return Err(refused(OpError { code: ErrorCode::LimitReached, ..error }));
        }
        match answer(&self.chats, (&self.folder, self.workspaces), call).await {
            Ok(answered) => Ok((id, answered)),
            Err(error) => Err(refused(error)),
        }
    }
}

/// Reads a request; what cannot be read is answered with its id, where it has one.
fn parse(line: &str) -> Result<RpcRequest, (Option<u64>, OpError)> {
    let cannot = |id, error: serde_json::Error| {
        let refused = OpError::usage("This is no request of the protocol");
        (id, OpError { causes: vec![error.to_string()], ..refused })
    };
    let value: Value = serde_json::from_str(line).map_err(|error| cannot(None, error))?;
    let id = value.get("id").and_then(Value::as_u64);
    RpcRequest::deserialize(value).map_err(|error| cannot(id, error))
}

fn other_version(version: u32) -> OpError {
    let message =
        format!("This program speaks version {RPC_VERSION} of the protocol, not {version}");
    OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
        .hint("Use the same version of Nacre on both sides")
}
