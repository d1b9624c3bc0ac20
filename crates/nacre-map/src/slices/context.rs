//! Selects the code needed for a task within a token budget: the relevant files, and symbols in the
//! best files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use nacre_types::{ContextSlice, SymbolForm, WhyRelevant};

use super::overview::TooSmall;
use super::pack::{Candidate, ContextRequest, pack};
use super::relevance::{Ranked, words};
use crate::artifact::{FileFacts, RelativePath};
use crate::languages::SymbolFacts;
use crate::words::{Kin, TaskQuery, WordHash, each_identifier, identifiers};

const MAX_CANDIDATES: usize = 3_000;

const MAX_READ: usize = 12;

/// Weights of the file's score and of the match in the symbol's body, relative to a match in its
/// name.
const W_FILE: f64 = 0.4;
const W_INSIDE: f64 = 0.8;

/// `facts` must contain the facts about the ranked files, in any order.
pub fn context(
    ranked: &Ranked,
    facts: &[FileFacts],
    request: &ContextRequest<'_>,
) -> Result<ContextSlice, TooSmall> {
    let candidates = match request.is_files_only {
        true => Vec::new(),
        false => candidates(ranked, facts, request),
    };
    pack(&ranked.files, &candidates, request)
}

fn candidates<'f>(
    ranked: &'f Ranked,
    facts: &'f [FileFacts],
    request: &ContextRequest<'_>,
) -> Vec<Candidate<'f>> {
    let wanted: BTreeSet<String> = words(request.task).into_iter().collect();
    let question = TaskQuery::new(request.task);
    let by_path: HashMap<&RelativePath, &FileFacts> =
        facts.iter().map(|file| (&file.path, file)).collect();
    let mut candidates = Vec::new();
    for (place, relevant) in ranked.files.iter().enumerate() {
        let Some(file) = by_path.get(&relevant.path) else { continue };
        let text = (place < MAX_READ).then(|| (request.text)(&file.path)).flatten();
        let passages = text.map(|text| Passages::of(&text, &question));
        let is_asked = relevant.why.contains(&WhyRelevant::Asked);
        let candidate = |symbol: &'f SymbolFacts| {
            let share = share(symbol, &wanted);
            let is_holder = holds_others(file, symbol);
            let inside = passages
                .as_ref()
                .filter(|_| !is_holder)
                .map_or(0.0, |passages| passages.share(symbol.first_line, symbol.last_line));
            Candidate {
                file,
                symbol,
                score: relevant.score * (W_FILE + share + W_INSIDE * inside),
                is_meant: 0.0 < share || 0.0 < inside || is_asked,
                is_asked,
                largest: if is_holder { SymbolForm::Signature } else { SymbolForm::Body },
            }
        };
        candidates.extend(file.analysis.symbols.iter().map(candidate));
    }
    candidates.sort_by(|one, other| {
        let place = |candidate: &Candidate<'f>| (&candidate.file.path, candidate.symbol.first_line);
        other.score.total_cmp(&one.score).then_with(|| place(one).cmp(&place(other)))
    });
    candidates.truncate(MAX_CANDIDATES);
    candidates
}

fn share(symbol: &SymbolFacts, wanted: &BTreeSet<String>) -> f64 {
    // A stem can match part of the name only if the name contains that stem.
    let lower = symbol.name.to_ascii_lowercase();
    if !wanted.iter().any(|word| lower.contains(word.as_str())) {
        return 0.0;
    }
    let last = symbol.name.rsplit([':', '.']).next().unwrap_or(&symbol.name);
    let own: BTreeSet<String> = words(last).into_iter().collect();
    let around: BTreeSet<String> = words(&symbol.name).into_iter().collect();
    let n_own = u32::try_from(own.intersection(wanted).count()).unwrap_or_default();
    let n_around = u32::try_from(around.intersection(wanted).count()).unwrap_or_default();
    let n_wanted = u32::try_from(wanted.len().max(1)).unwrap_or(1);
    (f64::from(n_own) + 0.5 * f64::from(n_around.saturating_sub(n_own)))
        / f64::from(n_wanted).sqrt()
}

/// Returns whether a symbol contains other symbols, in which case its body would repeat theirs.
fn holds_others(file: &FileFacts, symbol: &SymbolFacts) -> bool {
    file.analysis.symbols.iter().any(|other| {
        symbol.first_line <= other.first_line
            && other.last_line <= symbol.last_line
            && (other.first_line, other.last_line) != (symbol.first_line, symbol.last_line)
            && other.name != symbol.name
    })
}

/// Weight of a related word that is not in the question itself.
const WIDENED_WEIGHT: f64 = 0.5;

/// For each line of code, the words of the question that occur in it, as indexes into the question.
#[derive(Debug)]
pub(super) struct Passages<'q> {
    question: &'q TaskQuery,
    lines: Vec<(u32, Vec<usize>)>,
    total: f64,
}

impl<'q> Passages<'q> {
    pub(super) fn of(text: &str, question: &'q TaskQuery) -> Self {
        let mut lines: Vec<(u32, Vec<usize>)> = Vec::new();
        // Results are cached, because most identifiers occur several times.
        let mut known: HashMap<&[u8], Vec<usize>, RandomState> = HashMap::default();
        for (number, line) in (1..).zip(text.lines()) {
            let mut found = Vec::new();
            for identifier in identifiers(line.as_bytes()) {
                let places = known.entry(identifier).or_insert_with(|| {
                    let mut places = Vec::new();
                    let mut add = |word: WordHash| places.extend(question.find(word));
                    each_identifier(identifier, &mut add);
                    places
                });
                found.extend_from_slice(places);
            }
            lines.extend((!found.is_empty()).then_some((number, found)));
        }
        let total = worth(question, &lines);
        Self { question, lines, total }
    }

    /// Returns the fraction of the file's weight that falls within a range of lines (1-based,
    /// inclusive).
    pub(super) fn share(&self, first: u32, last: u32) -> f64 {
        let from = self.lines.partition_point(|(line, _)| *line < first);
        let to = self.lines.partition_point(|(line, _)| *line <= last);
        let inside = self.lines.get(from..to).unwrap_or_default();
        if 0.0 < self.total { worth(self.question, inside) / self.total } else { 0.0 }
    }
}

/// Returns the given lines' total weight. Each word of the question counts once, by its best
/// match.
fn worth(question: &TaskQuery, lines: &[(u32, Vec<usize>)]) -> f64 {
    let mut said: BTreeMap<usize, f64> = BTreeMap::new();
    for place in lines.iter().flat_map(|(_, found)| found) {
        let asked = &question.asked[*place];
        let kin = if asked.kin == Kin::Said { 1.0 } else { WIDENED_WEIGHT };
        let most = said.entry(asked.said).or_default();
        *most = most.max(kin * asked.weight);
    }
    said.values().sum()
}
