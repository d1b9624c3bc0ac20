//! The protocol of conversations on a connection that was upgraded: WebSocket messages, or plain lines where a client asks
//! for those.
//!
//! Only framing is done here. What a line means, and what is answered, is `nacre_ops::chat`'s.

mod lines;
mod websocket;

use std::path::PathBuf;
use std::sync::Arc;

use nacre_ops::Cancel;
use nacre_ops::chat::Chats;
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
    /// Where sessions are made whose client names no folder.
    folder: PathBuf,
    places: Arc<Semaphore>,
    stop: Cancel,
}

impl Clients {
    pub(crate) fn new(chats: Chats, folder: PathBuf, stop: Cancel) -> Self {
        Self { chats, folder, places: Arc::new(Semaphore::new(MAX_CLIENTS)), stop }
    }

    pub(crate) fn chats(&self) -> &Chats {
        &self.chats
    }

    /// A place for one more client; nothing where there are too many.
    pub(crate) fn place(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Serves a client until it goes away or the server stops.
    pub(crate) async fn serve<S>(&self, stream: S, framing: Framing)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (out, outgoing) = mpsc::channel(WAITING);
        let client = self.chats.client(self.folder.clone(), out);
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
