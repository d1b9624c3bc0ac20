//! Searches the code by words, by a piece of text, or by a regular expression.
//!
//! The map is brought up to date first, so its words and trigrams are those of the files as they are; only files that can match are read.

use nacre_api::wire::{
    CodeSearchMode, MapCommand, MapFormat, MapHeader, MatchGroup, MatchSymbol, MatchedCode,
    MatchedFile, MatchedLine, SearchCodeReport, SearchCodeRequest,
};
use nacre_map::artifact::FileRow;
use nacre_map::search::{
    self, CodeHits, CodeMatches, CodeQuery, FileFilter, LetterCase, PickRequest, PickedLines,
    SearchMode, SearchedFiles, TextAndSymbols, find, pick,
};
use nacre_map::slices::TooSmall;

use super::code_map::{CodeMap, MapAccess};
use super::context::DEFAULT_BUDGET;
use super::kept_map;
use super::payload::{Answer, cost, json_payload, text_payload};
use super::wire::symbol_kind;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Lines that are shown unless the request says otherwise, and at most.
pub const DEFAULT_LIMIT: usize = 30;
pub const MAX_LIMIT: usize = 500;

/// Lines around a match, at most.
const MAX_CONTEXT: u32 = 10;

/// Files whose symbols are found by their grammars before they are shown.
const MAX_DEEPENED: usize = 60;

pub fn search_code(
    host: &Host,
    request: &SearchCodeRequest,
    events: &Events,
) -> Result<Answer<SearchCodeReport>, OpError> {
    let search = Search::new(request)?;
    let access = MapAccess::requested(request.project.as_deref(), request.refresh, request.strict);
    kept_map::ask(host, access, MapCommand::SearchCode, events, |map| {
        let hits = search.find(map);
        if !request.files_only {
            let files = map.current.artifact.files();
            let best = hits.best(search.limit.min(MAX_DEEPENED));
            let best: Vec<String> = best.map(|idx| files[idx].0.to_owned()).collect();
            // A first look at much code is only a glance.
            map.deepen(&best.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let picked = search.pick(map, &hits);
        let header = map.header(MapCommand::SearchCode);
        search.fit(&header, &picked)
    })
}

/// What is searched for, and how much of it is shown.
struct Search<'r> {
    request: &'r SearchCodeRequest,
    query: CodeQuery,
    filter: FileFilter,
    limit: usize,
    context: u32,
}

impl<'r> Search<'r> {
    fn new(request: &'r SearchCodeRequest) -> Result<Self, OpError> {
        let case = match request.ignore_case {
            None => LetterCase::Smart,
            Some(true) => LetterCase::Ignored,
            Some(false) => LetterCase::Kept,
        };
        let mode = request.mode.map(|mode| match mode {
            CodeSearchMode::Words => SearchMode::Words,
            CodeSearchMode::Fixed => SearchMode::Fixed,
            CodeSearchMode::Regex => SearchMode::Regex,
        });
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if limit == 0 || MAX_LIMIT < limit {
            return Err(OpError::usage(format!("`limit` is a number from 1 to {MAX_LIMIT}")));
        }
        let context = request.context.unwrap_or_default();
        if MAX_CONTEXT < context {
            return Err(OpError::usage(format!("`context` is at most {MAX_CONTEXT}")));
        }
        Ok(Self {
            request,
            query: CodeQuery::new(&request.query, mode, case)?,
            filter: FileFilter::new(&request.paths, request.language.as_deref())?,
            limit,
            context,
        })
    }

    fn find(&self, map: &CodeMap) -> CodeHits {
        let files = map.current.artifact.files();
        let bags = map.bags(&files);
        let made = map.made_paths();
        let texts = map.current.texts();
        let row = |idx: usize| files.get(idx).map(|(path, row): &(&str, FileRow)| (*path, row));
        let searched = SearchedFiles {
            paths: files.iter().map(|(path, _)| *path).collect(),
            bag: &|idx| bags.of(idx),
            made: &made,
            bytes: &|idx| row(idx).and_then(|(path, row)| texts.as_ref()?.bytes(path, row)),
            names: &|idx| row(idx).map(|(path, _)| map.current.names_at(path)).unwrap_or_default(),
            is_over: &|| map.options.deadline.is_over(),
            n_threads: map.options.n_threads,
        };
        find(&searched, &self.query, &self.filter)
    }

    fn pick(&self, map: &CodeMap, hits: &CodeHits) -> PickedLines {
        let files = map.current.artifact.files();
        let texts = map.current.texts();
        let file = |idx: usize| {
            let (path, row) = files.get(idx)?;
            let bytes = texts.as_ref()?.bytes(path, row)?;
            let symbols = map.current.analysis_at(path).unwrap_or_default().symbols;
            Some(TextAndSymbols { bytes, symbols })
        };
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let request = PickRequest {
            limit: self.limit,
            context: self.context,
            is_files_only: self.request.files_only,
            file: &file,
            is_over: &|| map.options.deadline.is_over(),
        };
        pick(&paths, &self.query, hits, &request)
    }

    /// As many lines as the budget has room for.
    fn fit(
        &self,
        header: &MapHeader,
        picked: &PickedLines,
    ) -> Result<Answer<SearchCodeReport>, OpError> {
        let budget = self.request.budget.unwrap_or(DEFAULT_BUDGET);
        let fits = |n_lines: usize| cost(&self.payload(header, &picked.first(n_lines))) <= budget;
        let mut n_lines = picked.len();
        if !fits(n_lines) {
            let needed = cost(&self.payload(header, &picked.first(0)));
            if budget < needed {
                return Err(TooSmall { budget, needed }.into());
            }
            let (mut fitting, mut too_many) = (0, n_lines);
            while 1 < too_many - fitting {
                let middle = fitting + (too_many - fitting) / 2;
                if fits(middle) { fitting = middle } else { too_many = middle }
            }
            n_lines = fitting;
        }
        let matches = picked.first(n_lines);
        let payload = self.payload(header, &matches);
        Ok(Answer { report: self.report(header, &matches), payload })
    }

    /// The answer as it is printed.
    fn payload(&self, header: &MapHeader, matches: &CodeMatches) -> String {
        match self.request.format {
            MapFormat::Json => json_payload(&self.report(header, matches)),
            MapFormat::Text => {
                text_payload(header, &matches.to_text(&self.how_to_see_more(matches)))
            }
        }
    }

    /// What is too little for what was found: the limit, or the budget.
    fn how_to_see_more(&self, matches: &CodeMatches) -> String {
        let n_shown = match self.request.files_only {
            true => matches.files.len(),
            false => matches.n_matches - matches.more_matches,
        };
        let is_limit = self.limit <= n_shown && self.limit < MAX_LIMIT;
        if is_limit {
            let more = self.limit.saturating_mul(3).next_multiple_of(10).min(MAX_LIMIT);
            return format!("--limit {more}");
        }
        let budget = self.request.budget.unwrap_or(DEFAULT_BUDGET);
        format!("--budget {}, --path GLOB", budget.saturating_mul(2))
    }

    fn report(&self, header: &MapHeader, matches: &CodeMatches) -> SearchCodeReport {
        let found = MatchedCode {
            query: self.request.query.clone(),
            mode: match matches.mode {
                SearchMode::Words => CodeSearchMode::Words,
                SearchMode::Fixed => CodeSearchMode::Fixed,
                SearchMode::Regex => CodeSearchMode::Regex,
            },
            total_matches: matches.n_matches,
            total_files: matches.n_files,
            files: matches.files.iter().map(file).collect(),
            more_matches: matches.more_matches,
            more_files: matches.more_files,
            unsearched_files: matches.n_unsearched,
        };
        SearchCodeReport { map: header.clone(), found }
    }
}

fn file(of: &search::MatchedFile) -> MatchedFile {
    let search::MatchedFile { path, is_definition, n_matches, groups } = of;
    MatchedFile {
        path: path.clone(),
        is_definition: *is_definition,
        matches: *n_matches,
        groups: groups.iter().map(group).collect(),
    }
}

fn group(of: &search::MatchGroup) -> MatchGroup {
    let symbol = of.symbol.as_ref().map(|symbol| MatchSymbol {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        signature: symbol.signature.clone(),
        first_line: symbol.first_line,
        last_line: symbol.last_line,
    });
    let line = |line: &search::MatchedLine| MatchedLine {
        line: line.number,
        text: line.text.clone(),
        is_context: !line.is_match,
    };
    MatchGroup { symbol, lines: of.lines.iter().map(line).collect() }
}
