//! Fills a budget: first the list of the most relevant files, then their best symbols, whole where there is room, else by
//! signature, else by name.
//!
//! What a piece costs is the difference that it makes to an empty answer as it will be printed. Texts meet where they are
//! joined, so at the end the whole is counted once more, and what is too much goes.

use std::collections::{BTreeMap, HashMap, HashSet};

use nacre_core::base::redact::redact;

use super::context_slice::{
    ContextFile, ContextRequest, ContextSlice, ContextSymbol, Form, LeftOut,
};
use super::overview::TooSmall;
use super::relevance::RankedFile;
use super::tokens::tokens;
use crate::artifact::{FileFacts, RelativePath};
use crate::languages::{SymbolFacts, SymbolKind};

/// So many files are listed, whether there is room for code of them or not.
const MAX_LISTED: usize = 20;

/// The list of files may take this part of the budget, and the code of one file that part.
const LIST_SHARE: usize = 3;
const FILE_SHARE: usize = 3;

/// A body may take this part of what is left, so that one function does not eat the answer.
const BODY_SHARE: usize = 3;

/// This part of the budget is for the list of what did not fit.
const LEFT_OUT_SHARE: usize = 10;

/// So many symbols get a body although nothing in their names was asked for.
const MAX_UNMEANT_BODIES: usize = 4;

/// A longer body is not told whole, whatever the budget.
const MAX_BODY_LINES: u32 = 400;

/// So many tokens may be saved where texts meet what is around them.
const JOINTS: usize = 6;

/// A symbol that wants to be in the answer.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'m> {
    pub(super) file: &'m FileFacts,
    pub(super) symbol: &'m SymbolFacts,
    pub(super) score: f64,
    /// Whether the task speaks of it.
    pub(super) is_meant: bool,
    /// Whether its file was named, and may take all of the budget.
    pub(super) is_asked: bool,
    pub(super) largest: Form,
}

pub(super) fn pack(
    ranked: &[RankedFile],
    candidates: &[Candidate<'_>],
    request: &ContextRequest<'_>,
) -> Result<ContextSlice, TooSmall> {
    let budget = request.budget;
    let mut packer = Packer {
        request,
        ranked,
        n_listed: 0,
        listed: Vec::new(),
        empty: ContextSlice { budget, ..ContextSlice::default() },
        texts: BTreeMap::new(),
        taken: Vec::new(),
        n_bodies: 0,
        spent: HashMap::new(),
        around: [0; 3],
    };
    let needed = (request.cost)(&packer.empty);
    packer.around = [Form::Name, Form::Signature, Form::Body].map(|form| {
        let slice = ContextSlice { files: vec![nothing(form)], ..packer.empty.clone() };
        (request.cost)(&slice).saturating_sub(needed + JOINTS)
    });
    let room = budget.checked_sub(needed).ok_or(TooSmall { budget, needed })?;
    let left = room - room / LEFT_OUT_SHARE;
    let mut left = left.saturating_sub(packer.list(needed, left));
    for (idx, candidate) in candidates.iter().enumerate() {
        left -= packer.take(idx, candidate, left, needed);
    }
    packer.finish(candidates)
}

struct Packer<'p, 'r> {
    request: &'p ContextRequest<'r>,
    ranked: &'p [RankedFile],
    /// How many of the ranked files are listed, and the first of those as they are.
    n_listed: usize,
    listed: Vec<ContextFile>,
    empty: ContextSlice,
    texts: BTreeMap<RelativePath, Option<String>>,
    /// Candidates in the order in which they were taken, by their places, and how.
    taken: Vec<(usize, ContextSymbol)>,
    n_bodies: usize,
    /// What the code of each file took.
    spent: HashMap<RelativePath, usize>,
    /// What is around a symbol's path and text, for each form.
    around: [usize; 3],
}

/// A symbol without a word.
fn nothing(form: Form) -> ContextFile {
    let symbol = ContextSymbol {
        name: String::new(),
        kind: SymbolKind::Type,
        first_line: 1,
        last_line: 1,
        form,
        text: String::new(),
    };
    let (why, words) = (Vec::new(), Vec::new());
    ContextFile { path: String::new(), why, words, symbols: vec![symbol] }
}

/// A file without its code.
fn listed(file: &RankedFile) -> ContextFile {
    ContextFile {
        path: file.path.to_string(),
        why: file.why.clone(),
        words: file.words.iter().map(|word| redact(word).into_owned()).collect(),
        symbols: Vec::new(),
    }
}

impl Packer<'_, '_> {
    /// Lists as many files as may be, and says what that costs.
    fn list(&mut self, empty: usize, left: usize) -> usize {
        let most = if self.request.is_files_only { left } else { left / LIST_SHARE };
        let mut cost = 0;
        for (idx, file) in self.ranked.iter().enumerate() {
            if MAX_LISTED <= idx && !self.request.is_files_only {
                break;
            }
            let mut slice = ContextSlice { files: vec![listed(file)], ..self.empty.clone() };
            let one = (self.request.cost)(&slice).saturating_sub(empty).max(1);
            if most < cost + one {
                break;
            }
            cost += one;
            self.listed.append(&mut slice.files);
            self.n_listed = idx + 1;
        }
        cost
    }

    /// Takes a symbol in the largest form that fits, and says what it costs; 0 when none does.
    fn take(&mut self, idx: usize, candidate: &Candidate<'_>, left: usize, empty: usize) -> usize {
        let spent = self.spent.get(&candidate.file.path).copied().unwrap_or_default();
        let of_file = match candidate.is_asked {
            true => left,
            false => (self.request.budget / FILE_SHARE).saturating_sub(spent),
        };
        let wants_body = candidate.is_meant || self.n_bodies < MAX_UNMEANT_BODIES;
        for form in [Form::Body, Form::Signature, Form::Name] {
            let most = if form == Form::Body { left / BODY_SHARE } else { left };
            let most = most.min(of_file);
            let is_possible = form <= candidate.largest
                && (form != Form::Body || wants_body)
                && self.at_least(candidate, form) <= most;
            let Some(symbol) = is_possible.then(|| self.told(candidate, form)).flatten() else {
                continue;
            };
            let alone = ContextFile {
                path: candidate.file.path.to_string(),
                why: Vec::new(),
                words: Vec::new(),
                symbols: vec![symbol],
            };
            let mut slice = ContextSlice { files: vec![alone], ..self.empty.clone() };
            let cost = (self.request.cost)(&slice).saturating_sub(empty).max(1);
            if most < cost {
                continue;
            }
            self.n_bodies += usize::from(form == Form::Body);
            let symbol = slice.files.pop().and_then(|mut file| file.symbols.pop());
            *self.spent.entry(candidate.file.path.clone()).or_default() += cost;
            self.taken.extend(symbol.map(|symbol| (idx, symbol)));
            return cost;
        }
        0
    }

    /// About the least that a form costs, so that most of what does not fit is seen without being rendered: what is around it, the
    /// path and the text itself, or of a body its line breaks.
    fn at_least(&self, candidate: &Candidate<'_>, form: Form) -> usize {
        let SymbolFacts { name, signature, first_line, last_line, .. } = candidate.symbol;
        let (around, text) = match form {
            Form::Name => (self.around[0], tokens(name)),
            Form::Signature => (self.around[1], tokens(signature)),
            Form::Body => (self.around[2], last_line.saturating_sub(*first_line) as usize),
        };
        around + tokens(candidate.file.path.as_str()) + text
    }

    /// A symbol in a form; `None` when its text is not there any more.
    fn told(&mut self, candidate: &Candidate<'_>, form: Form) -> Option<ContextSymbol> {
        let SymbolFacts { name, kind, first_line, last_line, signature, .. } = candidate.symbol;
        let text = match form {
            Form::Name => String::new(),
            Form::Signature => redact(signature).into_owned(),
            Form::Body => self.body(candidate)?,
        };
        Some(ContextSymbol {
            name: redact(name).into_owned(),
            kind: *kind,
            first_line: *first_line,
            last_line: *last_line,
            form,
            text,
        })
    }

    fn body(&mut self, candidate: &Candidate<'_>) -> Option<String> {
        let SymbolFacts { first_line, last_line, .. } = *candidate.symbol;
        let n_lines = last_line.checked_sub(first_line)? + 1;
        if MAX_BODY_LINES < n_lines {
            return None;
        }
        let path = &candidate.file.path;
        let request = self.request;
        let text = self.texts.entry(path.clone()).or_insert_with(|| (request.text)(path));
        let lines = text.as_ref()?.lines().skip(usize::try_from(first_line).ok()?.checked_sub(1)?);
        let lines: Vec<&str> = lines.take(usize::try_from(n_lines).ok()?).collect();
        Some(redact(&lines.join("\n")).into_owned())
    }

    /// Puts together what was taken, and lets go of the last until the whole fits.
    fn finish(mut self, candidates: &[Candidate<'_>]) -> Result<ContextSlice, TooSmall> {
        let budget = self.request.budget;
        loop {
            let slice = self.slice(candidates);
            let needed = (self.request.cost)(&slice);
            if needed <= budget {
                return Ok(slice);
            }
            if self.taken.is_empty() && 0 < self.n_listed {
                self.n_listed -= 1;
                continue;
            }
            if self.taken.is_empty() {
                // Not even the number of what was left out fits.
                return Err(TooSmall { budget, needed });
            }
            let n_kept = self.taken.len() - self.taken.len().div_ceil(16);
            self.taken.truncate(n_kept);
        }
    }

    fn slice(&self, candidates: &[Candidate<'_>]) -> ContextSlice {
        let mut files: Vec<ContextFile> = self.listed[..self.n_listed].to_vec();
        let mut places: HashMap<&RelativePath, usize> =
            self.ranked[..self.n_listed].iter().map(|file| &file.path).zip(0..).collect();
        for (idx, symbol) in &self.taken {
            let path = &candidates[*idx].file.path;
            let place = *places.entry(path).or_insert_with(|| {
                let ranked = self.ranked.iter().find(|file| file.path == *path);
                files.extend(ranked.map(listed));
                files.len() - 1
            });
            files[place].symbols.push(symbol.clone());
        }
        for file in &mut files {
            file.symbols.sort_by_key(|symbol| (symbol.first_line, symbol.last_line));
        }
        let mut slice = ContextSlice { files, ..self.empty.clone() };
        self.tell_left_out(candidates, &mut slice);
        slice
    }

    /// Lists what did not fit, as far as that itself fits.
    fn tell_left_out(&self, candidates: &[Candidate<'_>], slice: &mut ContextSlice) {
        let mut is_taken = vec![false; candidates.len()];
        for (idx, _) in &self.taken {
            is_taken[*idx] = true;
        }
        let mut counts: BTreeMap<&RelativePath, usize> = BTreeMap::new();
        for (candidate, _) in candidates.iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken) {
            *counts.entry(&candidate.file.path).or_default() += 1;
        }
        let shown: HashSet<&str> = slice.files.iter().map(|file| file.path.as_str()).collect();
        let n_symbols = |path: &RelativePath| counts.get(path).copied().unwrap_or_default();
        let others = self.ranked.iter().filter(|file| !shown.contains(file.path.as_str()));
        let listed: Vec<(String, usize)> =
            others.map(|file| (file.path.to_string(), n_symbols(&file.path))).collect();
        slice.left_out =
            LeftOut { symbols: counts.values().sum(), files: listed.len(), listed: Vec::new() };
        let budget = self.request.budget;
        let (mut fits, mut too_many) = (0, listed.len() + 1);
        while fits + 1 < too_many {
            let middle = fits.midpoint(too_many);
            slice.left_out.listed = listed[..middle].to_vec();
            if (self.request.cost)(slice) <= budget { fits = middle } else { too_many = middle }
        }
        slice.left_out.listed = listed[..fits].to_vec();
    }
}
