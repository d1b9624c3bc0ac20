//! Carries the chat protocol over an upgraded connection, as WebSocket messages or plain lines.

use axum::body::Bytes;
use futures_util::future::ready;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use nacre_ops::chat::{Chats, Client, MAX_LINE_BYTES, Workspaces};
use nacre_ops::host::{Needs, OpenOptions, Opened};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{self, Receiver};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_util::codec::Framed;

pub(crate) use tokio_tungstenite::tungstenite::handshake::derive_accept_key as accept_key;

use crate::client::line_codec;
use crate::people::{LastingAccess, OpenConnections};
use crate::prelude::*;

const MAX_OF_OWNER: usize = 512;
const MAX_OF_PERSON: usize = 32;

const WAITING: usize = 64;

const PING: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    WebSocket,
    /// Plain lines, each ending with a line break.
    Lines,
}

#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) chats: Chats,
    environment: Environment,
    pub(crate) connections: OpenConnections,
    stop: Cancel,
}

impl Clients {
    pub(crate) fn new(chats: Chats, environment: Environment, stop: Cancel) -> Self {
        let connections = OpenConnections::new(MAX_OF_OWNER, MAX_OF_PERSON);
        Self { chats, environment, connections, stop }
    }

    /// Returns the working directory for new sessions if the client does not send one.
    pub(crate) async fn folder(&self, project: Option<String>) -> Result<PathBuf> {
        let environment = self.environment.clone();
        let found = tokio::task::spawn_blocking(move || {
            let folder = environment.folder.clone();
            let needs = Needs::Registered;
            let options = OpenOptions { project, needs, ..OpenOptions::default() };
            let Opened { host, warnings: _ } = Host::open(environment, &options);
            Ok(host?.project.map_or(folder, |project| project.path))
        });
        let crashed = |_| Err(OpError::failed("Internal error while handling the request"));
        found.await.unwrap_or_else(crashed)
    }

    /// Returns when the client disconnects or loses its access, or when the server stops. Access is
    /// checked for each line in both directions.
    pub(crate) async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        framing: Framing,
        folder: PathBuf,
        workspaces: Workspaces,
        access: LastingAccess,
    ) {
        let (out, outgoing) = mpsc::channel(WAITING);
        let client = Client::new(Arc::clone(&self.chats), folder, workspaces, out);
        let served = async {
            match framing {
                Framing::WebSocket => serve_messages(stream, client, outgoing, &access).await,
                Framing::Lines => serve_lines(stream, client, outgoing, &access).await,
            }
        };
        tokio::select! {
            () = served => {}
            () = access.wait_until_ended() => {}
            () = self.stop.cancelled() => {}
        }
    }
}

async fn serve_messages(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_LINE_BYTES))
        .max_frame_size(Some(MAX_LINE_BYTES));
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (sink, source) = socket.split();
    let lines = source
        .take_while(|message| ready(!matches!(message, Ok(Message::Close(_)) | Err(_))))
        .filter_map(|message| {
            ready(match message {
                Ok(Message::Text(line)) => Some(Bytes::from(line)),
                Ok(Message::Binary(bytes)) => Some(bytes),
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))
                | Err(_) => None,
            })
        });
    let message = |line: &str| Message::text(line);
    tokio::select! {
        () = receive(lines, client, access) => {}
        () = send(sink, outgoing, message, Some(Message::Ping(Bytes::new())), access) => {}
    }
}

async fn serve_lines(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) {
    let (sink, source) = Framed::new(stream, line_codec(MAX_LINE_BYTES)).split();
    // A line that exceeds the limit ends the connection.
    let lines = source.take_while(|line| ready(line.is_ok())).filter_map(|line| ready(line.ok()));
    tokio::select! {
        () = receive(lines, client, access) => {}
        () = send(sink, outgoing, str::to_owned, None, access) => {}
    }
}

async fn receive(
    mut lines: impl Stream<Item = Bytes> + Unpin,
    mut client: Client,
    access: &LastingAccess,
) {
    while let Some(line) = lines.next().await {
        let Some(caller) = access.caller().await else { return };
        // Invalid UTF-8 is answered like any other invalid request.
        client.receive(caller, &String::from_utf8_lossy(&line)).await;
    }
}

async fn send<M: Clone>(
    mut sink: impl Sink<M> + Unpin,
    mut outgoing: Receiver<Arc<str>>,
    message: impl Fn(&str) -> M,
    ping: Option<M>,
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
        let ping = ping.clone().filter(|_| n_lines.is_none());
        for message in lines.drain(..).map(|line| message(&line)).chain(ping) {
            if sink.feed(message).await.is_err() {
                return;
            }
        }
        if sink.flush().await.is_err() {
            return;
        }
    }
}
