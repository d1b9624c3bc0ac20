//! How a session is read: by rules alone, by a model in windows, or by a model that explores it by code.
//!
//! Whoever reads, the same comes out, and every claim passes the same checks. No model is asked about a session that
//! the gate turns away, or in which the person said nothing new; without a model, and where a limit will never leave
//! room for it, `auto` goes by the rules.

mod answer;
pub(super) mod claims;
mod pages;
pub(super) mod quotes;
#[cfg(feature = "rlm")]
mod rlm;
mod second_look;
mod windows;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use nacre_core::config::StrategyChoice;
use nacre_core::transcript::{Error as TraceError, Event, SessionFacts, Sink, Trace};
use serde::Serialize;

use self::answer::Wanted;
use self::pages::Pages;
use self::windows::{Job, ModelRead};
use super::candidate::{Extraction, Gate, SessionSummary, Strategy};
use super::extract::{Extractor, Rules, read as read_trace};
use super::models::{AskError, ModelClient, ProjectModels};
use super::summarize::Summarizer;
use crate::model::{Reached, Role, RolesError, Usage};
use crate::record::state::{SpentOn, StateError};

/// Who reads sessions.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub choice: StrategyChoice,
    /// Nothing where no model is set.
    pub models: Option<ProjectModels<'a>>,
    /// From how many tokens on a session is explored by code.
    pub rlm_above_tokens: usize,
}

impl<'a> Reader<'a> {
    /// Where nothing else is set.
    pub const RLM_ABOVE_TOKENS: usize = 200_000;

    /// The rules alone.
    pub fn offline() -> Self {
        let rlm_above_tokens = Self::RLM_ABOVE_TOKENS;
        Self { choice: StrategyChoice::Offline, models: None, rlm_above_tokens }
    }

    /// Somebody to ask about one session, where a model may be asked at all.
    pub fn asker(
        &self,
        on: SpentOn,
        now: Timestamp,
    ) -> Result<Option<ModelClient<'a>>, StateError> {
        let models = self.models.filter(|_| self.choice != StrategyChoice::Offline);
        models.map(|models| models.asker(on, now)).transpose()
    }

    /// Whether a model may come to see the session.
    fn may_ask(&self, role: Role) -> bool {
        let has_model = self.models.is_some_and(|models| models.flow.settings_of(role).is_some());
        match self.choice {
            StrategyChoice::Offline => false,
            StrategyChoice::Auto => has_model,
            StrategyChoice::Windows | StrategyChoice::Rlm => true,
        }
    }
}

/// How a session was read, for its metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HowRead {
    pub windows: usize,
    /// Windows whose answers could not be used, or that were too many.
    pub unread_windows: usize,
    /// Events that a model did not get to see because the session is too long.
    pub unread_events: u64,
    /// Pieces of code that a model wrote to explore it.
    pub steps: usize,
    /// Why another strategy was followed than the first choice.
    pub fallback: Option<String>,
    /// The limit that stood in the way, by its key.
    pub limit: Option<&'static str>,
}

/// A session, read.
#[derive(Clone, Debug)]
pub struct SessionRead {
    pub extraction: Extraction,
    pub summary: SessionSummary,
    pub how: HowRead,
}

/// Why a session could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// Takes the events of a session.
pub struct SessionReader<'r> {
    extractor: Extractor<'r>,
    summarizer: Summarizer,
    pages: Option<Pages>,
    reader: Reader<'r>,
    role: Role,
}

/// Which way is gone.
enum Way {
    /// By the rules, and what stood in the way of a model.
    Rules(Option<Reached>),
    Windows,
    Rlm,
}

impl<'r> SessionReader<'r> {
    /// For candidates and summary.
    pub fn new(rules: Rules<'r>, reader: Reader<'r>) -> Self {
        Self::for_role(rules, reader, Role::Extract)
    }

    fn for_role(rules: Rules<'r>, reader: Reader<'r>, role: Role) -> Self {
        let pages = reader.may_ask(role).then(|| Pages::new(rules.from));
        let summarizer = Summarizer::default();
        Self { extractor: Extractor::new(rules), summarizer, pages, reader, role }
    }

    /// Takes the next event; they must come with their texts.
    pub fn take(&mut self, event: &Event) {
        self.extractor.take(event);
        self.summarizer.take(event);
        if let Some(pages) = &mut self.pages {
            pages.take(event);
        }
    }

    /// Ends the session; `earlier` is what its summary said before it went on.
    pub fn finish(
        mut self,
        facts: &SessionFacts,
        asker: Option<&ModelClient<'_>>,
        earlier: Option<&str>,
    ) -> Result<SessionRead, AskError> {
        let pages = self.pages.take().unwrap_or_default().without_undone(facts);
        let gate = self.extractor.gate(facts);
        let wanted = if self.role == Role::Extract { Wanted::Session } else { Wanted::Summary };
        let job = Job { pages: &pages, role: self.role, wanted, earlier };
        let asker = asker.filter(|asker| asker.models().settings_of(self.role).is_ok());
        let way = self.way(gate, asker, job)?;
        let read = match (way, asker) {
            (Way::Windows, Some(asker)) => by_windows(asker, job, None),
            (Way::Rlm, Some(asker)) => by_code(asker, job),
            (Way::Rules(why), _) => return Ok(self.by_rules(facts, why)),
            (Way::Windows | Way::Rlm, None) => return Ok(self.by_rules(facts, None)),
        };
        let read = read.and_then(|read| looked_at_again(asker, job, read));
        match read {
            Err(AskError::OverLimit(reached)) if self.goes_on_without(reached) => {
                Ok(self.by_rules(facts, Some(reached)))
            }
            read => Ok(self.by_model(facts, read?, pages.n_left_out())),
        }
    }

    fn way(
        &self,
        gate: Gate,
        asker: Option<&ModelClient<'_>>,
        job: Job<'_>,
    ) -> Result<Way, AskError> {
        let choice = self.reader.choice;
        if choice == StrategyChoice::Offline || !gate.is_open() || !job.pages.has_news() {
            return Ok(Way::Rules(None));
        }
        let Some(asker) = asker else {
            return match choice.demands_a_model() {
                true => Err(RolesError::NotSet(self.role).into()),
                false => Ok(Way::Rules(None)),
            };
        };
        let is_long = self.reader.rlm_above_tokens < job.pages.tokens();
        let by_code = choice == StrategyChoice::Rlm || (choice == StrategyChoice::Auto && is_long);
        let way = if by_code { Way::Rlm } else { Way::Windows };
        let first = &asker.models().settings_of(self.role)?.model;
        match asker.budget().allows(first, usage_of(asker, job, by_code)?) {
            Err(reached) if self.goes_on_without(reached) => Ok(Way::Rules(Some(reached))),
            Err(reached) => Err(AskError::OverLimit(reached)),
            Ok(()) => Ok(way),
        }
    }

    /// Whether the rules must do, because no waiting will help.
    fn goes_on_without(&self, reached: Reached) -> bool {
        reached.is_final && !self.reader.choice.demands_a_model()
    }

    fn by_rules(self, facts: &SessionFacts, reached: Option<Reached>) -> SessionRead {
        let summary = told(&self.extractor, self.summarizer.finish(facts));
        SessionRead {
            extraction: self.extractor.finish(facts),
            summary,
            how: HowRead {
                fallback: reached.map(|reached| reached.to_string()),
                limit: reached.map(|reached| reached.key()),
                ..HowRead::default()
            },
        }
    }

    fn by_model(
        self,
        facts: &SessionFacts,
        (strategy, read): (Strategy, ModelRead),
        unread_events: u64,
    ) -> SessionRead {
        let ModelRead { proven, summary, n_windows, n_unread, n_steps, note } = read;
        let counted = self.summarizer.finish(facts);
        let found = (proven.proposals, proven.unproven);
        let summary = match summary {
            Some(summary) => summary.over(counted, strategy),
            None => counted,
        };
        let summary = told(&self.extractor, summary);
        SessionRead {
            extraction: self.extractor.finish_with(facts, strategy, found),
            summary,
            how: HowRead {
                windows: n_windows,
                unread_windows: n_unread,
                unread_events,
                steps: n_steps,
                fallback: note,
                limit: None,
            },
        }
    }
}

/// A summary that says whether a brief may tell of it: not where it repeats what a tool said.
fn told(extractor: &Extractor<'_>, summary: SessionSummary) -> SessionSummary {
    let parts = [&summary.title, &summary.description, &summary.outcome];
    let is_repeated = parts.into_iter().any(|part| extractor.repeats(part));
    SessionSummary { is_repeated, ..summary }
}

/// Has what was found checked once more.
fn looked_at_again(
    asker: Option<&ModelClient<'_>>,
    job: Job<'_>,
    (strategy, mut read): (Strategy, ModelRead),
) -> Result<(Strategy, ModelRead), AskError> {
    if let Some(asker) = asker {
        second_look::look_again(asker, job, &mut read)?;
    }
    Ok((strategy, read))
}

/// Reads a session in windows; `instead` says of what.
fn by_windows(
    asker: &ModelClient<'_>,
    job: Job<'_>,
    instead: Option<String>,
) -> Result<(Strategy, ModelRead), AskError> {
    let read = windows::read(asker, job)?;
    let note = match (instead, read.note) {
        (Some(instead), Some(note)) => Some(format!("{instead}; {note}")),
        (instead, note) => instead.or(note),
    };
    Ok((Strategy::Windows, ModelRead { note, ..read }))
}

/// Explores a session by code, and reads it in windows where that comes to nothing.
#[cfg(feature = "rlm")]
fn by_code(asker: &ModelClient<'_>, job: Job<'_>) -> Result<(Strategy, ModelRead), AskError> {
    match rlm::explore(asker, job)? {
        rlm::Explored::Read(read) => Ok((Strategy::Rlm, *read)),
        rlm::Explored::GaveUp(why) => {
            by_windows(asker, job, Some(format!("by code it came to nothing: {why}")))
        }
    }
}

#[cfg(not(feature = "rlm"))]
fn by_code(asker: &ModelClient<'_>, job: Job<'_>) -> Result<(Strategy, ModelRead), AskError> {
    by_windows(asker, job, Some("this build cannot run code".to_owned()))
}

/// What reading a session will take, about.
fn usage_of(asker: &ModelClient<'_>, job: Job<'_>, by_code: bool) -> Result<Usage, AskError> {
    #[cfg(feature = "rlm")]
    if by_code {
        return Ok(rlm::usage());
    }
    let _ = by_code;
    let Usage { input, output, .. } = second_look::USUAL;
    let read = windows::usage_of(asker, job)?;
    Ok(Usage { input: read.input + input, output: read.output + output, ..read })
}

/// A trace, and the words of its project that are kept out of everything made from it.
#[derive(Clone, Copy)]
pub struct SessionTrace<'a> {
    pub trace: &'a Trace,
    pub words: &'a ExtraWords,
}

/// Reads one session's trace for its candidates and its summary.
pub fn read_session(
    trace: SessionTrace<'_>,
    rules: Rules<'_>,
    reader: Reader<'_>,
    asker: Option<&ModelClient<'_>>,
) -> Result<SessionRead, ReadError> {
    read_with(trace, SessionReader::new(rules, reader), asker)
}

/// Reads one session's trace for its summary alone.
pub fn summarize_session(
    trace: SessionTrace<'_>,
    reader: Reader<'_>,
    asker: Option<&ModelClient<'_>>,
) -> Result<(SessionSummary, HowRead), ReadError> {
    let session = SessionReader::for_role(Rules::default(), reader, Role::Summarize);
    let SessionRead { summary, how, .. } = read_with(trace, session, asker)?;
    Ok((summary, how))
}

fn read_with(
    SessionTrace { trace, words }: SessionTrace<'_>,
    mut session: SessionReader<'_>,
    asker: Option<&ModelClient<'_>>,
) -> Result<SessionRead, ReadError> {
    let mut each = |event: Event| session.take(&event.without_words(words));
    let facts = read_trace(trace, Sink::everything(&mut each))?.without_words(words);
    Ok(session.finish(&facts, asker, None)?)
}

#[cfg(test)]
mod tests;
