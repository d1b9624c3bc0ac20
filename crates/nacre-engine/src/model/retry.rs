//! Patience: asking again, asking another model, and knowing when to stop.
//!
//! One deadline holds for everything. A model that fails gets its share of what is left of it, so that one dead
//! provider cannot use up the time in which a fallback would have answered. Waits are drawn from a seed that the
//! caller gives, so that a run can be repeated.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::error::{ErrorKind, ModelError, NextStep, Wait};
use super::names::ModelRef;
use super::provider::{Call, Limits, Provider, Sink};
use super::request::Request;
use super::response::{Event, Response, Shown};

/// The models of a role, in the order in which they are asked; there is at least one.
#[derive(Clone)]
pub struct Route {
    first: ServedModel,
    fallbacks: Vec<ServedModel>,
}

/// A model and who serves it.
#[derive(Clone)]
pub struct ServedModel {
    pub model: ModelRef,
    pub provider: Arc<dyn Provider>,
}

impl Route {
    pub fn new(first: ServedModel, fallbacks: Vec<ServedModel>) -> Self {
        Self { first, fallbacks }
    }

    /// Whether all of them may be sent pictures.
    pub fn takes_images(&self) -> bool {
        std::iter::once(&self.first)
            .chain(&self.fallbacks)
            .all(|served| served.provider.takes_images())
    }

    /// The models by name, in the order in which they are asked.
    pub fn models(&self) -> Vec<&ModelRef> {
        std::iter::once(&self.first).chain(&self.fallbacks).map(|item| &item.model).collect()
    }
}

/// How often and how long a failed call is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts at one model, the first included.
    pub attempts: u32,
    /// The longest first wait; it doubles with each attempt.
    pub base: Duration,
    /// The longest wait of our own choosing. A provider may ask for more.
    pub cap: Duration,
    /// For all attempts at all models together.
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

/// What bounds a call from outside.
#[derive(Clone, Debug)]
pub struct Control {
    pub policy: RetryPolicy,
    pub limits: Limits,
    /// Where the jitter comes from.
    pub seed: u64,
    pub cancel: Cancel,
}

/// Tells a call to stop. Dropping it cancels nothing.
#[derive(Debug)]
pub struct CancelSource(watch::Sender<bool>);

/// Hears from a `CancelSource`.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Receiver<bool>);

impl CancelSource {
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub fn token(&self) -> Cancel {
        Cancel(self.0.subscribe())
    }
}

impl Default for CancelSource {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancel {
    /// Returns a token that nobody cancels.
    pub fn never() -> Self {
        CancelSource::new().token()
    }

    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is cancelled, for ever if it never is.
    pub async fn cancelled(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Gets one answer from a role's models, or one error.
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
            // Its share of the time is over; the others have theirs.
            NextStep::Stop if error.kind == ErrorKind::Timeout(Wait::Total) => rest.next(),
            NextStep::Stop => None,
        };
        let Some(next) = next else { return Err(error) };
        (run.sink)(Event::Fallback { why: error.kind, to: next.model.clone(), shown });
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

impl Run<'_, '_> {
    /// Asks one model until it answers, its attempts or its share of the time are used up, or asking is no use.
    async fn ask(
        &mut self,
        served: &ServedModel,
        n_behind: usize,
    ) -> Result<Response, (ModelError, Shown)> {
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
            (self.sink)(Event::Retry { why: error.kind, wait, shown });
            tokio::select! {
                biased;
                () = self.control.cancel.cancelled() => {
                    let kind = ErrorKind::Cancelled;
                    let model = served.model.clone();
                    return Err((ModelError { model, kind, said: None }, Shown::Nothing));
                }
                () = sleep_until(until) => {}
            }
        }
    }

    /// Makes one attempt. However much comes meanwhile, it ends when the model's share of the time does, or when it is
    /// cancelled; the connection is dropped with the future.
    async fn attempt(
        &mut self,
        served: &ServedModel,
        give_up: Instant,
    ) -> Result<Response, (ModelError, Shown)> {
        let mut shown = Shown::Nothing;
        let sink = &mut *self.sink;
        let mut watched = |event: Event| {
            if is_shown(&event) {
                shown = Shown::Withdrawn;
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

    /// Draws a wait from the whole range (full jitter), or takes the provider's word.
    fn wait(&mut self, why: &ErrorKind, attempt: u32) -> Duration {
        let policy = &self.control.policy;
        let doubled = policy.base.saturating_mul(1_u32 << (attempt - 1).min(20));
        let own = self.jitter.below(doubled.min(policy.cap));
        match why.retry_after() {
            // Everybody was told the same time; a little later than it is less crowded.
            Some(asked) => asked.saturating_add(own / 4),
            None => own,
        }
    }
}

/// Whether a person may have seen something of it.
fn is_shown(event: &Event) -> bool {
    match event {
        Event::Text(_)
        | Event::Reasoning(_)
        | Event::HiddenReasoning(_)
        | Event::ToolStarted { .. }
        | Event::ToolArguments { .. }
        | Event::ToolDone { .. }
        | Event::TextReplaced { .. } => true,
        Event::Started { .. }
        | Event::ReasoningDone { .. }
        | Event::Usage(_)
        | Event::Stop(_)
        | Event::Retry { .. }
        | Event::Fallback { .. } => false,
    }
}

/// SplitMix64: small, and good enough to keep clients from marching in step.
struct Jitter(u64);

impl Jitter {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        // The upper 32 bits as a fraction of all.
        let fraction = (mixed >> 32) as f64 / f64::from(u32::MAX);
        most.mul_f64(fraction)
    }
}

#[cfg(test)]
mod tests;
