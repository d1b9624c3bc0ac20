//! The protocol of conversations on a connection that was upgraded: WebSocket messages, or plain lines where a client asks
//! for those.
//!
//! Only framing is done here. What a line means, and what is answered, is `nacre_ops::chat`'s.

mod lines;
mod websocket;

use std::path::PathBuf;
use std::sync::Arc;

use nacre_ops::chat::Chats;
use nacre_ops::host::{Environment, Needs, OpenOptions, Opened};
use nacre_ops::{Cancel, Host, OpError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};

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

    /// Where sessions are made whose client names no folder: in the project that it works on, else where the server was
    /// started.
    pub(crate) async fn folder(&self, project: Option<String>) -> Result<PathBuf, OpError> {
        let environment = self.environment.clone();
        let Some(project) = project else { return Ok(environment.folder) };
        let found = tokio::task::spawn_blocking(move || {
            let folder = environment.folder.clone();
            let needs = Needs::Registered;
            let options = OpenOptions { project: Some(project), needs, ..OpenOptions::default() };
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

    /// Serves a client until it goes away or the server stops.
    pub(crate) async fn serve<S>(&self, stream: S, framing: Framing, folder: PathBuf)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (out, outgoing) = mpsc::channel(WAITING);
        let client = self.chats.client(folder, out);
        let served = async {
            match framing {
                Framing::WebSocket => websocket::serve(stream, client, outgoing).await,
                Framing::Lines => lines::serve(stream, client, outgoing).await,
            }
        };
        tokio::select! {
            () = served => {}
            () = self.stop.cancelled() => {}
        }
    }
}
