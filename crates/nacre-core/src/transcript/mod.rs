//! Traces in, transcripts out: finds what coding agents left behind and reads it as one stream of
//! canonical, bounded and redacted events.
//!
//! Knows nothing of projects, queues or memories, and never writes. A trace is hostile input: sizes,
//! depths and counts are bounded, and one bad line never costs another.

pub mod adapter;
pub mod aider;
mod blocks;
mod budget;
mod calls;
mod chain;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot;
pub mod cursor;
pub mod droid;
pub mod emit;
pub mod error;
pub mod event;
pub mod facts;
pub mod gemini;
mod genai;
pub mod generic;
pub mod injected;
mod json;
mod lines;
mod names;
pub mod opencode;
pub mod pi;
pub mod qwen;
pub mod render;
pub mod sink;
mod sniff;
mod squeeze;
mod store;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod time;
mod unpack;
mod view;
mod voice;
pub mod walk;
mod whole;

pub use self::adapter::{
    Adapter, Began, Discovery, Homes, Problem, ReadOutcome, Source, Stamp, Trace, Watermark,
};
pub use self::budget::SyncBudget;
pub use self::error::{Error, Retryability};
pub use self::event::{
    BoundedText, CallLink, Event, EventKind, InjectedReason, Lane, Origin, Place, WordSource,
};
pub use self::facts::{
    Agent, Counts, Ending, LinkKind, ReadReport, SessionFacts, SessionLink, SessionRole, Tokens,
};
pub(crate) use self::names::repository_address;
pub use self::sink::{Detail, Sink};
pub use self::sniff::{trace_at, traces_at};

/// Every adapter, in the order in which agents are listed.
pub static ADAPTERS: &[&dyn Adapter] = &[
    &claude::Claude,
    &codex::Codex,
    &cursor::Cursor,
    &opencode::OpenCode,
    &gemini::Gemini,
    &qwen::Qwen,
    &copilot::Copilot,
    &pi::Pi,
    &droid::Droid,
    &cline::Cline,
    &continue_dev::Continue,
    &aider::Aider,
    &generic::Generic,
];
