//! What every provider can do: make one attempt at an answer.

use std::pin::Pin;
use std::time::Duration;

use super::error::ModelError;
use super::names::ModelRef;
use super::request::Request;
use super::response::{Event, Response};

/// Takes events as they come. It must not block: the next event waits for it.
pub type Sink<'s> = dyn FnMut(Event) + Send + 's;

/// An attempt under way. Dropping it closes the connection.
pub type Generation<'a> = Pin<Box<dyn Future<Output = Result<Response, ModelError>> + Send + 'a>>;

/// Something that answers requests.
pub trait Provider: Send + Sync {
    /// Makes one attempt; it ends with exactly one response or one error.
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a>;

    /// Whether a request to it may hold pictures. A model behind it may still refuse them.
    fn takes_images(&self) -> bool {
        false
    }
}

/// One attempt: what is asked of which model, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub model: &'a ModelRef,
    pub request: &'a Request,
    pub limits: &'a Limits,
}

/// How long and how large an attempt may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From sending the request to the first piece of the answer.
    pub first_token: Duration,
    /// Silence within an answer. A provider's sign of life counts as a piece.
    pub next_token: Duration,
    /// Text, reasoning and arguments together.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_token: Duration::from_secs(120),
            next_token: Duration::from_secs(60),
            answer_bytes: 8 << 20,
        }
    }
}
