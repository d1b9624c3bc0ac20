//! An operation as lines of JSON: its events as they come, then its report or its error. What a command needs that lets the
//! server do its work, and still shows progress, warnings and sentences at once.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use nacre_api::wire::{CallLine, LINES_TYPE};
use nacre_ops::Events;
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::body::Body;
use super::route::Work;
use crate::calls::{CallInfo, Calls};

/// Carries the operation out while its lines are read. Who stops reading cancels it.
pub(super) fn lines(calls: &Arc<Calls>, info: CallInfo, work: Work) -> Response<Body> {
    let (sender, lines) = unbounded_channel();
    let told = sender.clone();
    let events = Events::new(move |event| send(&told, &CallLine::Event { event }));
    let calls = Arc::clone(calls);
    tokio::spawn(async move {
        let gone = sender.clone();
        let result = calls.run(info, events, async move { gone.closed().await }, work).await;
        match result {
            Ok(done) => {
                let mut line = b"{\"line\":\"report\",\"report\":".to_vec();
                line.extend_from_slice(&done.json);
                line.extend_from_slice(b"}\n");
                let _ = sender.send(Bytes::from(line));
            }
            Err(error) => send(&sender, &CallLine::Error { error: error.into() }),
        }
    });
    let mut response = Response::new(Body::Lines(lines));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(LINES_TYPE));
    response
}

fn send(sender: &UnboundedSender<Bytes>, line: &impl Serialize) {
    // Wire types have only text as keys, so that writing them cannot fail.
    let mut json = serde_json::to_vec(line).unwrap_or_default();
    json.push(b'\n');
    // Nobody reads where the connection is gone; the call is cancelled then.
    let _ = sender.send(Bytes::from(json));
}
