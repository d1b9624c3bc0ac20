//! The line to the agent: requests go in, messages come out. The agent is in this process.

use std::path::PathBuf;

use nacre_api::wire::{HelloRequest, RPC_VERSION, RpcCall, RpcMessage, RpcRequest};
use nacre_ops::chat::{ChatOptions, Chats};
use nacre_ops::{Host, OpError};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};

use super::carry::{WAITING, carry};
use super::line::Line;

/// The conversations of this process, and the threads that they run on.
pub(crate) struct Conversations {
    pub(crate) runtime: Runtime,
    chats: Chats,
    folder: PathBuf,
}

/// Both ends of a new line.
type Connection = (UnboundedSender<RpcRequest>, Receiver<RpcMessage>);

impl Conversations {
    pub(crate) fn open(host: &Host, script: Option<&str>) -> Result<Self, OpError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| OpError {
                causes: vec![error.to_string()],
                ..OpError::failed("Cannot start the async runtime")
            })?;
        let folder = match &host.project {
            Some(project) => project.path.clone(),
            None => host.environment.folder.clone(),
        };
        let script = script.map(|file| host.environment.absolute(file.as_ref()));
        let options = ChatOptions { script, ..ChatOptions::default() };
        let chats = Chats::new(host.environment.clone(), options, runtime.handle().clone());
        Ok(Self { runtime, chats, folder })
    }

    pub(crate) fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// Makes new lines, on which nobody has greeted yet, for clients that work in a folder.
    pub(crate) fn connector(&self) -> impl Fn(PathBuf) -> Connection + Send + Sync + 'static {
        let (chats, runtime) = (self.chats.clone(), self.runtime.handle().clone());
        move |folder| {
            let (requests, asked) = unbounded_channel();
            let (tell, messages) = channel(WAITING);
            runtime.spawn(carry(chats.clone(), folder, asked, tell));
            (requests, messages)
        }
    }

    /// Ends every turn; each says so before it is gone.
    pub(crate) fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let chats = self.chats.clone();
        move || chats.cancel_all()
    }

    /// A new line, after both sides have greeted.
    pub(crate) fn line(&self) -> Result<Line, OpError> {
        let (requests, messages) = self.connector()(self.folder.clone());
        let mut line = Line { requests, messages, next: 1 };
        let hello = HelloRequest { version: RPC_VERSION, client: "nacre chat".to_owned() };
        self.runtime.block_on(line.ask::<serde_json::Value>(RpcCall::Hello(hello)))?;
        Ok(line)
    }

    /// Asks one thing.
    pub(crate) fn ask<R: DeserializeOwned>(&self, call: RpcCall) -> Result<R, OpError> {
        let mut line = self.line()?;
        self.runtime.block_on(line.ask(call))
    }

    /// Ends what still runs, in order.
    pub(crate) fn close(self) {
        self.chats.cancel_all();
        self.runtime.block_on(async {
            while self.chats.n_turns() > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        });
        self.runtime.shutdown_background();
    }
}
