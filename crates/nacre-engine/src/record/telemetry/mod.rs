//! OpenTelemetry: how long tasks, steps, model calls and tool calls took, for a collector that a person named.
//!
//! Off unless there is an address, which never comes from a repository. A span carries names, numbers and token
//! counts, and nothing that was said, read or written. The protocol is OTLP over HTTP with JSON, written here: the
//! usual crates would bring a second runtime and a second idea of a span for these few fields.

mod collector;
mod encode;
mod spans;

pub use collector::{Collector, CollectorError};
pub use spans::SpanLog;
