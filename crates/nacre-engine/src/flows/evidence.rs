//! Whether the quotes of a store's memories stand where they say: every transcript that was kept is read once more.

use std::collections::BTreeMap;

use nacre_core::memory::{MemoryError, MemoryId, MemoryType, Quote, Speaker, Store};
use nacre_core::safefs::FsError;
use nacre_core::transcript::{Agent, Event, Sink, Source, Stamp, Trace};

use super::extract::{Verbatim, read};
use super::sync::Mark;

/// What became of the quotes of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceReport {
    /// Found in the transcript, word for word.
    pub verified: usize,
    /// Said to Nacre itself: there is no transcript.
    pub by_hand: usize,
    /// Their transcript is not on this machine.
    pub unchecked: usize,
    /// Their transcript does not hold them.
    pub missing: Vec<MissingQuote>,
}

/// A quote that nobody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingQuote {
    pub id: MemoryId,
    pub text: String,
    pub place: String,
}

/// Looks up every quote of a store.
pub fn verify(store: &Store) -> Result<EvidenceReport, MemoryError> {
    let mut report = EvidenceReport::default();
    let mut by_session: BTreeMap<String, Vec<(MemoryId, Quote)>> = BTreeMap::new();
    for memory in store.list(|at| at.memory_type != MemoryType::Summary)?.memories {
        let Some(evidence) = store.evidence(&memory.at.id)? else { continue };
        for quote in evidence.quotes {
            if quote.speaker == Speaker::Human {
                report.by_hand += 1;
                continue;
            }
            let session = quote.place.rsplit_once(':').map_or("", |(session, _)| session);
            by_session.entry(session.to_owned()).or_default().push((memory.at.id.clone(), quote));
        }
    }
    let marks = Mark::all(store)?;
    for (session, quotes) in by_session {
        let Some(mark) = marks.iter().find(|mark| mark.session == session) else {
            report.unchecked += quotes.len();
            continue;
        };
        look_up(store, mark, quotes, &mut report)?;
    }
    Ok(report)
}

/// Looks for the quotes of one session in the transcripts that its runs left, newest first.
fn look_up(
    store: &Store,
    mark: &Mark,
    mut quotes: Vec<(MemoryId, Quote)>,
    report: &mut EvidenceReport,
) -> Result<(), FsError> {
    let n_wanted = quotes.len();
    let mut is_there = false;
    for run in mark.runs.iter().rev() {
        let path = store.scope().full(&Mark::transcript(mark.agent, run)?);
        let stamp = Stamp { size: 0, modified: None, inode: 0 };
        let trace = Trace::whole(Source { agent: Agent::Generic, path, stamp });
        let mut verbatim = Verbatim::new(quotes.iter().map(|(_, quote)| quote));
        let mut each = |event: Event| verbatim.take(&event);
        if read(&trace, Sink::everything(&mut each)).is_err() {
            continue;
        }
        is_there = true;
        let missing: Vec<Quote> = verbatim.missing().into_iter().cloned().collect();
        quotes.retain(|(_, quote)| missing.contains(quote));
    }
    if !is_there {
        report.unchecked += n_wanted;
        return Ok(());
    }
    report.verified += n_wanted - quotes.len();
    let missing =
        |(id, quote): (MemoryId, Quote)| MissingQuote { id, text: quote.text, place: quote.place };
    report.missing.extend(quotes.into_iter().map(missing));
    Ok(())
}
