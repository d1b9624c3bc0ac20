//! A line to the agent of a server.
//!
//! The connection blocks, so that two threads carry it: one reads until the server is gone, the other writes until nobody here has
//! something to ask.

use std::thread;

use nacre_api::client::{ChatReader, ChatWriter, Client, ClientError};
use nacre_api::wire::{ErrorCode, RpcMessage, RpcRequest};
use nacre_ops::OpError;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, channel, unbounded_channel};

use super::carry::WAITING;
use super::line::Connection;

/// Opens a line, on which nobody has greeted yet.
pub(super) fn connect(client: &Client) -> Result<Connection, OpError> {
    let (reader, writer) = client.open_chat().map_err(unavailable)?;
    let (requests, asked) = unbounded_channel();
    let (tell, messages) = channel(WAITING);
    thread::spawn(move || receive(reader, &tell));
    thread::spawn(move || send(writer, asked));
    Ok((requests, messages))
}

fn receive(mut reader: ChatReader, tell: &Sender<RpcMessage>) {
    // A line that makes no sense ends the conversation as much as none.
    while let Ok(Some(message)) = reader.next_message() {
        if tell.blocking_send(message).is_err() {
            return;
        }
    }
}

fn send(mut writer: ChatWriter, mut asked: UnboundedReceiver<RpcRequest>) {
    while let Some(request) = asked.blocking_recv() {
        if writer.send(&request).is_err() {
            return;
        }
    }
}

fn unavailable(error: ClientError) -> OpError {
    let causes = match error {
        ClientError::Failed { failure, .. } => return failure.into(),
        ClientError::Unreachable(error) => vec![error.to_string()],
        ClientError::Broken(what) => vec![what],
    };
    let error = OpError::failed("The server does not answer");
    OpError { code: ErrorCode::Unavailable, causes, ..error }
        .hint("Talk without the server: nacre chat --local")
}
