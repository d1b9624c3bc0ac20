//! Which models answer, and how they are asked. Looks at values only.

use super::Engine;
use super::outcome::RunError;
use crate::lifecycle::{AgentSpec, Completion, Validator};
use crate::model::{Effort, ModelRef, OutputSchema, Route, Schema};

/// A spec with everything that the settings add to it.
pub(super) struct Resolved {
    pub(super) route: Route,
    pub(super) model: ModelRef,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f32>,
    pub(super) effort: Effort,
    pub(super) context_tokens: usize,
    pub(super) form: Option<Form>,
}

/// The form of an answer, ready to be checked.
pub(super) struct Form {
    pub(super) output: OutputSchema,
    pub(super) schema: Schema,
    pub(super) validators: Vec<Validator>,
}

pub(super) fn resolve(engine: Engine<'_>, spec: &AgentSpec) -> Result<Resolved, RunError> {
    let settings = engine.models.settings_of(spec.role)?;
    let route = engine.models.route(spec.role)?;
    let form = match &spec.completion {
        Completion::EndTurn { signals: _ } => None,
        Completion::Structured { output, validators } => Some(Form {
            schema: Schema::new(&output.schema)?,
            output: output.clone(),
            validators: validators.clone(),
        }),
    };
    // An answer may be set shorter, never longer; the window is the model's, and only the person knows it.
    let (most, window) = (spec.budgets.answer_tokens, spec.budgets.context_tokens);
    Ok(Resolved {
        route,
        model: settings.model.clone(),
        max_tokens: settings.max_tokens.map_or(most, |set| set.min(most)),
        temperature: settings.temperature,
        effort: settings.effort,
        context_tokens: settings.context_tokens.unwrap_or(window),
        form,
    })
}
