//! The stream of events: server-sent events, numbered, kept open by a comment now and then.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use nacre_api::wire::ErrorCode;
use nacre_ops::Cancel;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Sender, channel};

use super::body::Body;
use super::guard::Refusal;
use super::hub::Listener;
use crate::people::LastingAccess;

/// Listeners at the same time.
const MAX_LISTENERS: usize = 1024;
/// Pieces that wait for a slow listener; then it is the hub's ring that keeps them.
const WAITING: usize = 16;
/// How often a silent stream says that it is still there.
const KEEP_OPEN: Duration = Duration::from_secs(15);

/// Who listens now.
pub(super) struct Listeners {
    free: Arc<Semaphore>,
}

impl Listeners {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(MAX_LISTENERS)) }
    }

    pub(super) fn count(&self) -> usize {
        MAX_LISTENERS - self.free.available_permits()
    }

    /// An answer that does not end, until the server does, the client goes away or its access ends.
    pub(super) fn stream(
        &self,
        listener: Listener,
        access: LastingAccess,
        stop: Cancel,
    ) -> Result<Response<Body>, Refusal> {
        let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() else {
            let message = "Too many clients listen for events";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Busy, message));
        };
        let (sender, pieces) = channel(WAITING);
        tokio::spawn(async move {
            let _permit = permit;
            tokio::select! {
                () = forward(listener, &access, sender) => {}
                () = access.ended() => {}
                () = stop.cancelled() => {}
            }
        });
        let mut response = Response::new(Body::Pieces(pieces));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

async fn forward(mut listener: Listener, access: &LastingAccess, sender: Sender<Bytes>) {
    // A first line at once, so that the client knows that it is heard.
    if sender.send(Bytes::from_static(b": listening\n\n")).await.is_err() {
        return;
    }
    loop {
        let is_silent = tokio::select! {
            () = listener.wait() => false,
            () = tokio::time::sleep(KEEP_OPEN) => true,
            () = sender.closed() => return,
        };
        // What happens after this lookup waits for the next one.
        let latest = listener.latest();
        let Some(caller) = access.caller().await else { return };
        let mut next = listener.pieces(&caller, latest);
        if is_silent {
            next.push(Bytes::from_static(b":\n\n"));
        }
        for piece in next {
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    }
}
