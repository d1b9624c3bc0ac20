//! What may still be spent: looked at before every attempt, and told of every answer.
//!
//! It hangs in `Models`, so that no way to a model leads around it: repairs, retries, fallbacks and the steps of an
//! agent all pay from the same budget. An attempt counts by the length of its question while it is under way, so that
//! several side by side cannot each take the last of it. What went out can exceed a limit by the answers that were
//! under way, never by another question.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::content::{Content, Image};
use super::cost::Cost;
use super::error::{ErrorKind, ModelError, Said};
use super::names::{ModelRef, Role};
use super::price::PriceTable;
use super::programs::KnownProgram;
use super::provider::{Call, Generation, Provider, Sink};
use super::request::Request;
use super::response::Event;
use super::usage::Usage;

/// Bytes of a text that make a token, about; used until the provider tells, and where it tells nothing.
const BYTES_A_TOKEN: u64 = 4;

/// Bytes that make a token at most, over a whole text: who claims fewer tokens is not believed.
const MAX_BYTES_A_TOKEN: u64 = 16;

/// Tokens and money.
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
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: Cost::from_nano_dollars(cost),
        }
    }
}

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitScope {
    /// All that was ever asked about one session.
    Session,
    /// Everything of one day.
    Day,
    /// One project's month.
    Project,
}

impl LimitScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Day => "day",
            Self::Project => "project",
        }
    }
}

/// What may be spent in one scope, and what was spent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub scope: LimitScope,
    pub limit: Amount,
    pub used: Amount,
}

impl Allowance {
    /// Whether `more` can never be spent, however long one waits: a session stays the session that it is.
    fn never_fits(&self, more: Amount, is_free: bool) -> bool {
        let is_too_much =
            self.limit.tokens < more.tokens || (!is_free && self.limit.cost < more.cost);
        self.scope == LimitScope::Session || is_too_much
    }

    /// Why `more` may not be spent on top of what was. Where all is spent, nothing more may be; money does not matter
    /// to what is known to be free.
    fn reached(&self, more: Amount, is_free: bool) -> Option<Reached> {
        let Self { scope, limit, used } = *self;
        let (after, is_final) = (used.plus(more), self.never_fits(more, is_free));
        let is_out = |used: u64, after: u64, limit: u64| limit <= used || limit < after;
        if is_out(used.tokens, after.tokens, limit.tokens) {
            return Some(Reached { scope, of: Measure::Tokens, limit, used, is_final });
        }
        let nano = |amount: Amount| amount.cost.nano_dollars();
        (!is_free && is_out(nano(used), nano(after), nano(limit))).then_some(Reached {
            scope,
            of: Measure::Money,
            limit,
            used,
            is_final,
        })
    }
}

/// A limit that stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub scope: LimitScope,
    /// Waiting will not help.
    pub is_final: bool,
    of: Measure,
    limit: Amount,
    used: Amount,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Tokens,
    Money,
    /// Sessions that installed agents read, counted in the place of tokens.
    AgentSessions,
}

impl Reached {
    /// The setting that would have to be raised.
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
            Measure::Tokens => write!(
                f,
                "the {scope}'s limit of {} tokens is reached, {} were used",
                limit.tokens, used.tokens
            ),
            Measure::AgentSessions => write!(
                f,
                "the {scope}'s limit of {} sessions for an installed agent is reached",
                limit.tokens
            ),
            Measure::Money => write!(
                f,
                "the {scope}'s limit of {} is reached, {} was spent",
                limit.cost, used.cost
            ),
        }
    }
}

/// One answer that was paid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    pub role: Role,
    pub model: ModelRef,
    pub usage: Usage,
    /// Nothing where nobody knows the price.
    pub cost: Option<Cost>,
}

/// What went out of one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentTotals {
    pub calls: u64,
    pub usage: Usage,
    pub cost: Cost,
    /// Calls whose price nobody knows; their tokens are counted all the same.
    pub unpriced_calls: u64,
}

/// Writes down what was spent; says why it could not.
type Keep = dyn Fn(&Spent) -> Result<(), String> + Send + Sync;

/// What may be spent on one piece of work.
pub struct SpendingBudget {
    prices: PriceTable,
    /// Why no installed agent may read this session.
    agents_done: Option<Reached>,
    keep: Box<Keep>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    allowances: Vec<Allowance>,
    /// What the attempts under way count for.
    under_way: Amount,
    totals: SpentTotals,
    reached: Option<Reached>,
    /// What cannot be written down must not be spent.
    unwritten: Option<String>,
}

impl SpendingBudget {
    /// A budget with these allowances; `keep` writes down each answer before the next question is asked.
    pub fn new(
        allowances: Vec<Allowance>,
        prices: PriceTable,
        keep: impl Fn(&Spent) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let inner = Inner { allowances, ..Inner::default() };
        Self { prices, agents_done: None, keep: Box::new(keep), inner: Mutex::new(inner) }
    }

    /// Lets no installed agent read the session where they have read as many others today as they may.
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

    /// What was spent so far.
    pub fn totals(&self) -> SpentTotals {
        self.inner().totals
    }

    /// The first limit that stood in the way of a question.
    pub fn reached(&self) -> Option<Reached> {
        self.inner().reached
    }

    /// Whether so much more may be spent on a model, so that nothing is begun that cannot be finished.
    pub fn allows(&self, model: &ModelRef, usage: Usage) -> Result<(), Reached> {
        if let Some(reached) = self.agents_done(model) {
            return Err(reached);
        }
        let inner = self.inner();
        let (asked, is_free) = self.priced(model, usage);
        let more = inner.under_way.plus(asked);
        let mut allowances = inner.allowances.iter();
        allowances.find_map(|allowance| allowance.reached(more, is_free)).map_or(Ok(()), Err)
    }

    /// The money that every limit leaves.
    pub fn money_left(&self) -> Option<Cost> {
        let left = |allowance: &Allowance| allowance.limit.less(allowance.used).cost;
        self.inner().allowances.iter().map(left).min()
    }

    /// What a usage amounts to, and whether it is known to be free.
    fn priced(&self, model: &ModelRef, usage: Usage) -> (Amount, bool) {
        let cost = self.prices.cost(model, &usage);
        let amount = Amount { tokens: usage.total(), cost: cost.unwrap_or_default() };
        (amount, cost == Some(Cost::default()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a question out, or says why not.
    fn open(self: &Arc<Self>, call: &Call<'_>) -> Result<UnderWay, String> {
        let input = asked_bytes(call.request) / BYTES_A_TOKEN;
        let usage = Usage { input, ..Usage::default() };
        let (asked, is_free) = self.priced(call.model, usage);
        let mut inner = self.inner();
        if let Some(why) = &inner.unwritten {
            return Err(format!("what was spent cannot be written down: {why}"));
        }
        let more = inner.under_way.plus(asked);
        let mut allowances = inner.allowances.iter();
        let reached = allowances.find_map(|allowance| allowance.reached(more, is_free));
        let reads = matches!(call.request.role, Role::Extract | Role::Summarize);
        let reached = reached.or_else(|| self.agents_done(call.model).filter(|_| reads));
        if let Some(reached) = reached {
            inner.reached.get_or_insert(reached);
            return Err(reached.to_string());
        }
        inner.under_way = more;
        Ok(UnderWay { budget: Arc::clone(self), asked })
    }

    fn pay(&self, call: &Call<'_>, usage: Usage) {
        let cost = self.prices.cost(call.model, &usage);
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

impl fmt::Debug for SpendingBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpendingBudget").field("totals", &self.totals()).finish_non_exhaustive()
    }
}

/// A question that is out; whatever becomes of it, it stops counting as under way.
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

/// How long a request is.
fn asked_bytes(request: &Request) -> u64 {
    let told: usize = request.messages.iter().map(|message| message.text().len()).sum();
    let is_image = |content: &&Content| matches!(content, Content::Image(_));
    let parts = request.messages.iter().flat_map(|message| &message.content);
    // As many bytes as a text of the same price has.
    let told = told + parts.filter(is_image).count() * Image::TOKENS * 3;
    (request.system.len() + told) as u64
}

/// A provider whose answers are paid for.
pub(super) struct Metered {
    provider: Arc<dyn Provider>,
    budget: Arc<SpendingBudget>,
}

impl Metered {
    pub(super) fn new(provider: Arc<dyn Provider>, budget: Arc<SpendingBudget>) -> Self {
        Self { provider, budget }
    }
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
            let mut watched = |event: Event| {
                match &event {
                    Event::Usage(usage) => told = *usage,
                    Event::Text(text) | Event::Reasoning(text) => said_bytes += text.len() as u64,
                    Event::ToolArguments { delta, .. } => said_bytes += delta.len() as u64,
                    Event::Started { .. }
                    | Event::ReasoningDone { .. }
                    | Event::HiddenReasoning(_)
                    | Event::ToolStarted { .. }
                    | Event::ToolDone { .. }
                    | Event::TextReplaced { .. }
                    | Event::Stop(_)
                    | Event::Retry { .. }
                    | Event::Fallback { .. } => {}
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
            // An attempt that failed before it cost anything is none.
            if answer.is_ok() || 0 < told.total() || 0 < said_bytes {
                self.budget.pay(&call, counted(told, asked_bytes(call.request), said_bytes));
            }
            answer
        })
    }

    fn takes_images(&self) -> bool {
        self.provider.takes_images()
    }
}

/// What an attempt used. One whose server does not say is counted by its length, and one whose server says less than such texts can
/// take, too: a limit must not depend on what a server claims.
fn counted(told: Usage, asked_bytes: u64, said_bytes: u64) -> Usage {
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
