//! What a task needs of a project, within a budget: the files first, then code of the best of them, symbol by symbol.

use std::collections::{BTreeSet, HashMap};

use super::context_slice::{ContextRequest, ContextSlice, Form};
use super::overview::TooSmall;
use super::pack::{Candidate, pack};
use super::passages::Passages;
use super::relevance::{Ranked, RankedFile, Why, words};
use crate::artifact::{FileFacts, RelativePath};
use crate::languages::SymbolFacts;
use crate::words::Question;

/// Symbols that are weighed against each other.
const MAX_CANDIDATES: usize = 3_000;

/// Files whose texts are read to see which of their symbols speak of the task.
const MAX_READ: usize = 12;

/// How much a symbol counts for its file alone, for its name, and for what stands in it.
const W_FILE: f64 = 0.4;
const W_INSIDE: f64 = 0.8;

/// Collects what a task needs, within the budget. `facts` are of ranked files, in any order.
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

/// All symbols of all ranked files, the most relevant first.
fn candidates<'f>(
    ranked: &'f Ranked,
    facts: &'f [FileFacts],
    request: &ContextRequest<'_>,
) -> Vec<Candidate<'f>> {
    let wanted: BTreeSet<String> = words(request.task).into_iter().collect();
    let question = Question::new(request.task);
    let by_path: HashMap<&RelativePath, &FileFacts> =
        facts.iter().map(|file| (&file.path, file)).collect();
    let mut candidates = Vec::new();
    for (place, relevant) in ranked.files.iter().enumerate() {
        let Some(file) = by_path.get(&relevant.path) else { continue };
        let text = (place < MAX_READ).then(|| (request.text)(&file.path)).flatten();
        let passages = text.map(|text| Passages::of(&text, &question));
        candidates.extend(symbols_of(relevant, file, &wanted, passages.as_ref()));
    }
    candidates.sort_by(|one, other| {
        let place = |candidate: &Candidate<'f>| (&candidate.file.path, candidate.symbol.first_line);
        other.score.total_cmp(&one.score).then_with(|| place(one).cmp(&place(other)))
    });
    candidates.truncate(MAX_CANDIDATES);
    candidates
}

fn symbols_of<'f>(
    relevant: &'f RankedFile,
    file: &'f FileFacts,
    wanted: &BTreeSet<String>,
    passages: Option<&Passages>,
) -> Vec<Candidate<'f>> {
    let is_asked = relevant.why.contains(&Why::Asked);
    let candidate = |symbol: &'f SymbolFacts| {
        let share = share(symbol, wanted);
        let is_holder = holds_others(file, symbol);
        let inside = passages
            .filter(|_| !is_holder)
            .map_or(0.0, |passages| passages.share(symbol.first_line, symbol.last_line));
        Candidate {
            file,
            symbol,
            score: relevant.score * (W_FILE + share + W_INSIDE * inside),
            is_meant: 0.0 < share || 0.0 < inside || is_asked,
            is_asked,
            largest: if is_holder { Form::Signature } else { Form::Body },
        }
    };
    file.analysis.symbols.iter().map(candidate).collect()
}

/// How many of the task's words a symbol's own name has.
fn share(symbol: &SymbolFacts, wanted: &BTreeSet<String>) -> f64 {
    // A word without its ending is a part of the name, or the name does not have it.
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

/// Whether symbols lie in this one, so that its body would tell them twice.
fn holds_others(file: &FileFacts, symbol: &SymbolFacts) -> bool {
    file.analysis.symbols.iter().any(|other| {
        symbol.first_line <= other.first_line
            && other.last_line <= symbol.last_line
            && (other.first_line, other.last_line) != (symbol.first_line, symbol.last_line)
            && other.name != symbol.name
    })
}
