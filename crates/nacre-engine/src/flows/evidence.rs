//! Whether the quotes of a store's memories stand where they say: every transcript that was kept is read once more.
//!
//! Everything here may have come with a clone. Files are read through the store's scope, so no link is followed and no
//! pipe is waited for; sizes and counts are bounded; a file that cannot be used is named, and the others are still read.

use std::collections::{BTreeMap, HashSet};

use nacre_core::memory::{MemoryError, MemoryId, MemoryType, Quote, Speaker, Store};
use nacre_core::safefs::{EntryKind, FsError, RelPath};
use nacre_core::transcript::{Event, Sink, generic};

use super::extract::Verbatim;
use super::sync::Mark;

/// Quotes that are looked up in one check, in bytes; the others count as not checked.
const MAX_WANTED_BYTES: usize = 64 << 20;

/// Quotes of one memory that are looked up; no memory of ours has more.
const MAX_QUOTES: usize = 64;

/// Larger transcripts are not read, and neither is more than this of all together.
const MAX_TRANSCRIPT_BYTES: u64 = 256 << 20;
const MAX_ALL_BYTES: u64 = 4 << 30;

/// Files that are named; more say nothing new.
const MAX_NAMED: usize = 100;

/// What became of the quotes of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceReport {
    /// Found in the transcript, word for word.
    pub verified: usize,
    /// Said to Nacre itself, on this machine: there is no transcript.
    pub by_hand: usize,
    /// Their transcript is not on this machine, or cannot be read.
    pub unchecked: usize,
    /// Their transcript does not hold them.
    pub missing: Vec<MissingQuote>,
    /// Files that could not be used: how many, and the first of them.
    pub n_unreadable: usize,
    pub unreadable: Vec<UnusableFile>,
}

/// A quote that nobody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingQuote {
    pub id: MemoryId,
    pub text: String,
    pub place: String,
}

/// A file that could not be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableFile {
    /// Below the store.
    pub path: String,
    pub reason: String,
}

impl EvidenceReport {
    fn note_unusable(&mut self, path: &str, reason: String) {
        self.n_unreadable += 1;
        if self.unreadable.len() < MAX_NAMED {
            self.unreadable.push(UnusableFile { path: path.to_owned(), reason });
        }
    }
}

/// Quotes by the session that they are said to be from.
type Wanted = BTreeMap<String, Vec<(MemoryId, Quote)>>;

/// Looks up every quote of a store.
pub fn verify(store: &Store) -> Result<EvidenceReport, MemoryError> {
    let mut report = EvidenceReport::default();
    let wanted = gather(store, &mut report)?;
    let marks = marks(store, &mut report)?;
    let mut reader = Transcripts { store, n_left: MAX_ALL_BYTES };
    for (session, quotes) in wanted {
        match marks.get(&session) {
            Some(mark) => reader.look_up(mark, quotes, &mut report),
            None => report.unchecked += quotes.len(),
        }
    }
    Ok(report)
}

/// The quotes to look up. A quote said to be a person's own words to Nacre has no transcript: it counts as given by hand
/// only where this machine wrote the memory, for any file can say so.
fn gather(store: &Store, report: &mut EvidenceReport) -> Result<Wanted, MemoryError> {
    let mut wanted = Wanted::new();
    let mut n_bytes = 0;
    for memory in store.outlines(|at| at.memory_type != MemoryType::Summary)?.memories {
        let id = memory.at.id;
        let quotes = match store.evidence(&id) {
            Ok(evidence) => evidence.map(|evidence| evidence.quotes).unwrap_or_default(),
            Err(error) => {
                report.note_unusable(&format!("meta/evidence/{id}.json"), error.to_string());
                continue;
            }
        };
        report.unchecked += quotes.len().saturating_sub(MAX_QUOTES);
        for quote in quotes.into_iter().take(MAX_QUOTES) {
            match quote.speaker {
                Speaker::Human if store.is_own(&id) => report.by_hand += 1,
                Speaker::Human => report.unchecked += 1,
                Speaker::User | Speaker::Assistant | Speaker::Tool
                    if MAX_WANTED_BYTES < n_bytes =>
                {
                    report.unchecked += 1;
                }
                Speaker::User | Speaker::Assistant | Speaker::Tool => {
                    n_bytes += quote.text.len() + quote.place.len();
                    let session = quote.place.rsplit_once(':').map_or("", |(session, _)| session);
                    wanted.entry(session.to_owned()).or_default().push((id.clone(), quote));
                }
            }
        }
    }
    Ok(wanted)
}

/// What is known of each session.
fn marks(
    store: &Store,
    report: &mut EvidenceReport,
) -> Result<BTreeMap<String, Mark>, MemoryError> {
    let folder = RelPath::new("meta/sessions")?;
    let entries = match store.scope().list(&folder) {
        Ok(entries) => entries,
        Err(error @ FsError::NotAFolder { .. }) => {
            report.note_unusable(folder.as_str(), error.to_string());
            Vec::new()
        }
        Err(error) => return Err(error.into()),
    };
    let mut marks = BTreeMap::new();
    for entry in entries {
        let path = format!("{folder}/{}", entry.name);
        let key = entry.name.strip_suffix(".json").filter(|_| entry.kind == EntryKind::File);
        match key.map(|key| Mark::read(store, key)) {
            Some(Ok(Some(mark))) => {
                marks.entry(mark.session.clone()).or_insert(mark);
            }
            Some(Err(error)) => report.note_unusable(&path, error.to_string()),
            Some(Ok(None)) | None => {
                report.note_unusable(&path, "It is not the file of a session".to_owned());
            }
        }
    }
    Ok(marks)
}

/// Reads transcripts until so many bytes were read.
struct Transcripts<'a> {
    store: &'a Store,
    n_left: u64,
}

impl Transcripts<'_> {
    /// Looks for the quotes of one session in the transcripts that its runs left, newest first. The words of the project
    /// are taken out of both, for each was written under the list of its day.
    fn look_up(
        &mut self,
        mark: &Mark,
        mut quotes: Vec<(MemoryId, Quote)>,
        report: &mut EvidenceReport,
    ) {
        let n_wanted = quotes.len();
        let store = self.store;
        for (_, quote) in &mut quotes {
            quote.text = store.redacted(&store.shareable(&quote.text));
        }
        let mut is_there = false;
        for run in mark.runs.iter().rev() {
            if quotes.is_empty() {
                break;
            }
            let Ok(path) = Mark::transcript(mark.agent, run) else { continue };
            let Some(text) = self.read(&path, report) else { continue };
            is_there = true;
            let mut verbatim = Verbatim::new(quotes.iter().map(|(_, quote)| quote));
            let mut each = |event: Event| {
                let event = event.without_words(store.words());
                verbatim.take(&event.with_text(|text| store.shareable(text)));
            };
            generic::read_text(run.as_str(), &text, Sink::everything(&mut each));
            let missing: HashSet<(String, String)> =
                verbatim.missing().into_iter().map(key_of).collect();
            quotes.retain(|(_, quote)| missing.contains(&key_of(quote)));
        }
        if !is_there {
            report.unchecked += n_wanted;
            return;
        }
        report.verified += n_wanted - quotes.len();
        report.missing.extend(quotes.into_iter().map(|(id, quote)| MissingQuote {
            id,
            text: quote.text,
            place: quote.place,
        }));
    }

    /// A transcript's text; `None` where it is missing or cannot be used.
    fn read(&mut self, path: &RelPath, report: &mut EvidenceReport) -> Option<String> {
        match self.store.scope().read(path, MAX_TRANSCRIPT_BYTES.min(self.n_left)) {
            Ok(bytes) => {
                self.n_left = self.n_left.saturating_sub(bytes.len() as u64);
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            Err(error) if error.is_missing() => None,
            Err(error) => {
                report.note_unusable(path.as_str(), error.to_string());
                None
            }
        }
    }
}

fn key_of(quote: &Quote) -> (String, String) {
    (quote.text.clone(), quote.place.clone())
}
