//! One read of a trace: candidates, summary and transcript come out of the same pass.

use nacre_core::base::ContentHash;
use nacre_core::memory::Store;
use nacre_core::transcript::render::{write_end, write_event, write_session};
use nacre_core::transcript::{Error, Event, SessionFacts, Sink, Trace};

use super::mark::Mark;
use crate::flows::candidate::{Extraction, SessionSummary};
use crate::flows::extract::{Extractor, Rules, read as read_trace};
use crate::flows::summarize::Summarizer;

/// What a session holds beyond what was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It was never read, or the person wants it read again.
    All,
    /// It went on.
    Grown,
    /// What was read before is no longer what stands there.
    Rewritten,
    Nothing,
}

/// A session, read to its end.
pub(super) struct Reading {
    pub(super) facts: SessionFacts,
    pub(super) extraction: Extraction,
    pub(super) summary: SessionSummary,
    /// In Nacre's own format.
    pub(super) transcript: Vec<u8>,
    pub(super) next_sequence: u64,
    pub(super) digest: String,
    pub(super) news: News,
}

/// Reads a trace, from where the mark says on.
pub(super) fn read(trace: &Trace, mark: Option<&Mark>, store: &Store) -> Result<Reading, Error> {
    let Some(mark) = mark else { return Ok(read_from(trace, 0, store)?.0) };
    let (reading, digest_before) = read_from(trace, mark.next_sequence, store)?;
    if digest_before.as_deref() != Some(&mark.digest) {
        let (reading, _) = read_from(trace, 0, store)?;
        return Ok(Reading { news: News::Rewritten, ..reading });
    }
    let news =
        if reading.next_sequence == mark.next_sequence { News::Nothing } else { News::Grown };
    Ok(Reading { news, ..reading })
}

/// Reads all of a trace and extracts from event `from` on; also what the events before that hash to, if there
/// are as many.
fn read_from(trace: &Trace, from: u64, store: &Store) -> Result<(Reading, Option<String>), Error> {
    let is_forgotten = |title: &str, body: &str| store.is_forgotten(title, body).unwrap_or(false);
    let mut extractor = Extractor::new(Rules { from, is_forgotten: &is_forgotten });
    let mut summarizer = Summarizer::default();
    let mut digest = Digest::default();
    let mut digest_before = None;
    let (mut events, mut next_sequence) = (Vec::new(), 0);
    let mut each = |event: Event| {
        if event.sequence == from {
            digest_before = Some(digest.to_string());
        }
        digest.take(&event);
        extractor.take(&event);
        summarizer.take(&event);
        // A `Vec` takes everything.
        let _ = write_event(&event, &mut events);
        next_sequence = event.sequence + 1;
    };
    let facts = read_trace(trace, Sink::everything(&mut each))?;
    if next_sequence == from {
        digest_before = Some(digest.to_string());
    }
    let mut transcript = Vec::with_capacity(events.len() + 1024);
    let _ = write_session(&facts, &mut transcript);
    transcript.append(&mut events);
    let _ = write_end(&facts, &mut transcript);
    let reading = Reading {
        extraction: extractor.finish(&facts),
        summary: summarizer.finish(&facts),
        facts,
        transcript,
        next_sequence,
        digest: digest.to_string(),
        news: News::All,
    };
    Ok((reading, digest_before))
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
