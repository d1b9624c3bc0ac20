//! Fills a token budget: first with the list of the most relevant files, then with their best
//! symbols. Each symbol is included with its body, its signature or only its name, depending on the
//! remaining budget.
//!
//! A symbol's cost is the number of tokens it adds to an empty result. The joined text may cost
//! more than the sum of its parts, so the total is checked at the end.

use std::collections::{BTreeMap, HashMap, HashSet};

use nacre_base::redact::redact;
use nacre_types::{ContextFile, ContextSlice, ContextSymbol, LeftOut, SymbolForm};

use super::overview::TooSmall;
use super::relevance::RankedFile;
use super::tokens::tokens;
use crate::artifact::{FileFacts, RelativePath};
use crate::languages::{SymbolFacts, SymbolKind};

const MAX_LISTED: usize = 20;

/// The budget is divided by these values to limit the size of the file list and of the code from
/// any one file.
const LIST_SHARE: usize = 3;
const FILE_SHARE: usize = 3;

const BODY_SHARE: usize = 3;

const LEFT_OUT_SHARE: usize = 10;

/// Maximum number of bodies to include for symbols that the task does not mention.
const MAX_UNMEANT_BODIES: usize = 4;

const MAX_BODY_LINES: u32 = 400;

/// Maximum number of tokens that joining two strings can save.
const JOINTS: usize = 6;

pub struct ContextRequest<'r> {
    /// May be empty.
    pub task: &'r str,
    pub budget: usize,
    pub is_files_only: bool,
    /// Returns a file's content as it was when it was analysed, or `None` if the file has changed
    /// since.
    pub text: &'r dyn Fn(&RelativePath) -> Option<String>,
    /// Returns how many tokens a printed slice takes, including the text around it.
    pub cost: &'r dyn Fn(&ContextSlice) -> usize,
}

#[derive(Clone, Debug)]
pub(super) struct Candidate<'m> {
    pub(super) file: &'m FileFacts,
    pub(super) symbol: &'m SymbolFacts,
    pub(super) score: f64,
    /// Whether the task mentions the symbol.
    pub(super) is_meant: bool,
    /// Whether the user named the symbol's file. Such a file may use the whole budget.
    pub(super) is_asked: bool,
    pub(super) largest: SymbolForm,
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
    packer.around = [SymbolForm::Name, SymbolForm::Signature, SymbolForm::Body].map(|form| {
        let slice = ContextSlice { files: vec![empty_file(form)], ..packer.empty.clone() };
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
    n_listed: usize,
    listed: Vec<ContextFile>,
    empty: ContextSlice,
    texts: BTreeMap<RelativePath, Option<String>>,
    /// Indexes of the selected candidates in order of selection, with their rendered symbols.
    taken: Vec<(usize, ContextSymbol)>,
    n_bodies: usize,
    spent: HashMap<RelativePath, usize>,
    /// What each form of a symbol costs, excluding its path and text.
    around: [usize; 3],
}

fn empty_file(form: SymbolForm) -> ContextFile {
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

fn list_file(file: &RankedFile) -> ContextFile {
    ContextFile {
        path: file.path.to_string(),
        why: file.why.clone(),
        words: file.words.iter().map(|word| redact(word).into_owned()).collect(),
        symbols: Vec::new(),
    }
}

impl Packer<'_, '_> {
    /// Lists as many files as fit, and returns the cost.
    fn list(&mut self, empty: usize, left: usize) -> usize {
        let most = if self.request.is_files_only { left } else { left / LIST_SHARE };
        let mut cost = 0;
        for (idx, file) in self.ranked.iter().enumerate() {
            if MAX_LISTED <= idx && !self.request.is_files_only {
                break;
            }
            let mut slice = ContextSlice { files: vec![list_file(file)], ..self.empty.clone() };
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

    /// Adds a symbol in the largest form that fits. Returns the cost, or 0 if no form fits.
    fn take(&mut self, idx: usize, candidate: &Candidate<'_>, left: usize, empty: usize) -> usize {
        let spent = self.spent.get(&candidate.file.path).copied().unwrap_or_default();
        let of_file = match candidate.is_asked {
            true => left,
            false => (self.request.budget / FILE_SHARE).saturating_sub(spent),
        };
        let wants_body = candidate.is_meant || self.n_bodies < MAX_UNMEANT_BODIES;
        for form in [SymbolForm::Body, SymbolForm::Signature, SymbolForm::Name] {
            let most = if form == SymbolForm::Body { left / BODY_SHARE } else { left };
            let most = most.min(of_file);
            let is_possible = form as u8 <= candidate.largest as u8
                && (form != SymbolForm::Body || wants_body)
                && self.at_least(candidate, form) <= most;
            let Some(symbol) = is_possible.then(|| self.render(candidate, form)).flatten() else {
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
            self.n_bodies += usize::from(form == SymbolForm::Body);
            let symbol = slice.files.pop().and_then(|mut file| file.symbols.pop());
            *self.spent.entry(candidate.file.path.clone()).or_default() += cost;
            self.taken.extend(symbol.map(|symbol| (idx, symbol)));
            return cost;
        }
        0
    }

    /// Returns a lower bound for the cost of a form. This makes it unnecessary to render most
    /// symbols that do not fit.
    fn at_least(&self, candidate: &Candidate<'_>, form: SymbolForm) -> usize {
        let SymbolFacts { name, signature, first_line, last_line, .. } = candidate.symbol;
        let (around, text) = match form {
            SymbolForm::Name => (self.around[0], tokens(name)),
            SymbolForm::Signature => (self.around[1], tokens(signature)),
            SymbolForm::Body => (self.around[2], last_line.saturating_sub(*first_line) as usize),
        };
        around + tokens(candidate.file.path.as_str()) + text
    }

    /// Renders a symbol, or returns `None` if its source has changed.
    fn render(&mut self, candidate: &Candidate<'_>, form: SymbolForm) -> Option<ContextSymbol> {
        let SymbolFacts { name, kind, first_line, last_line, signature, .. } = candidate.symbol;
        let text = match form {
            SymbolForm::Name => String::new(),
            SymbolForm::Signature => redact(signature).into_owned(),
            SymbolForm::Body => self.body(candidate)?,
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

    /// Joins the selected symbols, and drops symbols from the end until the total fits.
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
                // The result does not fit even without any symbols, because it includes the number
                // of omitted symbols.
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
                files.extend(ranked.map(list_file));
                files.len() - 1
            });
            files[place].symbols.push(symbol.clone());
        }
        for file in &mut files {
            file.symbols.sort_by_key(|symbol| (symbol.first_line, symbol.last_line));
        }
        let mut slice = ContextSlice { files, ..self.empty.clone() };
        self.list_left_out(candidates, &mut slice);
        slice
    }

    fn list_left_out(&self, candidates: &[Candidate<'_>], slice: &mut ContextSlice) {
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
