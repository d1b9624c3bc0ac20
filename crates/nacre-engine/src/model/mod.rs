//! Models behind one door: a `Request` goes in, `Event`s are shown while they come, and one `Response` or one
//! `ModelError` comes out.
//!
//! A provider makes exactly one attempt. Retries, deadlines, cancellation and fallback models are `retry`'s alone,
//! so that no two layers multiply each other's patience.

mod anthropic;
mod classify;
mod collect;
mod content;
mod cost;
mod embeddings;
mod error;
mod guard;
mod hosted;
mod http;
mod loops;
mod loose_json;
mod names;
mod openai;
mod price;
mod programs;
mod provider;
mod request;
mod response;
mod retry;
mod roles;
mod runtime;
mod schema;
mod scripted;
mod secret;
mod spending_budget;
mod sse;
mod structured;
mod textual_tools;
mod usage;

pub use content::{
    Arguments, Content, Image, ImageData, Reasoning, ToolCall, ToolResult, ToolStatus,
};
pub use cost::Cost;
pub use embeddings::{EmbeddingError, EmbeddingService, ServiceEmbedder};
pub use error::{ErrorKind, ModelError, NextStep, Said, Wait};
pub use http::{EndpointError, PlainHttp};
pub use loose_json::only_value;
pub use names::{BadModelRef, ModelRef, Role};
pub use price::{Price, PriceTable};
pub use programs::{
    AgentListener, AgentStep, FolderReading, InstalledProgram, KNOWN_PROGRAMS, KnownProgram,
    ProgramSettings, installed_programs,
};
pub use provider::{Call, Generation, Limits, Provider, Sink};
pub use request::{
    Cache, Effort, Message, OUTPUT_TOOL, OutputSchema, Request, Speaker, ToolChoice, ToolDef,
};
pub use response::{Event, Response, Shown, StopReason};
pub use retry::{Cancel, CancelSource, Control, RetryPolicy, Route, ServedModel, generate};
pub use roles::{
    KNOWN_PROVIDERS, KnownProvider, ModelSettings, Models, ProviderKind, ProviderSettings,
    RoleSettings, RolesError,
};
pub use runtime::AsyncRuntime;
pub use schema::{Schema, SchemaError, Violation};
pub use scripted::{ScriptError, Scripted};
pub use secret::Secret;
pub use spending_budget::{
    Allowance, Amount, LimitScope, Reached, SpendingBudget, Spent, SpentTotals,
};
pub use structured::{MAX_REPAIRS, Structured, StructuredError, structured};
pub use usage::Usage;
