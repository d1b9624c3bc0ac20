//! A connection to Nacre's chat agent, with numbered requests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nacre_ops::OpError;
use nacre_ops::chat::{Chats, Client, Workspaces};
use nacre_ops::people::Caller;
use nacre_types::{
    Failure, HelloReport, HelloRequest, RPC_VERSION, RpcAnswer, RpcCall, RpcMessage, RpcRequest,
};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};

pub(crate) const MAX_BUFFERED: usize = 256;

pub(crate) type Connection = (UnboundedSender<RpcRequest>, Receiver<RpcMessage>);

pub(crate) fn connect(chats: &Chats, folder: PathBuf) -> Connection {
    let (requests, mut received) = unbounded_channel::<RpcRequest>();
    let (sender, messages) = channel(MAX_BUFFERED);
    let (out, mut lines) = channel::<Arc<str>>(MAX_BUFFERED);
    let mut client = Client::new(chats.clone(), folder, Workspaces::Any, out);
    let to_client = async move {
        while let Some(line) = lines.recv().await {
            // Both ends of the connection are in this program, so parsing should never fail.
            let Ok(message) = serde_json::from_str::<RpcMessage>(&line) else { continue };
            if sender.send(message).await.is_err() {
                return;
            }
        }
    };
    let to_agent = async move {
        while let Some(request) = received.recv().await {
            let line = serde_json::to_string(&request).unwrap_or_default();
            client.receive(Caller::owner(), &line).await;
        }
    };
    tokio::spawn(async {
        tokio::select! {
            () = to_client => {}
            () = to_agent => {}
        }
    });
    (requests, messages)
}

#[derive(Clone)]
pub(crate) struct Requests {
    pub(crate) line: UnboundedSender<RpcRequest>,
    last: Arc<AtomicU64>,
}

impl Requests {
    pub(crate) fn send(&self, call: RpcCall) -> u64 {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        // If the connection is closed, the message stream ends and its reader handles that.
        let _ = self.line.send(RpcRequest { id, call });
        id
    }
}

pub(crate) struct Link {
    pub(crate) requests: Requests,
    pub(crate) messages: Receiver<RpcMessage>,
}

impl Link {
    pub(crate) async fn open(connection: Connection, client: &str) -> Result<Self, Failure> {
        let (line, messages) = connection;
        let mut link = Self { requests: Requests { line, last: Arc::default() }, messages };
        let hello = HelloRequest { version: RPC_VERSION, client: client.to_owned() };
        let HelloReport { .. } = link.ask(RpcCall::Hello(hello)).await?;
        Ok(link)
    }

    /// Sends a request and returns its response. Task messages that arrive before the response are
    /// dropped.
    pub(crate) async fn ask<R: DeserializeOwned>(&mut self, call: RpcCall) -> Result<R, Failure> {
        let id = self.requests.send(call);
        while let Some(message) = self.messages.recv().await {
            match message {
                RpcMessage::Answer(answer) if answer.id == Some(id) => return result(answer),
                RpcMessage::Answer(_) | RpcMessage::Task(_) => {}
            }
        }
        Err(OpError::failed("The connection to the agent is closed").into())
    }
}

pub(super) fn result<R: DeserializeOwned>(answer: RpcAnswer) -> Result<R, Failure> {
    match answer {
        RpcAnswer { error: Some(error), .. } => Err(error),
        RpcAnswer { result, .. } => {
            serde_json::from_value(result.unwrap_or_default()).map_err(|error| {
                OpError::failed(format!("Could not parse the response: {error}")).into()
            })
        }
    }
}
