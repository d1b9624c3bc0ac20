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

/// How often a silent connection is tried.
const PING: Duration = Duration::from_secs(30);

/// The proof that the handshake was understood.
pub(crate) fn accept_key(key: &str) -> String {
    derive_accept_key(key.as_bytes())
}

pub(super) async fn serve<S>(stream: S, client: Client, outgoing: Receiver<Arc<str>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_LINE_BYTES))
        .max_frame_size(Some(MAX_LINE_BYTES));
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (sink, source) = socket.split();
    tokio::select! {
        () = receive(source, client) => {}
        () = send(sink, outgoing) => {}
    }
}

async fn receive<E>(
    mut source: impl StreamExt<Item = Result<Message, E>> + Unpin,
    mut client: Client,
) {
    while let Some(Ok(message)) = source.next().await {
        match message {
            Message::Text(line) => client.receive(&line).await,
            // Bytes that are no request are answered as such.
            Message::Binary(bytes) => client.receive(&String::from_utf8_lossy(&bytes)).await,
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

async fn send(mut sink: impl SinkExt<Message> + Unpin, mut outgoing: Receiver<Arc<str>>) {
    loop {
        let message = tokio::select! {
            line = outgoing.recv() => match line {
                Some(line) => Message::text(&*line),
                None => return,
            },
            () = tokio::time::sleep(PING) => Message::Ping(Bytes::new()),
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
}
