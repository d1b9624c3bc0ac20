//! Retries, fallback models, and a single deadline for all attempts.
//!
//! A failing model gets only a share of the remaining time, so that its fallbacks still have time
//! to run. Delays are drawn from a seed that the caller supplies, so that a run can be reproduced.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::model::conversation::{ModelEvent, Request, Response};
use crate::model::error::{ErrorKind, ModelError, NextStep, Wait};
use crate::model::provider::{Call, Limits, Provider, Sink};
use crate::model::roles::ModelRef;

/// A role's models, in the order in which they are tried. Never empty.
#[derive(Clone)]
pub struct Route {
    first: ServedModel,
    fallbacks: Vec<ServedModel>,
}

#[derive(Clone)]
pub struct ServedModel {
    pub model: ModelRef,
    pub provider: Arc<dyn Provider>,
}

impl Route {
    pub fn new(first: ServedModel, fallbacks: Vec<ServedModel>) -> Self {
        Self { first, fallbacks }
    }

    pub fn takes_images(&self) -> bool {
        std::iter::once(&self.first)
            .chain(&self.fallbacks)
            .all(|served| served.provider.takes_images())
    }

    pub fn models(&self) -> Vec<&ModelRef> {
        std::iter::once(&self.first).chain(&self.fallbacks).map(|item| &item.model).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum attempts per model, including the first.
    pub attempts: u32,
    /// Upper bound for the first delay. It doubles with each attempt.
    pub base: Duration,
    /// Upper bound for delays that Nacre chooses. A provider may request a longer one.
    pub cap: Duration,
    pub deadline: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            deadline: Duration::from_secs(600),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Control {
    pub policy: RetryPolicy,
    pub limits: Limits,
    pub seed: u64,
    pub cancel: CancellationToken,
}

pub async fn generate(
    route: &Route,
    request: &Request,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Response, ModelError> {
    let deadline = Instant::now() + control.policy.deadline;
    let mut run = Run { request, control, deadline, jitter: Jitter(control.seed), sink };
    let mut served = &route.first;
    let mut rest = route.fallbacks.iter();
    loop {
        let (error, shown) = match run.ask(served, rest.len()).await {
            Ok(response) => return Ok(response),
            Err(failed) => failed,
        };
        let next = match error.kind.next_step() {
            NextStep::Retry | NextStep::Fallback => rest.next(),
            NextStep::Stop if error.kind == ErrorKind::Timeout(Wait::Total) => rest.next(),
            NextStep::Stop => None,
        };
        let Some(next) = next else { return Err(error) };
        (run.sink)(ModelEvent::Fallback { why: error.kind, to: next.model.clone(), shown });
        served = next;
    }
}

struct Run<'a, 's> {
    request: &'a Request,
    control: &'a Control,
    deadline: Instant,
    jitter: Jitter,
    sink: &'a mut Sink<'s>,
}

/// One model's answer, or its error and whether the user has seen part of an answer.
type Attempt = Result<Response, (ModelError, bool)>;

impl Run<'_, '_> {
    async fn ask(&mut self, served: &ServedModel, n_behind: usize) -> Attempt {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(n_behind + 1).unwrap_or(u32::MAX);
        let give_up = Instant::now() + share;
        let mut attempt = 0;
        loop {
            let (error, shown) = match self.attempt(served, give_up).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            attempt += 1;
            let is_last = self.control.policy.attempts <= attempt;
            if is_last || error.kind.next_step() != NextStep::Retry {
                return Err((error, shown));
            }
            let wait = self.wait(&error.kind, attempt);
            let until = Instant::now() + wait;
            if give_up < until {
                return Err((error, shown));
            }
            (self.sink)(ModelEvent::Retry { why: error.kind, wait, shown });
            tokio::select! {
                biased;
                () = self.control.cancel.cancelled() => {
                    let kind = ErrorKind::Cancelled;
                    let model = served.model.clone();
                    return Err((ModelError { model, kind, said: None }, false));
                }
                () = sleep_until(until) => {}
            }
        }
    }

    /// Makes one attempt, which ends early if it is cancelled or if the model's share of the time
    /// runs out. Dropping the future closes the connection.
    async fn attempt(&mut self, served: &ServedModel, give_up: Instant) -> Attempt {
        let mut shown = false;
        let sink = &mut *self.sink;
        let mut watched = |event: ModelEvent| {
            if is_shown(&event) {
                shown = true;
            }
            sink(event);
        };
        let (request, limits) = (self.request, &self.control.limits);
        let call = Call { model: &served.model, request, limits };
        let fail = |kind| ModelError { model: served.model.clone(), kind, said: None };
        let result = tokio::select! {
            biased;
            () = self.control.cancel.cancelled() => Err(fail(ErrorKind::Cancelled)),
            answer = timeout_at(give_up, served.provider.generate(call, &mut watched)) => {
                answer.unwrap_or_else(|_| Err(fail(ErrorKind::Timeout(Wait::Total))))
            }
        };
        result.map_err(|error| (error, shown))
    }

    /// Returns the delay that the provider requested, or a delay with full jitter if it requested
    /// none.
    fn wait(&mut self, why: &ErrorKind, attempt: u32) -> Duration {
        let policy = &self.control.policy;
        let doubled = policy.base.saturating_mul(1_u32 << (attempt - 1).min(20));
        let own = self.jitter.below(doubled.min(policy.cap));
        match why.retry_after() {
            // A provider may request the same delay from every client, so add some jitter.
            Some(asked) => asked.saturating_add(own / 4),
            None => own,
        }
    }
}

/// Returns whether the user may have seen output from this event.
fn is_shown(event: &ModelEvent) -> bool {
    matches!(
        event,
        ModelEvent::Text(_)
            | ModelEvent::Reasoning(_)
            | ModelEvent::HiddenReasoning(_)
            | ModelEvent::ToolStarted { .. }
            | ModelEvent::ToolArguments { .. }
            | ModelEvent::TextReplaced { .. }
    )
}

/// A SplitMix64 generator, which is good enough to spread out the retries of different clients.
struct Jitter(u64);

impl Jitter {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let fraction = (mixed >> 32) as f64 / f64::from(u32::MAX);
        most.mul_f64(fraction)
    }
}

#[cfg(test)]
mod tests;
