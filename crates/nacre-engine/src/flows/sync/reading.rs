//! One read of a trace: candidates, summary and transcript come out of the same pass.

use nacre_core::base::ContentHash;
use nacre_core::base::redact::ExtraWords;
use nacre_core::memory::Store;
use nacre_core::transcript::render::{write_end, write_event, write_session};
use nacre_core::transcript::{Error, Event, SessionFacts, Sink, Trace};

use super::mark::Mark;
use super::{FlowContext, SyncError};
use crate::flows::candidate::{Extraction, SessionSummary};
use crate::flows::extract::{Rules, read as read_trace};
use crate::flows::models::ModelClient;
use crate::flows::strategy::{HowRead, SessionRead, SessionReader};

/// The most of an earlier summary that a model is shown.
const MAX_EARLIER: usize = 4000;

/// What a session holds beyond what was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It was never read, or the person wants it read again.
    All,
    /// It went on.
    Grown,
    /// What was read before is no longer what stands there.
    Rewritten,
}

/// A session, read to its end.
pub(super) struct Reading {
    pub(super) facts: SessionFacts,
    pub(super) extraction: Extraction,
    pub(super) summary: SessionSummary,
    pub(super) how: HowRead,
    /// In Nacre's own format.
    pub(super) transcript: Vec<u8>,
    pub(super) next_sequence: u64,
    pub(super) digest: String,
    pub(super) news: News,
}

/// Reads a trace, from where the mark says on; `None` when that is its end. Nobody is asked about a session before it
/// is known that there is something new in it.
pub(super) fn read(
    ctx: &FlowContext<'_>,
    trace: &Trace,
    mark: Option<&Mark>,
    asker: Option<&ModelClient<'_>>,
) -> Result<Option<Reading>, SyncError> {
    let store = ctx.store;
    let is_forgotten = |title: &str, body: &str| store.is_forgotten(title, body).unwrap_or(false);
    let pass = |from: u64| {
        let rules = Rules { from, is_forgotten: &is_forgotten };
        Pass::over((trace, from), store.words(), SessionReader::new(rules, ctx.reader))
    };
    let Some(mark) = mark else { return Ok(Some(pass(0)?.read(News::All, asker, None)?)) };
    let passed = pass(mark.next_sequence)?;
    if passed.digest_before.as_deref() != Some(&mark.digest) {
        return Ok(Some(pass(0)?.read(News::Rewritten, asker, None)?));
    }
    if passed.next_sequence == mark.next_sequence {
        return Ok(None);
    }
    let earlier = earlier_summary(store, mark);
    Ok(Some(passed.read(News::Grown, asker, earlier.as_deref())?))
}

/// What the session's summary says so far.
fn earlier_summary(store: &Store, mark: &Mark) -> Option<String> {
    let memory = store.get(mark.summary.as_ref()?.as_str()).ok()?;
    let body = memory.document.body().trim();
    Some(body[..body.floor_char_boundary(MAX_EARLIER)].to_owned())
}

/// All events of a trace, taken and not yet settled.
struct Pass<'r> {
    session: SessionReader<'r>,
    facts: SessionFacts,
    transcript: Vec<u8>,
    next_sequence: u64,
    digest: String,
    /// What the events before the new ones hash to, if there are as many.
    digest_before: Option<String>,
}

impl<'r> Pass<'r> {
    fn over(
        (trace, from): (&Trace, u64),
        words: &ExtraWords,
        mut session: SessionReader<'r>,
    ) -> Result<Self, Error> {
        let mut digest = Digest::default();
        let mut digest_before = None;
        let (mut events, mut next_sequence) = (Vec::new(), 0);
        let mut each = |event: Event| {
            if event.sequence == from {
                digest_before = Some(digest.to_string());
            }
            // Before the words are taken out: another list does not make it another session.
            digest.take(&event);
            let event = event.without_words(words);
            session.take(&event);
            // A `Vec` takes everything.
            let _ = write_event(&event, &mut events);
            next_sequence = event.sequence + 1;
        };
        let facts = read_trace(trace, Sink::everything(&mut each))?.without_words(words);
        if next_sequence == from {
            digest_before = Some(digest.to_string());
        }
        let mut transcript = Vec::with_capacity(events.len() + 1024);
        let _ = write_session(&facts, &mut transcript);
        transcript.append(&mut events);
        let _ = write_end(&facts, &mut transcript);
        let digest = digest.to_string();
        Ok(Self { session, facts, transcript, next_sequence, digest, digest_before })
    }

    fn read(
        self,
        news: News,
        asker: Option<&ModelClient<'_>>,
        earlier: Option<&str>,
    ) -> Result<Reading, SyncError> {
        let Self { session, facts, transcript, next_sequence, digest, .. } = self;
        let SessionRead { extraction, summary, how } = session.finish(&facts, asker, earlier)?;
        Ok(Reading { facts, extraction, summary, how, transcript, next_sequence, digest, news })
    }
}

/// The hash of a row of events, each hashed with what came before it.
#[derive(Default)]
struct Digest {
    last: Option<ContentHash>,
    buffer: Vec<u8>,
}

impl Digest {
    fn take(&mut self, event: &Event) {
        self.buffer.clear();
        self.buffer.extend(self.to_string().bytes());
        for text in [event.kind.as_str(), event.text.head(), event.text.tail()] {
            self.buffer.extend(text.bytes());
            self.buffer.push(0);
        }
        self.last = Some(ContentHash::of(&self.buffer));
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.last.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}
