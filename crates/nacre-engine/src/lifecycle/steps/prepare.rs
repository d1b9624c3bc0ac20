//! What the model is told before it begins: instructions and tools, and how much room they leave.

use super::Job;
use super::outcome::RunError;
use super::resolve::Resolved;
use super::short::{SMALL_WINDOW, shorten};
use crate::lifecycle::TooLong;
use crate::lifecycle::completion::{answer_tool, signal_tool};
use crate::lifecycle::context::tokens_in;
use crate::lifecycle::{Completion, Signals};
use crate::model::ToolDef;
use crate::record::Event;
use crate::tools::Pipeline;

/// What stays the same in every request of a run, so that providers can cache it.
pub(super) struct Prepared {
    pub(super) system: String,
    pub(super) tools: Vec<ToolDef>,
    /// How many tokens there are for the conversation.
    pub(super) room: usize,
}

pub(super) fn prepare(
    job: &Job<'_>,
    pipeline: &Pipeline,
    resolved: &Resolved,
) -> Result<Prepared, RunError> {
    let system = job.spec.prompt.clone();
    let tools = offered(job, pipeline, resolved);
    let described: usize = tools.iter().map(tool_tokens).sum();
    let spent = tokens_in(&system) + described + resolved.max_tokens as usize;
    let limit = resolved.context_tokens;
    let too_long = TooLong { tokens: spent, room: limit };
    let room = limit.checked_sub(spent).filter(|room| *room != 0);
    let room = room.ok_or(RunError::TooLong(too_long))?;
    job.events.emit_with(|| Event::RunPrepare {
        agent: job.spec.name.into(),
        model: resolved.model.clone(),
        n_tools: tools.len(),
    });
    Ok(Prepared { system, tools, room })
}

/// The tools that the model is told of, with the one by which it ends.
pub(super) fn offered(job: &Job<'_>, pipeline: &Pipeline, resolved: &Resolved) -> Vec<ToolDef> {
    let mut tools = pipeline.tools();
    if resolved.context_tokens < SMALL_WINDOW {
        tools.iter_mut().for_each(shorten);
    }
    match (&job.spec.completion, &resolved.form) {
        (Completion::EndTurn { signals: Signals::Offered }, _) => tools.push(signal_tool()),
        (Completion::EndTurn { signals: Signals::Off }, _) => {}
        // An agent without tools is asked for its form directly.
        (Completion::Structured { .. }, Some(form)) if !tools.is_empty() => {
            tools.push(answer_tool(&form.output));
        }
        (Completion::Structured { .. }, _) => {}
    }
    tools
}

fn tool_tokens(tool: &ToolDef) -> usize {
    tokens_in(&tool.name) + tokens_in(&tool.description) + tokens_in(&tool.schema.to_string())
}
