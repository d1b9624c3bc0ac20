//! The protocol of conversations on a connection that was upgraded: WebSocket messages, or plain lines where a client asks
//! for those.
//!
//! Only framing is done here. What a line means, and what is answered, is `nacre_ops::chat`'s.

mod lines;
mod websocket;

use std::path::PathBuf;
use std::sync::Arc;

use nacre_ops::chat::{Chats, Workspaces};
use nacre_ops::host::{Environment, Needs, OpenOptions, Opened};
use nacre_ops::{Cancel, Host, OpError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};

use crate::people::LastingAccess;
pub(crate) use websocket::accept_key;

/// Clients at the same time.
const MAX_CLIENTS: usize = 512;

/// Lines that wait for a slow client; more wait where they are kept anyway.
const WAITING: usize = 64;

/// How lines are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    WebSocket,
    /// Each ends with a line break.
    Lines,
}

/// A connection of a client, and what it may use.
pub(crate) struct RpcConnection {
    /// Where sessions are made whose client names no folder.
    pub(crate) folder: PathBuf,
    pub(crate) workspaces: Workspaces,
    pub(crate) access: LastingAccess,
}

/// The clients of a server.
#[derive(Clone)]
pub(crate) struct Clients {
    chats: Chats,
    environment: Environment,
    places: Arc<Semaphore>,
    stop: Cancel,
}

impl Clients {
    pub(crate) fn new(chats: Chats, environment: Environment, stop: Cancel) -> Self {
        Self { chats, environment, places: Arc::new(Semaphore::new(MAX_CLIENTS)), stop }
    }

    /// Where sessions are made whose client names no folder: in the project that it works on, or the only one.
    pub(crate) async fn folder(&self, project: Option<String>) -> Result<PathBuf, OpError> {
        let environment = self.environment.clone();
        let found = tokio::task::spawn_blocking(move || {
            let folder = environment.folder.clone();
            let needs = Needs::Registered;
            let options = OpenOptions { project, needs, ..OpenOptions::default() };
            let Opened { host, warnings: _ } = Host::open(environment, &options);
            Ok(host?.project.map_or(folder, |project| project.path))
        });
        found.await.unwrap_or_else(|_| Err(OpError::failed("The request broke down inside")))
    }

    pub(crate) fn chats(&self) -> &Chats {
        &self.chats
    }

    /// A place for one more client; nothing where there are too many.
    pub(crate) fn place(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Serves a client until it goes away, its access ends or the server stops. Its access is looked up for each line, in both
    /// directions.
    pub(crate) async fn serve<S>(&self, stream: S, framing: Framing, connection: RpcConnection)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let RpcConnection { folder, workspaces, access } = connection;
        let (out, outgoing) = mpsc::channel(WAITING);
        let client = self.chats.client(folder, workspaces, out);
        let served = async {
            match framing {
                Framing::WebSocket => websocket::serve(stream, client, outgoing, &access).await,
                Framing::Lines => lines::serve(stream, client, outgoing, &access).await,
            }
        };
        tokio::select! {
            () = served => {}
            () = access.ended() => {}
            () = self.stop.cancelled() => {}
        }
    }
}
