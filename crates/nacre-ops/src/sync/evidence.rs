//! Verifies a store's quotes against its stored transcripts. All of these files can be part of a
//! cloned repository, so sizes and counts are limited, and links are not followed.

use std::collections::BTreeMap;

use nacre_base::fs::{EntryKind, RelPath};
use nacre_base::text::shorten;
use nacre_memory::{MemoryError, MemoryId, MemoryType, Quote, Speaker, Store};
use nacre_traces::agents::generic;
use nacre_traces::transcript::{Sink, TranscriptEvent};
use nacre_types::{Finding, QuoteCheck, Severity};

use crate::sync::pipeline::Mark;

/// Maximum total size of the quotes to check. Quotes beyond this limit count as unchecked.
const MAX_WANTED_BYTES: usize = 64 << 20;

/// Maximum number of quotes to check per memory. Nacre itself writes fewer quotes.
const MAX_QUOTES: usize = 64;

const MAX_TRANSCRIPT_BYTES: u64 = 256 << 20;
const MAX_ALL_BYTES: u64 = 4 << 30;

const MAX_NAMED: usize = 100;

struct EvidenceCheck<'a> {
    store: &'a Store,
    counts: QuoteCheck,
    missing: Vec<Finding>,
    unusable: Vec<Finding>,
    n_quote_bytes: usize,
    n_bytes_left: u64,
}

const MAX_SHOWN_BYTES: usize = 300;

type Wanted = BTreeMap<String, Vec<(MemoryId, Quote)>>;

/// Reports an error for each quote that is not in its transcript, and a warning for each unusable
/// file.
pub(crate) fn verify(store: &Store) -> Result<(QuoteCheck, Vec<Finding>), MemoryError> {
    let mut check = EvidenceCheck {
        store,
        counts: QuoteCheck { verified: 0, by_hand: 0, unchecked: 0, missing: 0, unreadable: 0 },
        missing: Vec::new(),
        unusable: Vec::new(),
        n_quote_bytes: 0,
        n_bytes_left: MAX_ALL_BYTES,
    };
    let wanted = check.collect_quotes()?;
    let marks = check.read_marks()?;
    for (session, quotes) in wanted {
        match marks.get(&session) {
            Some(mark) => check.look_up(mark, quotes),
            None => check.counts.unchecked += quotes.len(),
        }
    }
    let EvidenceCheck { counts, mut missing, unusable, .. } = check;
    missing.extend(unusable);
    Ok((counts, missing))
}

impl EvidenceCheck<'_> {
    fn note_unusable(&mut self, path: &str, reason: &str) {
        self.counts.unreadable += 1;
        if self.unusable.len() < MAX_NAMED {
            self.unusable.push(Finding {
                severity: Severity::Warning,
                path: path.to_owned(),
                line: None,
                message: format!("Quotes were not checked: {reason}"),
                hint: None,
            });
        }
    }

    /// Collects the quotes to check. Quotes of statements made directly to Nacre have no
    /// transcript. They are accepted only if this machine wrote the memory, because any file could
    /// claim such an origin.
    fn collect_quotes(&mut self) -> Result<Wanted, MemoryError> {
        let store = self.store;
        let mut wanted = Wanted::new();
        for memory in store.outlines(|at| at.memory_type != MemoryType::Summary)?.memories {
            let id = memory.at.id;
            let quotes = match store.evidence(&id) {
                Ok(evidence) => evidence.map(|evidence| evidence.quotes).unwrap_or_default(),
                Err(error) => {
                    self.note_unusable(&format!("meta/evidence/{id}.json"), &error.to_string());
                    continue;
                }
            };
            self.counts.unchecked += quotes.len().saturating_sub(MAX_QUOTES);
            for quote in quotes.into_iter().take(MAX_QUOTES) {
                let is_by_hand = quote.speaker == Speaker::Human;
                if is_by_hand && store.is_own(&id) {
                    self.counts.by_hand += 1;
                } else if is_by_hand || MAX_WANTED_BYTES < self.n_quote_bytes {
                    self.counts.unchecked += 1;
                } else {
                    self.n_quote_bytes += quote.text.len() + quote.place.len();
                    let session = quote.place.rsplit_once(':').map_or("", |(session, _)| session);
                    wanted.entry(session.to_owned()).or_default().push((id.clone(), quote));
                }
            }
        }
        Ok(wanted)
    }

    fn read_marks(&mut self) -> Result<BTreeMap<String, Mark>, MemoryError> {
        let store = self.store;
        let folder = RelPath::new("meta/sessions")?;
        let entries = store.scope().list(&folder).unwrap_or_else(|error| {
            self.note_unusable(folder.as_str(), &error.to_string());
            Vec::new()
        });
        let mut marks = BTreeMap::new();
        for entry in entries {
            let path = format!("{folder}/{}", entry.name);
            let key = entry.name.strip_suffix(".json").filter(|_| entry.kind == EntryKind::File);
            match key.map(|key| Mark::read(store, key)) {
                Some(Ok(Some(mark))) => {
                    marks.entry(mark.session.clone()).or_insert(mark);
                }
                Some(Err(error)) => self.note_unusable(&path, &error.to_string()),
                Some(Ok(None)) | None => {
                    self.note_unusable(&path, "The file is not a session file");
                }
            }
        }
        Ok(marks)
    }

    /// Searches the newest transcript first. Excluded words are removed from both quotes and
    /// transcripts before the comparison, because the list of these words may have changed.
    fn look_up(&mut self, mark: &Mark, quotes: Vec<(MemoryId, Quote)>) {
        let n_wanted = quotes.len();
        let store = self.store;
        let mut wanted: BTreeMap<Option<u64>, Vec<(MemoryId, Quote)>> = BTreeMap::new();
        for (id, mut quote) in quotes {
            quote.text = store.redact_text(&store.shareable(&quote.text));
            wanted.entry(sequence_of(&quote)).or_default().push((id, quote));
        }
        let mut is_there = false;
        for run in mark.runs.iter().rev() {
            if wanted.is_empty() {
                break;
            }
            let Ok(path) = Mark::transcript(mark.agent, run) else { continue };
            let Some(text) = self.read(&path) else { continue };
            is_there = true;
            let mut each = |event: TranscriptEvent| {
                let Some(quotes) = wanted.get_mut(&Some(event.sequence)) else { return };
                let event = event.without_words(store.words());
                let event = event.with_text(|text| store.shareable(text));
                quotes.retain(|(_, quote)| !is_quote_of(quote, &event));
            };
            generic::read_text(run.as_str(), &text, Sink::everything(&mut each));
            wanted.retain(|_, quotes| !quotes.is_empty());
        }
        let missing: Vec<(MemoryId, Quote)> = wanted.into_values().flatten().collect();
        if !is_there {
            self.counts.unchecked += n_wanted;
            return;
        }
        self.counts.verified += n_wanted - missing.len();
        self.counts.missing += missing.len();
        self.missing.extend(missing.into_iter().map(|(id, quote)| Finding {
            severity: Severity::Error,
            path: format!("meta/evidence/{id}.json"),
            line: None,
            message: format!(
                "the transcript does not contain `{}` at {}",
                shorten(&quote.text, MAX_SHOWN_BYTES),
                shorten(&quote.place, MAX_SHOWN_BYTES)
            ),
            hint: Some(format!("nacre memory show {id} --evidence")),
        }));
    }

    fn read(&mut self, path: &RelPath) -> Option<String> {
        match self.store.scope().read(path, MAX_TRANSCRIPT_BYTES.min(self.n_bytes_left)) {
            Ok(bytes) => {
                self.n_bytes_left = self.n_bytes_left.saturating_sub(bytes.len() as u64);
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            Err(error) if error.is_missing() => None,
            Err(error) => {
                self.note_unusable(path.as_str(), &error.to_string());
                None
            }
        }
    }
}

fn sequence_of(quote: &Quote) -> Option<u64> {
    quote.place.rsplit_once(':').and_then(|(_, sequence)| sequence.parse().ok())
}

/// Returns whether a quote is verbatim text of the event that it names.
pub(crate) fn is_quote_of(quote: &Quote, event: &TranscriptEvent) -> bool {
    let texts = [event.text.head(), event.text.tail()];
    sequence_of(quote) == Some(event.sequence)
        && !quote.text.trim().is_empty()
        && texts.iter().any(|text| text.contains(&quote.text))
}

/// Returns the part of the text that matches a quote. Ignores typographic variants and Markdown
/// emphasis.
pub(crate) fn words_in<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    let quote = quote.trim();
    if quote.is_empty() {
        return None;
    }
    if let Some(at) = text.find(quote) {
        return Some(&text[at..at + quote.len()]);
    }
    let (wanted, _) = plain(quote);
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return None;
    }
    let (plain, places) = plain(text);
    let start = plain.find(wanted)?;
    let (from, _) = *places.get(start)?;
    let (_, to) = *places.get(start + wanted.len() - 1)?;
    Some(&text[from..to])
}

fn plain(text: &str) -> (String, Vec<(usize, usize)>) {
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut push = |c: char, from: usize, to: usize| {
        if c == ' ' && (plain.is_empty() || plain.ends_with(' ')) {
            return;
        }
        plain.push(c);
        places.extend(std::iter::repeat_n((from, to), c.len_utf8()));
    };
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '*' | '`' => {}
            '‘' | '’' | 'ʼ' => push('\'', at, end),
            '“' | '”' | '„' => push('"', at, end),
            '–' | '—' | '‐' | '‑' | '−' => push('-', at, end),
            '…' => "...".chars().for_each(|c| push(c, at, end)),
            c if c.is_whitespace() => push(' ', at, end),
            c => push(c, at, end),
        }
    }
    (plain, places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn small_differences_of_writing_do_not_matter() {
        let text = "We’ll **never** ship `zod` — not\n  in the browser… ok";
        for (quote, found) in [
            ("We'll never ship zod", Some("We’ll **never** ship `zod")),
            ("zod - not in the browser...", Some("zod` — not\n  in the browser…")),
            ("never", Some("never")),
            ("not in the server", None),
            ("", None),
            ("**", Some("**")),
        ] {
            assert_eq!(words_in(text, quote), found, "{quote}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_a_piece_of_the_text(text in "[a-c*`’“ –…\n]{0,40}", quote in "[a-c'\" *.-]{0,8}") {
            if let Some(found) = words_in(&text, &quote) {
                prop_assert!(text.contains(found) && !found.is_empty());
            }
        }
    }
}
