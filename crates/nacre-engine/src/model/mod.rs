//! Calls to models. A `Request` emits `ModelEvent`s while it is running and finally returns either
//! a `Response` or a `ModelError`.
//!
//! A provider makes exactly one attempt. Retries, deadlines, cancellation and fallback models are
//! all handled in `retry`, because the delays would multiply if nested layers each had their own
//! timeouts.

mod anthropic;
mod classify;
mod collect;
mod conversation;
mod error;
mod hosted;
mod http;
mod openai;
mod price;
mod programs;
mod provider;
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

pub use nacre_base::config::{ApiChoice, EffortChoice, PlainHttpChoice};
pub use nacre_types::ModelRole as Role;
pub use tokio_util::sync::CancellationToken as Cancel;

pub use conversation::{
    Arguments, Content, Image, Message, ModelEvent, OUTPUT_TOOL, OutputSchema, Reasoning, Request,
    Response, Speaker, StopReason, ToolCall, ToolDef, ToolResult, ToolStatus,
};
pub use error::{ErrorKind, ModelError, NextStep, Said, Wait};
pub use http::EndpointError;
pub(crate) use http::{client_builder, http_url, is_plain, read_up_to, text_header};
pub use price::{Cost, Usage};
pub use programs::{
    InstalledProgram, KNOWN_PROGRAMS, KnownProgram, ProgramSettings, find_installed_programs,
};
pub(crate) use provider::edit_strings;
pub use provider::{Call, Generation, Limits, Provider, Sink};
pub use retry::{Control, RetryPolicy, Route, ServedModel, generate};
pub use roles::{
    BadModelRef, KNOWN_PROVIDERS, KnownProvider, ModelRef, ModelSettings, Models, ProviderSettings,
    RoleSettings, RolesError,
};
pub use runtime::AsyncRuntime;
pub use schema::violations;
pub use scripted::{ScriptError, Scripted};
pub use secret::Secret;
pub use spending_budget::{
    Allowance, Amount, LimitScope, Reached, SpendingBudget, Spent, SpentTotals,
};
pub use structured::{MAX_REPAIRS, Structured, StructuredError, request_structured};
pub use textual_tools::only_value;
