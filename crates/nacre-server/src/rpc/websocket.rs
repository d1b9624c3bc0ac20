//! WebSocket messages: one line of the protocol each, as text.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use nacre_ops::chat::{Client, MAX_LINE_BYTES};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::Receiver;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::WAITING;
use crate::people::LastingAccess;

/// How often a silent connection is tried.
const PING: Duration = Duration::from_secs(30);

/// The proof that the handshake was understood.
pub(crate) fn accept_key(key: &str) -> String {
    derive_accept_key(key.as_bytes())
}

pub(super) async fn serve<S>(
    stream: S,
    client: Client,
    outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_LINE_BYTES))
        .max_frame_size(Some(MAX_LINE_BYTES));
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (sink, source) = socket.split();
    tokio::select! {
        () = receive(source, client, access) => {}
        () = send(sink, outgoing, access) => {}
    }
}

async fn receive<E>(
    mut source: impl StreamExt<Item = Result<Message, E>> + Unpin,
    mut client: Client,
    access: &LastingAccess,
) {
    while let Some(Ok(message)) = source.next().await {
        if access.caller().await.is_none() {
            return;
        }
        match message {
            Message::Text(line) => client.receive(&line).await,
            // Bytes that are no request are answered as such.
            Message::Binary(bytes) => client.receive(&String::from_utf8_lossy(&bytes)).await,
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

async fn send(
    mut sink: impl SinkExt<Message> + Unpin,
    mut outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) {
    let mut lines = Vec::new();
    loop {
        let n_lines = tokio::select! {
            n_lines = outgoing.recv_many(&mut lines, WAITING) => Some(n_lines),
            () = tokio::time::sleep(PING) => None,
        };
        if n_lines == Some(0) || access.caller().await.is_none() {
            return;
        }
        let ping = n_lines.is_none().then(|| Message::Ping(Bytes::new()));
        for message in lines.drain(..).map(|line| Message::text(&*line)).chain(ping) {
            if sink.send(message).await.is_err() {
                return;
            }
        }
    }
}
