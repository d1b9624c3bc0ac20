//! What a task needs of a project, symbol by symbol, within a budget.

use std::collections::{BTreeSet, HashMap};

use super::context_slice::{ContextRequest, ContextSlice, Form};
use super::overview::TooSmall;
use super::pack::{Candidate, pack};
use super::relevance::{Ranked, Why, words};
use crate::artifact::{FileFacts, RelativePath};
use crate::languages::SymbolFacts;

/// Symbols that are weighed against each other.
const MAX_CANDIDATES: usize = 3_000;

/// Collects what a task needs, within the budget. `facts` are of the ranked files, in any order.
pub fn context(
    ranked: &Ranked,
    facts: &[FileFacts],
    request: &ContextRequest<'_>,
) -> Result<ContextSlice, TooSmall> {
    pack(&candidates(ranked, facts, request.task), request)
}

/// All symbols of all ranked files, the most relevant first.
fn candidates<'f>(ranked: &Ranked, facts: &'f [FileFacts], task: &str) -> Vec<Candidate<'f>> {
    let wanted: BTreeSet<String> = words(task).into_iter().collect();
    let by_path: HashMap<&RelativePath, &FileFacts> =
        facts.iter().map(|file| (&file.path, file)).collect();
    let mut candidates = Vec::new();
    for relevant in &ranked.files {
        let Some(file) = by_path.get(&relevant.path) else { continue };
        let is_asked = relevant.why.contains(&Why::Asked);
        for symbol in &file.analysis.symbols {
            let share = share(symbol, &wanted);
            candidates.push(Candidate {
                file,
                symbol,
                why: relevant.why.clone(),
                score: relevant.score * (0.4 + share) + if is_asked { 1.0 } else { 0.0 },
                is_meant: 0.0 < share || is_asked,
                largest: if holds_others(file, symbol) { Form::Signature } else { Form::Body },
            });
        }
    }
    candidates.sort_by(|one, other| {
        let place = |candidate: &Candidate<'f>| (&candidate.file.path, candidate.symbol.first_line);
        other.score.total_cmp(&one.score).then_with(|| place(one).cmp(&place(other)))
    });
    candidates.truncate(MAX_CANDIDATES);
    candidates
}

/// How many of the task's words a symbol's own name has.
fn share(symbol: &SymbolFacts, wanted: &BTreeSet<String>) -> f64 {
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
        other.name != symbol.name
            && symbol.first_line <= other.first_line
            && other.last_line <= symbol.last_line
            && (other.first_line, other.last_line) != (symbol.first_line, symbol.last_line)
    })
}
