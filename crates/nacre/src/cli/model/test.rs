//! `nacre model test`: one tiny call, to see whether it works and what it costs.

use std::time::Duration;

use clap::{Args, ValueEnum};
use nacre_engine::model::{
    Cancel, Control, Cost, Event, Limits, Models, Request, RetryPolicy, Role as ModelRole, Usage,
    generate,
};
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::{model_settings, no_answer};

/// Nobody waits longer for one word.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// Ask a model for one word, and say how long it took and what it cost
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The model of this role
    #[arg(long, value_name = "ROLE", default_value = "ask")]
    role: RoleName,
}

/// The jobs that a model can be set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    Lead,
    Explorer,
    Extract,
    Summarize,
    Ask,
    Chat,
}

impl RoleName {
    fn role(self) -> ModelRole {
        match self {
            Self::Lead => ModelRole::Lead,
            Self::Explorer => ModelRole::Explorer,
            Self::Extract => ModelRole::Extract,
            Self::Summarize => ModelRole::Summarize,
            Self::Ask => ModelRole::Ask,
            Self::Chat => ModelRole::Chat,
        }
    }
}

/// What is said about a cost that no table knows.
fn cost_text(cost: Option<Cost>) -> String {
    cost.map_or_else(|| "unknown cost".to_owned(), |cost| cost.to_string())
}

pub(crate) fn cmd_test(ui: &mut Ui, host: &Host, args: &TestArgs) -> Result<Exit, OpError> {
    let TestArgs { role } = args;
    let role = role.role();
    let models = Models::new(model_settings(host)?);
    let set = models.settings_of(role)?.clone();
    let route = models.route(role)?;
    let mut request = Request::new(role, "Answer with one word.", "Say the word: pearl");
    // Models that think do so before the word; what they are given is still little.
    request.max_tokens = set.max_tokens.unwrap_or(128).min(128);
    request.temperature = set.temperature;
    request.effort = set.effort;
    let control = Control {
        policy: RetryPolicy {
            attempts: 2,
            deadline: MAX_WAIT.min(host.settings().limits.model_time),
            ..RetryPolicy::default()
        },
        limits: Limits::default(),
        seed: u64::from(host.environment.pid),
        cancel: Cancel::never(),
    };
    ui.progress_note(&format!("Asking {}", set.model));
    let passed = host.stopwatch();
    let mut first_word = None;
    let mut sink = |event: Event| {
        if matches!(event, Event::Text(_) | Event::Reasoning(_)) {
            first_word.get_or_insert_with(&passed);
        }
    };
    let answered = host.block_on(generate(&route, &request, &control, &mut sink))?;
    let took = passed();
    let response = answered.map_err(|error| no_answer(&error))?;
    let cost = models.prices().cost(&response.model, &response.usage);
    let Usage { input, cache_read, cache_write, output, .. } = response.usage;
    if ui.is_json() {
        ui.json(&json!({
            "role": role.as_str(),
            "model": response.model,
            "text": response.text(),
            "first_word_ms": first_word.map(millis),
            "total_ms": millis(took),
            "tokens": { "input": input + cache_read + cache_write, "output": output },
            "cost_usd": cost.map(Cost::dollars),
        }))?;
        return Ok(Exit::Done);
    }
    let word: String = response.text().chars().take(80).collect();
    let rows = [
        ("model", response.model.to_string()),
        ("answer", word.trim().to_owned()),
        (
            "first word",
            first_word.map_or("none".to_owned(), |first| format!("{} ms", millis(first))),
        ),
        ("in all", format!("{} ms", millis(took))),
        ("tokens", format!("{} in, {output} out", input + cache_read + cache_write)),
        ("cost", cost_text(cost)),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| {
            let shown = nacre_core::base::Shown(&value).one_line();
            vec![(Role::Faint, name.to_owned()), (Role::Title, shown)]
        })
        .collect();
    ui.table(&rows)?;
    Ok(Exit::Done)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
