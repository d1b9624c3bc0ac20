//! What a model is sent of a conversation that may be longer than its window.
//!
//! A pure function: the same conversation and room give the same plan. What is left out goes by whole turns, a call
//! and its result stay together because they are one value, and the model is told where something is missing. A plan
//! that had to cut leaves a quarter of the room free, so that the beginning which providers cache does not change
//! with every step.

mod conversation;
mod plan;

pub(crate) use conversation::tokens_in;
pub use conversation::{Conversation, Exchange, KeptResult, Turn};
pub use plan::{ContextPlan, TooLong, plan};

#[cfg(test)]
mod tests;
