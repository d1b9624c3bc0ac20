//! Which lines of the files that a search found are shown: some of each file first, then more of the best.

use std::collections::{BTreeMap, BTreeSet};

use nacre_core::base::redact::redact;

use super::find::{CodeHits, FileHit};
use super::lines::{TextLine, each_match, lines};
use super::matched::{CodeMatches, MatchGroup, MatchSymbol, MatchedFile, MatchedLine};
use super::query::CodeQuery;
use super::show::LineText;
use super::word_lines::word_lines;
use crate::languages::SymbolFacts;
use crate::slices::path_worth;
use crate::words::is_text;

/// Files that are looked into for words: the best.
const MAX_READ: usize = 60;

/// One file gets this part of the lines at first, and so many in any case where that is at most half of them.
const FILE_SHARE: usize = 4;
const MIN_OF_FILE: usize = 5;

/// So many lines of a symbol may stand above its name.
const MAX_ABOVE_NAME: u32 = 3;

/// How much of what was found is shown.
pub struct PickRequest<'r> {
    /// Lines that match; files where only those are listed.
    pub limit: usize,
    /// Lines that are shown before and behind each.
    pub context: u32,
    pub is_files_only: bool,
    /// A file by its place; `None` when it is another one by now.
    pub file: &'r dyn Fn(usize) -> Option<TextAndSymbols>,
    pub is_over: &'r dyn Fn() -> bool,
}

/// What is needed of a file to show lines of it.
#[derive(Clone, Debug, Default)]
pub struct TextAndSymbols {
    pub bytes: Vec<u8>,
    pub symbols: Vec<SymbolFacts>,
}

/// Lines that may be shown, in the order in which they are taken.
#[derive(Clone, Debug)]
pub struct PickedLines {
    nothing: CodeMatches,
    is_files_only: bool,
    context: u32,
    files: Vec<PickedFile>,
    /// Places of files, and places of lines in each.
    order: Vec<(usize, usize)>,
}

/// A file with the lines that may be shown.
#[derive(Clone, Debug, Default)]
struct PickedFile {
    path: String,
    is_definition: bool,
    n_matches: usize,
    /// How much its best line is worth, where words are searched for.
    worth: f64,
    /// Numbers of lines that match, in the order in which they are taken.
    numbers: Vec<u32>,
    /// Those and the lines around them.
    texts: BTreeMap<u32, String>,
    symbols: Vec<SymbolFacts>,
}

/// Reads the best files until there are as many lines as may be shown.
pub fn pick(
    paths: &[&str],
    query: &CodeQuery,
    hits: &CodeHits,
    request: &PickRequest<'_>,
) -> PickedLines {
    let mut nothing = CodeMatches {
        mode: query.mode,
        n_matches: hits.files.iter().map(|hit| hit.n_matches).sum(),
        n_files: hits.files.len(),
        files: Vec::new(),
        more_matches: 0,
        more_files: 0,
        n_unsearched: hits.n_unsearched,
    };
    let path = |hit: &FileHit| PickedFile {
        path: paths[hit.idx].to_owned(),
        is_definition: hit.is_definition,
        n_matches: hit.n_matches,
        ..PickedFile::default()
    };
    if request.is_files_only {
        let files: Vec<PickedFile> = hits.files.iter().take(request.limit).map(path).collect();
        let order = (0..files.len()).map(|place| (place, 0)).collect();
        return PickedLines { nothing, is_files_only: true, context: 0, files, order };
    }
    let mut files = Vec::new();
    let mut n_taken = 0;
    for hit in &hits.files {
        let is_enough = match query.pattern.is_some() {
            true => request.limit <= n_taken,
            false => MAX_READ.min(request.limit * 2) <= files.len(),
        };
        if is_enough || (request.is_over)() {
            break;
        }
        let Some(read) = (request.file)(hit.idx).filter(|file| is_text(&file.bytes)) else {
            continue;
        };
        let mut file = path(hit);
        file.take(&read, query, hits, request);
        if file.numbers.is_empty() {
            nothing.n_files = nothing.n_files.saturating_sub(1);
            continue;
        }
        n_taken += file.numbers.len().min(share(request.limit));
        files.push(file);
    }
    if query.pattern.is_none() {
        let is_better = |one: &PickedFile, other: &PickedFile| {
            other.is_definition.cmp(&one.is_definition).then(other.worth.total_cmp(&one.worth))
        };
        files.sort_by(is_better);
        nothing.n_matches = files.iter().map(|file| file.n_matches).sum();
    }
    let order = order(&files, request.limit);
    PickedLines { nothing, is_files_only: false, context: request.context, files, order }
}

/// How many lines one file gets at first.
fn share(limit: usize) -> usize {
    (limit / FILE_SHARE).max(MIN_OF_FILE.min(limit / 2)).max(1)
}

/// Some lines of each file, then the others of each, as many as may be.
fn order(files: &[PickedFile], limit: usize) -> Vec<(usize, usize)> {
    let share = share(limit);
    let of_all = |from: usize, to: usize| {
        files.iter().enumerate().flat_map(move |(place, file)| {
            (from..to.min(file.numbers.len())).map(move |line| (place, line))
        })
    };
    of_all(0, share).chain(of_all(share, usize::MAX)).take(limit).collect()
}

impl PickedFile {
    fn take(
        &mut self,
        file: &TextAndSymbols,
        query: &CodeQuery,
        hits: &CodeHits,
        request: &PickRequest<'_>,
    ) {
        let mut found: Vec<TextLine<'_>> = Vec::new();
        match &query.pattern {
            Some(pattern) => {
                each_match(pattern, &file.bytes, &request.is_over, |line| {
                    found.extend((found.len() < request.limit).then_some(line));
                });
            }
            None => {
                let of_words = word_lines(&file.bytes, query, &hits.worth);
                self.n_matches = of_words.len();
                let worth = path_worth(&self.path, query.question.is_about_tests);
                // Steps, so that the ranking of the files decides between lines that are worth about the same.
                self.worth = of_words.first().map_or(0.0, |best| (worth * best.worth).round());
                found.extend(of_words.iter().take(request.limit).map(|found| found.line));
            }
        }
        self.numbers = found.iter().map(|line| line.number).collect();
        let defines = |number: &u32| {
            let begins = |symbol: &SymbolFacts| {
                let first = symbol.first_line;
                (first..=first.saturating_add(MAX_ABOVE_NAME)).contains(number)
            };
            file.symbols.iter().any(|symbol| begins(symbol) && query.names(&symbol.name))
        };
        self.numbers.sort_by_cached_key(|number| !defines(number));
        self.take_texts(&file.bytes, query, request.context);
        let is_near =
            |symbol: &&SymbolFacts| self.numbers.iter().any(|number| holds(symbol, *number));
        self.symbols = file.symbols.iter().filter(is_near).cloned().collect();
    }

    /// Takes the lines that match and those around them, without secrets.
    fn take_texts(&mut self, bytes: &[u8], query: &CodeQuery, context: u32) {
        if self.numbers.is_empty() {
            return;
        }
        let around = |number: &u32| number.saturating_sub(context)..=number.saturating_add(context);
        let wanted: BTreeSet<u32> = self.numbers.iter().flat_map(around).collect();
        let text = String::from_utf8_lossy(bytes);
        let clean = redact(&text);
        // A secret of several lines is found only where all of them are seen.
        let clean: Option<BTreeSet<&str>> = (clean != text).then(|| clean.lines().collect());
        for line in lines(bytes).filter(|line| wanted.contains(&line.number)) {
            let text = LineText::new(line.bytes, query, clean.as_ref());
            self.texts.insert(line.number, text.0);
        }
    }

    /// The lines with these numbers and those around them, by symbol.
    fn groups(&self, chosen: &BTreeSet<u32>, context: u32) -> Vec<MatchGroup> {
        let matching: BTreeSet<u32> = self.numbers.iter().copied().collect();
        let mut groups: Vec<(Option<&SymbolFacts>, Vec<MatchedLine>)> = Vec::new();
        let mut last = 0;
        for number in chosen {
            let symbol = innermost(&self.symbols, *number);
            let first = number.saturating_sub(context).max(last + 1);
            let to = number.saturating_add(context);
            let lines = self.texts.range(first..=to.max(first)).filter(|(at, _)| **at <= to);
            let lines = lines.map(|(number, text)| MatchedLine {
                number: *number,
                text: text.clone(),
                is_match: matching.contains(number),
            });
            let lines: Vec<MatchedLine> = lines.collect();
            last = lines.last().map_or(last, |line| line.number);
            match groups.last_mut().filter(|(known, _)| *known == symbol) {
                Some((_, known)) => known.extend(lines),
                None => groups.push((symbol, lines)),
            }
        }
        groups.retain(|(_, lines)| !lines.is_empty());
        let group = |(symbol, lines): (Option<&SymbolFacts>, Vec<MatchedLine>)| MatchGroup {
            symbol: symbol.map(told),
            lines,
        };
        groups.into_iter().map(group).collect()
    }
}

fn holds(symbol: &SymbolFacts, line: u32) -> bool {
    (symbol.first_line..=symbol.last_line).contains(&line)
}

/// The smallest symbol that a line lies in.
fn innermost(symbols: &[SymbolFacts], line: u32) -> Option<&SymbolFacts> {
    let around = symbols.iter().filter(|symbol| holds(symbol, line));
    around.min_by_key(|symbol| symbol.last_line - symbol.first_line)
}

fn told(symbol: &SymbolFacts) -> MatchSymbol {
    MatchSymbol {
        name: redact(&symbol.name).into_owned(),
        kind: symbol.kind,
        signature: redact(&symbol.signature).into_owned(),
        first_line: symbol.first_line,
        last_line: symbol.last_line,
    }
}

impl PickedLines {
    /// How many lines, or files, there are to show.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The first of them, with what is left out.
    pub fn first(&self, n_lines: usize) -> CodeMatches {
        let mut chosen: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for (place, line) in self.order.iter().take(n_lines) {
            let numbers = chosen.entry(*place).or_default();
            numbers.extend(self.files[*place].numbers.get(*line));
        }
        let mut matches = self.nothing.clone();
        let mut n_shown = 0;
        for (place, numbers) in chosen {
            let file = &self.files[place];
            let groups = file.groups(&numbers, self.context);
            let of_file = groups.iter().flat_map(|group| &group.lines);
            let n_of_file = of_file.filter(|line| line.is_match).count();
            n_shown += if self.is_files_only { file.n_matches } else { n_of_file };
            matches.more_files += usize::from(!self.is_files_only && n_of_file < file.n_matches);
            matches.files.push(MatchedFile {
                path: file.path.clone(),
                is_definition: file.is_definition,
                n_matches: file.n_matches,
                groups,
            });
        }
        matches.more_matches = matches.n_matches.saturating_sub(n_shown);
        matches.more_files += matches.n_files.saturating_sub(matches.files.len());
        matches
    }
}
