//! Asks a model for one word: whether it works, how long it takes and what it costs.

use std::time::Duration;

use nacre_api::wire::{ModelRole, ModelTestReport, ModelTestRequest, ModelTestTokens};
use nacre_engine::model::{
    Control, Cost, Event, Limits, Models, Request, RetryPolicy, Role, RoleSettings, Usage, generate,
};

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, model_settings, no_answer};

/// Nobody waits longer for one word, and not twice for a server that says nothing.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Models that think do so before the word; what they are given is still little.
const MAX_TOKENS: u32 = 128;

pub fn test(
    host: &Host,
    request: &ModelTestRequest,
    events: &Events,
) -> Result<ModelTestReport, OpError> {
    let role = engine_role(request.role);
    let models = Models::new(model_settings(host)?);
    let set = models.settings_of(role)?.clone();
    let route = models.route(role)?;
    events.step(format!("Asking {}", set.model));
    let passed = host.stopwatch();
    let mut first_word = None;
    let mut sink = |event: Event| {
        if matches!(event, Event::Text(_) | Event::Reasoning(_)) {
            first_word.get_or_insert_with(&passed);
        }
    };
    let answered =
        host.block_on(generate(&route, &question(role, &set), &control(host, events), &mut sink))?;
    let took = passed();
    events.cancel().check()?;
    let response = answered.map_err(|error| no_answer(&error))?;
    let cost = models.prices().cost(&response.model, &response.usage);
    let Usage { input, cache_read, cache_write, output, .. } = response.usage;
    Ok(ModelTestReport {
        role: request.role,
        model: response.model.to_string(),
        text: response.text(),
        first_word_ms: first_word.map(millis),
        total_ms: millis(took),
        tokens: ModelTestTokens { input: input + cache_read + cache_write, output },
        cost_usd: cost.map(Cost::dollars),
    })
}

fn question(role: Role, set: &RoleSettings) -> Request {
    let mut request = Request::new(role, "Answer with one word.", "Say the word: pearl");
    request.max_tokens = set.max_tokens.unwrap_or(MAX_TOKENS).min(MAX_TOKENS);
    request.temperature = set.temperature;
    request.effort = set.effort;
    request
}

fn control(host: &Host, events: &Events) -> Control {
    Control {
        policy: RetryPolicy {
            attempts: 2,
            deadline: MAX_WAIT.min(host.settings().limits.model_time),
            ..RetryPolicy::default()
        },
        limits: Limits::default(),
        seed: u64::from(host.environment.pid),
        cancel: events.cancel().token(),
    }
}

fn engine_role(role: ModelRole) -> Role {
    match role {
        ModelRole::Lead => Role::Lead,
        ModelRole::Explorer => Role::Explorer,
        ModelRole::Extract => Role::Extract,
        ModelRole::Summarize => Role::Summarize,
        ModelRole::Ask => Role::Ask,
        ModelRole::Chat => Role::Chat,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
