//! Spending limits, checked before every attempt and charged for every response.
//!
//! The budget is part of `Models`, so that repairs, retries, fallbacks and agent steps all count. A
//! running attempt reserves an amount based on the length of its request, so that concurrent
//! attempts cannot each use up the remainder. Only responses to requests already in flight can
//! exceed a limit.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::model::conversation::{Content, Image, ModelEvent, Request};
use crate::model::error::{ErrorKind, ModelError, Said};
use crate::model::price::{Cost, Usage};
use crate::model::programs::KnownProgram;
use crate::model::provider::{Call, Generation, Provider, Sink};
use crate::model::roles::ModelRef;
use nacre_types::ModelRole as Role;

const BYTES_A_TOKEN: u64 = 4;

/// Maximum average bytes per token. A server's token count is raised if it implies more.
const MAX_BYTES_A_TOKEN: u64 = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    pub tokens: u64,
    pub cost: Cost,
}

impl Amount {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), cost: self.cost.plus(other.cost) }
    }

    fn less(self, other: Self) -> Self {
        let cost = self.cost.nano_dollars().saturating_sub(other.cost.nano_dollars());
        let tokens = self.tokens.saturating_sub(other.tokens);
        Self { tokens, cost: Cost::from_nano_dollars(cost) }
    }
}

nacre_base::words! {
    LimitScope {
        Session = "session",
        Day = "day",
        /// Limits the project's spending per month.
        Project = "project",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub scope: LimitScope,
    pub limit: Amount,
    pub used: Amount,
}

impl Allowance {
    /// Returns whether `more` can never fit, even after a reset. Session limits never reset.
    fn never_fits(&self, more: Amount, is_free: bool) -> bool {
        let is_too_much =
            self.limit.tokens < more.tokens || (!is_free && self.limit.cost < more.cost);
        self.scope == LimitScope::Session || is_too_much
    }

    /// Returns the limit that `more` would exceed. An exhausted limit allows nothing, not even
    /// zero. Money limits do not apply to free models.
    fn check_limit(&self, more: Amount, is_free: bool) -> Option<Reached> {
        let Self { scope, limit, used } = *self;
        let (after, is_final) = (used.plus(more), self.never_fits(more, is_free));
        let is_out = |used: u64, after: u64, limit: u64| limit <= used || limit < after;
        if is_out(used.tokens, after.tokens, limit.tokens) {
            return Some(Reached { scope, of: Measure::Tokens, limit, used, is_final });
        }
        let nano = |amount: Amount| amount.cost.nano_dollars();
        let is_out_of_money = !is_free && is_out(nano(used), nano(after), nano(limit));
        is_out_of_money.then_some(Reached { scope, of: Measure::Money, limit, used, is_final })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub scope: LimitScope,
    /// Whether the limit never resets, so that waiting does not help.
    pub is_final: bool,
    of: Measure,
    limit: Amount,
    used: Amount,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Tokens,
    Money,
    /// Number of sessions read by installed agents; the count is stored in the token field.
    AgentSessions,
}

impl Reached {
    pub fn key(&self) -> &'static str {
        match (self.scope, self.of) {
            (LimitScope::Session, Measure::Tokens) => "limits.session_tokens",
            (LimitScope::Session, Measure::Money) => "limits.session_usd",
            (LimitScope::Day, Measure::Tokens) => "limits.day_tokens",
            (LimitScope::Day, Measure::Money) => "limits.day_usd",
            (LimitScope::Project, Measure::Tokens) => "limits.project_tokens",
            (LimitScope::Project, Measure::Money) => "limits.project_usd",
            (_, Measure::AgentSessions) => "reading.sessions_per_day",
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, of, limit, used, is_final: _ } = self;
        let scope = scope.as_str();
        match of {
            Measure::Tokens => {
                let (limit, used) = (limit.tokens, used.tokens);
                write!(f, "the {scope}'s limit of {limit} tokens is reached ({used} used)")
            }
            Measure::AgentSessions => {
                let n = limit.tokens;
                write!(f, "the {scope}'s limit of {n} sessions for an installed agent is reached")
            }
            Measure::Money => {
                let (limit, used) = (limit.cost, used.cost);
                write!(f, "the {scope}'s limit of {limit} is reached ({used} spent)")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    pub role: Role,
    pub model: ModelRef,
    pub usage: Usage,
    pub cost: Option<Cost>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentTotals {
    pub calls: u64,
    pub usage: Usage,
    pub cost: Cost,
    /// Number of calls whose price is unknown. Their tokens are counted.
    pub unpriced_calls: u64,
}

type Keep = dyn Fn(&Spent) -> Result<(), String> + Send + Sync;

type CostOf = fn(&Usage, &ModelRef) -> Option<Cost>;

pub struct SpendingBudget {
    cost_of: CostOf,
    /// Set if installed agents may not read any more sessions today.
    agents_done: Option<Reached>,
    keep: Box<Keep>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    allowances: Vec<Allowance>,
    under_way: Amount,
    totals: SpentTotals,
    reached: Option<Reached>,
    /// Set if an expense could not be stored, in which case further attempts are refused.
    unwritten: Option<String>,
}

impl Inner {
    /// Returns the limit that this amount, together with the running attempts, would exceed.
    fn check_limits(&self, asked: Amount, is_free: bool) -> Option<Reached> {
        let more = self.under_way.plus(asked);
        self.allowances.iter().find_map(|allowance| allowance.check_limit(more, is_free))
    }
}

impl SpendingBudget {
    /// Creates a budget. `keep` stores the cost of each response before the next attempt starts.
    pub fn new(
        allowances: Vec<Allowance>,
        cost_of: CostOf,
        keep: impl Fn(&Spent) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let inner = Inner { allowances, ..Inner::default() };
        Self { cost_of, agents_done: None, keep: Box::new(keep), inner: Mutex::new(inner) }
    }

    /// Prevents installed agents from reading this session once they have read `limit` others
    /// today.
    #[must_use]
    pub fn with_agent_sessions(self, limit: u64, used: u64) -> Self {
        let amount = |tokens| Amount { tokens, ..Amount::default() };
        let reached = Reached {
            scope: LimitScope::Day,
            is_final: false,
            of: Measure::AgentSessions,
            limit: amount(limit),
            used: amount(used),
        };
        Self { agents_done: (limit <= used).then_some(reached), ..self }
    }

    fn agents_done(&self, model: &ModelRef) -> Option<Reached> {
        self.agents_done.filter(|_| KnownProgram::of_provider(model.provider()).is_some())
    }

    pub fn totals(&self) -> SpentTotals {
        self.inner().totals
    }

    pub fn limit_reached(&self) -> Option<Reached> {
        self.inner().reached
    }

    /// Checks that this usage still fits, so that work is not started if it cannot be finished.
    pub fn allows(&self, model: &ModelRef, usage: Usage) -> Result<(), Reached> {
        if let Some(reached) = self.agents_done(model) {
            return Err(reached);
        }
        let (asked, is_free) = self.price_usage(model, usage);
        self.inner().check_limits(asked, is_free).map_or(Ok(()), Err)
    }

    fn price_usage(&self, model: &ModelRef, usage: Usage) -> (Amount, bool) {
        let cost = (self.cost_of)(&usage, model);
        let amount = Amount { tokens: usage.total(), cost: cost.unwrap_or_default() };
        (amount, cost == Some(Cost::default()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the estimated cost of a request, or returns the reason for a refusal.
    fn open(self: &Arc<Self>, call: &Call<'_>) -> Result<UnderWay, String> {
        let input = count_request_bytes(call.request) / BYTES_A_TOKEN;
        let usage = Usage { input, ..Usage::default() };
        let (asked, is_free) = self.price_usage(call.model, usage);
        let mut inner = self.inner();
        if let Some(why) = &inner.unwritten {
            return Err(format!("cannot save the amount spent: {why}"));
        }
        let reads = matches!(call.request.role, Role::Extract | Role::Summarize);
        let agents_done = || self.agents_done(call.model).filter(|_| reads);
        if let Some(reached) = inner.check_limits(asked, is_free).or_else(agents_done) {
            inner.reached.get_or_insert(reached);
            return Err(reached.to_string());
        }
        inner.under_way = inner.under_way.plus(asked);
        Ok(UnderWay { budget: Arc::clone(self), asked })
    }

    fn pay(&self, call: &Call<'_>, usage: Usage) {
        let cost = (self.cost_of)(&usage, call.model);
        let (role, model) = (call.request.role, call.model.clone());
        let spent = Spent { role, model, usage, cost };
        let kept = (self.keep)(&spent);
        let mut inner = self.inner();
        if let Err(why) = kept {
            inner.unwritten.get_or_insert(why);
        }
        let amount = Amount { tokens: usage.total(), cost: cost.unwrap_or_default() };
        for allowance in &mut inner.allowances {
            allowance.used = allowance.used.plus(amount);
        }
        let totals = &mut inner.totals;
        totals.calls += 1;
        totals.unpriced_calls += u64::from(cost.is_none());
        totals.usage = totals.usage.plus(usage);
        totals.cost = totals.cost.plus(amount.cost);
    }
}

/// A running attempt's reservation, released on drop.
struct UnderWay {
    budget: Arc<SpendingBudget>,
    asked: Amount,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut inner = self.budget.inner();
        inner.under_way = inner.under_way.less(self.asked);
    }
}

fn count_request_bytes(request: &Request) -> u64 {
    let told: usize = request.messages.iter().map(|message| message.text().len()).sum();
    let is_image = |content: &&Content| matches!(content, Content::Image(_));
    let parts = request.messages.iter().flat_map(|message| &message.content);
    // Convert each image to the number of text bytes that would cost the same.
    let told = told + parts.filter(is_image).count() * Image::TOKENS * 3;
    (request.system.len() + told) as u64
}

pub(super) struct Metered {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) budget: Arc<SpendingBudget>,
}

impl Provider for Metered {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let out = self.budget.open(&call).map_err(|why| ModelError {
                model: call.model.clone(),
                kind: ErrorKind::OverLimit,
                said: Some(Said::new(&why)),
            })?;
            let (mut told, mut said_bytes) = (Usage::default(), 0);
            let mut watched = |event: ModelEvent| {
                if let ModelEvent::Usage(usage) = &event {
                    told = *usage;
                } else if let ModelEvent::Text(text)
                | ModelEvent::Reasoning(text)
                | ModelEvent::ToolArguments { delta: text, .. } = &event
                {
                    said_bytes += text.len() as u64;
                }
                sink(event);
            };
            let answer = self.provider.generate(call, &mut watched).await;
            if let Ok(response) = &answer {
                told = response.usage;
                let shown = response.text().len() + response.reasoning().len();
                said_bytes = said_bytes.max(shown as u64);
            }
            drop(out);
            // A failed attempt without cost is not recorded.
            if answer.is_ok() || 0 < told.total() || 0 < said_bytes {
                self.budget.pay(
                    &call,
                    estimate_usage(told, count_request_bytes(call.request), said_bytes),
                );
            }
            answer
        })
    }

    fn takes_images(&self) -> bool {
        self.provider.takes_images()
    }
}

/// Returns an attempt's usage. Token counts that are missing, or too low for the length of the
/// text, are replaced with estimates, because a limit must not depend on a server's claims.
fn estimate_usage(told: Usage, asked_bytes: u64, said_bytes: u64) -> Usage {
    if told.total() == 0 {
        let (input, output) = (asked_bytes / BYTES_A_TOKEN, said_bytes / BYTES_A_TOKEN);
        let reported = told.reported.filter(|cost| Cost::default() < *cost);
        return Usage { input, output, reported, ..told };
    }
    let told_input = told.input.saturating_add(told.cache_read).saturating_add(told.cache_write);
    let missing = (asked_bytes / MAX_BYTES_A_TOKEN).saturating_sub(told_input);
    let output = told.output.max(said_bytes / MAX_BYTES_A_TOKEN);
    let is_believed = missing == 0 && output == told.output;
    let reported = told.reported.filter(|_| is_believed);
    Usage { input: told.input.saturating_add(missing), output, reported, ..told }
}

#[cfg(test)]
mod tests;
