//! Bodies: what is sent at once, what is sent as it comes, and what is read of a request.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Limited};
use nacre_api::wire::ErrorCode;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

use super::guard::Refusal;

/// The largest body that is read.
pub(super) const MAX_BODY_BYTES: usize = 1 << 20;
/// How long a client may take to send it.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The body of an answer.
pub(super) enum Body {
    Whole(Option<Bytes>),
    /// Pieces, as they come; it ends when their sender is gone.
    Pieces(Receiver<Bytes>),
    /// Lines of one operation, which are never more than it has events.
    Lines(UnboundedReceiver<Bytes>),
    /// What another library answers.
    Foreign(BoxBody<Bytes, Infallible>),
}

impl Body {
    pub(super) fn empty() -> Self {
        Self::Whole(None)
    }

    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let framed = |bytes: Option<Bytes>| bytes.map(|bytes| Ok(Frame::data(bytes)));
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(framed(bytes.take())),
            Self::Pieces(pieces) => pieces.poll_recv(context).map(framed),
            Self::Lines(lines) => lines.poll_recv(context).map(framed),
            Self::Foreign(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Foreign(body) => body.is_end_stream(),
            Self::Pieces(_) | Self::Lines(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Foreign(body) => body.size_hint(),
            Self::Pieces(_) | Self::Lines(_) => SizeHint::default(),
        }
    }
}

/// Reads a body as JSON; nothing at all is `null`.
pub(super) async fn read_json<B>(body: B) -> Result<Value, Refusal>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let reading = Limited::new(body, MAX_BODY_BYTES).collect();
    let Ok(read) = tokio::time::timeout(BODY_TIME, reading).await else {
        let message = "The body took too long";
        return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Usage, message));
    };
    let bytes = match read {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = "The body is larger than 1 MiB";
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, message));
        }
        Err(_) => {
            let message = "The body broke off";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::Usage, message));
        }
    };
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("The body is not JSON: {error}");
        Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::Usage, &message)
    })
}
