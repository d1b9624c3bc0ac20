//! Reads a session with rules, or with a model in windows. `auto` uses rules if there is no model,
//! if a spending limit prevents its use, or if its answers cannot be used.

mod answer;
pub(crate) mod claims;
mod pages;
#[cfg(test)]
pub(super) mod tests;
mod windows;

use jiff::Timestamp;
use nacre_base::config::StrategyChoice;
use nacre_base::redact::ExtraWords;
use nacre_engine::model::{Role, RolesError};
use nacre_engine::record::state::{SpentOn, StateError};
use nacre_memory::{MemoryId, MemoryType};
use nacre_traces::transcript::{SessionFacts, Sink, Trace, TranscriptEvent, without_words};
use nacre_types::{Gate, Strategy};
use serde::Serialize;

use self::pages::Pages;
use self::windows::{ModelRead, ReadingJob};
use crate::error::OpError;
use crate::host::{AskError, ModelClient, ProjectModels};
use crate::sync::candidate::{Extraction, SessionSummary};
use crate::sync::extract::{Extractor, Rules, read as read_trace};
use crate::sync::summarize::Summarizer;

#[derive(Clone, Copy)]
pub struct ReadingStrategy<'a> {
    pub choice: StrategyChoice,
    pub models: Option<ProjectModels<'a>>,
}

impl<'a> ReadingStrategy<'a> {
    pub fn offline() -> Self {
        Self { choice: StrategyChoice::Offline, models: None }
    }

    pub fn asker(
        &self,
        on: SpentOn,
        now: Timestamp,
    ) -> Result<Option<ModelClient<'a>>, StateError> {
        let models = self.models.filter(|_| self.choice != StrategyChoice::Offline);
        models.map(|models| models.asker(on, now)).transpose()
    }

    fn may_ask(&self) -> bool {
        let has_model =
            |models: ProjectModels<'_>| models.flow.models.settings_of(Role::Extract).is_ok();
        match self.choice {
            StrategyChoice::Offline => false,
            StrategyChoice::Auto => self.models.is_some_and(has_model),
            StrategyChoice::Windows => true,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HowRead {
    pub windows: usize,
    /// Number of windows that were not read because a limit was exceeded or the response was
    /// unusable.
    pub unread_windows: usize,
    pub unread_events: u64,
    pub fallback: Option<String>,
    /// The name of the spending limit setting that prevented the use of a model.
    pub limit: Option<&'static str>,
}

/// An existing memory that is shown to the model, so that it can say what it replaces or confirms.
#[derive(Clone, Debug)]
pub struct KnownMemory {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub title: String,
    pub said: Option<Timestamp>,
}

/// Finds the memories that are most similar to what was said, nearest first.
pub type FindKnown<'a> = dyn Fn(&[&str]) -> Vec<KnownMemory> + 'a;

#[derive(Clone, Debug)]
pub struct SessionRead {
    pub extraction: Extraction,
    pub summary: SessionSummary,
    pub how: HowRead,
}

pub struct SessionReader<'r> {
    extractor: Extractor<'r>,
    summarizer: Summarizer,
    pages: Option<Pages>,
    reader: ReadingStrategy<'r>,
}

impl<'r> SessionReader<'r> {
    pub fn new(rules: Rules<'r>, reader: ReadingStrategy<'r>) -> Self {
        let pages = reader.may_ask().then(|| Pages::new(rules.from));
        let summarizer = Summarizer::default();
        Self { extractor: Extractor::new(rules), summarizer, pages, reader }
    }

    /// Processes an event. The text of `event` must not have been omitted while reading the trace.
    pub fn take(&mut self, event: &TranscriptEvent) {
        self.extractor.take(event);
        self.summarizer.take(event);
        if let Some(pages) = &mut self.pages {
            pages.take(event);
        }
    }

    /// Finishes reading the session. `earlier` is the existing summary if part of the session was
    /// read before.
    pub fn finish(
        mut self,
        facts: &SessionFacts,
        asker: Option<&ModelClient<'_>>,
        earlier: Option<&str>,
        find_known: &FindKnown<'_>,
    ) -> Result<SessionRead, AskError> {
        let pages = self.pages.take().unwrap_or_default().without_undone(facts);
        let is_wanted = self.reader.choice != StrategyChoice::Offline;
        if !is_wanted || self.extractor.gate(facts) != Gate::Open || !pages.has_news() {
            return Ok(self.by_rules(facts, HowRead::default()));
        }
        let demands_a_model = self.reader.choice.demands_a_model();
        let asker = asker.filter(|asker| asker.models().settings_of(Role::Extract).is_ok());
        let Some(asker) = asker else {
            if demands_a_model {
                return Err(RolesError::NotSet(Role::Extract).into());
            }
            return Ok(self.by_rules(facts, HowRead::default()));
        };
        let job = ReadingJob { asker, pages: &pages, earlier, find_known };
        match job.check_budget().and_then(|()| job.read_twice()) {
            Err(AskError::OverLimit(reached)) if reached.is_final && !demands_a_model => {
                let (fallback, limit) = (Some(reached.to_string()), Some(reached.key()));
                Ok(self.by_rules(facts, HowRead { fallback, limit, ..HowRead::default() }))
            }
            Err(error @ AskError::Answer(_)) if !demands_a_model => {
                let fallback = Some(error.to_string());
                Ok(self.by_rules(facts, HowRead { fallback, ..HowRead::default() }))
            }
            read => Ok(self.by_model(facts, read?, pages.n_left_out)),
        }
    }

    fn by_rules(self, facts: &SessionFacts, how: HowRead) -> SessionRead {
        let summary = mark_repeated(&self.extractor, self.summarizer.finish(facts));
        SessionRead { extraction: self.extractor.finish(facts), summary, how }
    }

    fn by_model(self, facts: &SessionFacts, read: ModelRead, unread_events: u64) -> SessionRead {
        let ModelRead { proven, summary, how } = read;
        let counted = self.summarizer.finish(facts);
        let found = (proven.proposals, proven.unproven);
        let summary = match summary {
            Some(summary) => summary.over(counted, Strategy::Windows),
            None => counted,
        };
        let summary = mark_repeated(&self.extractor, summary);
        let extraction = self.extractor.finish_with(facts, Strategy::Windows, found);
        SessionRead { extraction, summary, how: HowRead { unread_events, ..how } }
    }
}

/// Marks a summary that repeats tool output, so that it is not included in briefs.
fn mark_repeated(extractor: &Extractor<'_>, summary: SessionSummary) -> SessionSummary {
    let parts = [&summary.title, &summary.description, &summary.outcome];
    let is_repeated = parts.into_iter().any(|part| extractor.repeats(part));
    SessionSummary { is_repeated, ..summary }
}

pub fn read_session(
    trace: &Trace,
    words: &ExtraWords,
    rules: Rules<'_>,
    reader: ReadingStrategy<'_>,
    asker: Option<&ModelClient<'_>>,
) -> Result<SessionRead, OpError> {
    let mut session = SessionReader::new(rules, reader);
    let mut each = |event: TranscriptEvent| session.take(&event.without_words(words));
    let facts = without_words(read_trace(trace, Sink::everything(&mut each))?, words);
    Ok(session.finish(&facts, asker, None, &|_| Vec::new())?)
}
