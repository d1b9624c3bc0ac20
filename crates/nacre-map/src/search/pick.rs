//! Selects the lines to show: first a few lines from each file, then more from the best files.

use std::collections::{BTreeMap, BTreeSet};

use nacre_base::redact::redact;
use nacre_types::{MatchGroup, MatchSymbol, MatchedCode, MatchedFile, MatchedLine};

use super::find::{CodeHits, FileHit};
use super::lines::{TextLine, each_match, lines, word_lines};
use super::query::CodeQuery;
use super::show::line_text;
use crate::languages::SymbolFacts;
use crate::slices::path_worth;
use crate::words::is_text;

/// Maximum number of top-ranked files to search for lines in a word search.
const MAX_READ: usize = 60;

/// Each file first gets `limit / FILE_SHARE` lines, or `MIN_OF_FILE` lines (but at most half of the
/// limit) if that is more.
const FILE_SHARE: usize = 4;
const MIN_OF_FILE: usize = 5;

/// Maximum number of lines between a symbol's start and the line that contains its name.
const MAX_ABOVE_NAME: u32 = 3;

pub struct PickRequest<'r> {
    /// Maximum number of matching lines to show, or of files if only files are listed.
    pub limit: usize,
    pub context: u32,
    pub is_files_only: bool,
    /// Returns a file's content and symbols by its index, or `None` if the file has changed.
    pub file: &'r dyn Fn(usize) -> Option<(Vec<u8>, Vec<SymbolFacts>)>,
    pub is_over: &'r dyn Fn() -> bool,
}

#[derive(Clone, Debug)]
pub struct PickedLines {
    empty: MatchedCode,
    is_files_only: bool,
    context: u32,
    files: Vec<PickedFile>,
    /// Pairs of a file index and the index of a line in that file.
    order: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, Default)]
struct PickedFile {
    path: String,
    is_definition: bool,
    n_matches: usize,
    /// In a word search, the weight of the file's best line.
    worth: f64,
    /// Numbers of the matching lines, in display order.
    numbers: Vec<u32>,
    texts: BTreeMap<u32, String>,
    symbols: Vec<SymbolFacts>,
}

pub fn pick(
    paths: &[&str],
    query: &CodeQuery,
    hits: &CodeHits,
    request: &PickRequest<'_>,
) -> PickedLines {
    let mut empty = MatchedCode {
        query: query.text.clone(),
        mode: query.mode,
        total_matches: hits.files.iter().map(|hit| hit.n_matches).sum(),
        total_files: hits.files.len(),
        files: Vec::new(),
        more_matches: 0,
        more_files: 0,
        unsearched_files: hits.n_unsearched,
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
        return PickedLines { empty, is_files_only: true, context: 0, files, order };
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
        let Some(read) = (request.file)(hit.idx).filter(|(bytes, _)| is_text(bytes)) else {
            continue;
        };
        let mut file = path(hit);
        file.take(&read, query, hits, request);
        if file.numbers.is_empty() {
            empty.total_files = empty.total_files.saturating_sub(1);
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
        empty.total_matches = files.iter().map(|file| file.n_matches).sum();
    }
    let order = order(&files, request.limit);
    PickedLines { empty, is_files_only: false, context: request.context, files, order }
}

fn share(limit: usize) -> usize {
    (limit / FILE_SHARE).max(MIN_OF_FILE.min(limit / 2)).max(1)
}

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
        (bytes, symbols): &(Vec<u8>, Vec<SymbolFacts>),
        query: &CodeQuery,
        hits: &CodeHits,
        request: &PickRequest<'_>,
    ) {
        let mut found: Vec<TextLine<'_>> = Vec::new();
        match &query.pattern {
            Some(pattern) => {
                each_match(pattern, bytes, &request.is_over, |line| {
                    found.extend((found.len() < request.limit).then_some(line));
                });
            }
            None => {
                let of_words = word_lines(bytes, query, &hits.worth);
                self.n_matches = of_words.len();
                let worth = path_worth(&self.path, query.question.is_about_tests);
                // The weight is rounded so that lines of similar weight are ordered by their files'
                // rank.
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
            symbols.iter().any(|symbol| begins(symbol) && query.names(&symbol.name))
        };
        self.numbers.sort_by_cached_key(|number| !defines(number));
        self.take_texts(bytes, query, request.context);
        let is_near =
            |symbol: &&SymbolFacts| self.numbers.iter().any(|number| holds(symbol, *number));
        self.symbols = symbols.iter().filter(is_near).cloned().collect();
    }

    fn take_texts(&mut self, bytes: &[u8], query: &CodeQuery, context: u32) {
        if self.numbers.is_empty() {
            return;
        }
        let around = |number: &u32| number.saturating_sub(context)..=number.saturating_add(context);
        let wanted: BTreeSet<u32> = self.numbers.iter().flat_map(around).collect();
        let text = String::from_utf8_lossy(bytes);
        let clean = redact(&text);
        // A secret that spans several lines can be detected only by redacting the whole text.
        let clean: Option<BTreeSet<&str>> = (clean != text).then(|| clean.lines().collect());
        for line in lines(bytes).filter(|line| wanted.contains(&line.number)) {
            let text = line_text(line.bytes, query, clean.as_ref());
            self.texts.insert(line.number, text);
        }
    }

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
                line: *number,
                text: text.clone(),
                is_context: !matching.contains(number),
            });
            let lines: Vec<MatchedLine> = lines.collect();
            last = lines.last().map_or(last, |line| line.line);
            match groups.last_mut().filter(|(known, _)| *known == symbol) {
                Some((_, known)) => known.extend(lines),
                None => groups.push((symbol, lines)),
            }
        }
        groups.retain(|(_, lines)| !lines.is_empty());
        let group = |(symbol, lines): (Option<&SymbolFacts>, Vec<MatchedLine>)| MatchGroup {
            symbol: symbol.map(to_match_symbol),
            lines,
        };
        groups.into_iter().map(group).collect()
    }
}

fn holds(symbol: &SymbolFacts, line: u32) -> bool {
    (symbol.first_line..=symbol.last_line).contains(&line)
}

fn innermost(symbols: &[SymbolFacts], line: u32) -> Option<&SymbolFacts> {
    let around = symbols.iter().filter(|symbol| holds(symbol, line));
    around.min_by_key(|symbol| symbol.last_line - symbol.first_line)
}

fn to_match_symbol(symbol: &SymbolFacts) -> MatchSymbol {
    MatchSymbol {
        name: redact(&symbol.name).into_owned(),
        kind: symbol.kind,
        signature: redact(&symbol.signature).into_owned(),
        first_line: symbol.first_line,
        last_line: symbol.last_line,
    }
}

impl PickedLines {
    /// Returns the number of lines shown, or of files if only files are listed.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub fn first(&self, n_lines: usize) -> MatchedCode {
        let mut chosen: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for (place, line) in self.order.iter().take(n_lines) {
            let numbers = chosen.entry(*place).or_default();
            numbers.extend(self.files[*place].numbers.get(*line));
        }
        let mut matches = self.empty.clone();
        let mut n_shown = 0;
        for (place, numbers) in chosen {
            let file = &self.files[place];
            let groups = file.groups(&numbers, self.context);
            let of_file = groups.iter().flat_map(|group| &group.lines);
            let n_of_file = of_file.filter(|line| !line.is_context).count();
            n_shown += if self.is_files_only { file.n_matches } else { n_of_file };
            matches.more_files += usize::from(!self.is_files_only && n_of_file < file.n_matches);
            matches.files.push(MatchedFile {
                path: file.path.clone(),
                is_definition: file.is_definition,
                matches: file.n_matches,
                groups,
            });
        }
        matches.more_matches = matches.total_matches.saturating_sub(n_shown);
        matches.more_files += matches.total_files.saturating_sub(matches.files.len());
        matches
    }
}
