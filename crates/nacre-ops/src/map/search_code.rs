//! Searches the code for words, literal text or a regular expression. Reads only the files that can
//! match, according to the index of words and trigrams.

use nacre_map::artifact::FileRow;
use nacre_map::search::{
    CodeHits, CodeQuery, FileFilter, PickRequest, PickedLines, SearchedFiles, find, matches_text,
    pick,
};
use nacre_map::slices::TooSmall;
use nacre_types::{
    MapCommand, MapFormat, MapHeader, MatchedCode, SearchCodeReport, SearchCodeRequest,
};

use super::code_map::{
    self, Answer, CodeMap, MapAccess, cost, json_payload, largest, text_payload,
};
use super::context::DEFAULT_BUDGET;
use crate::prelude::*;

pub const DEFAULT_LIMIT: usize = 30;
pub const MAX_LIMIT: usize = 500;

const MAX_CONTEXT: u32 = 10;

const MAX_DEEPENED: usize = 60;

pub fn search_code(
    host: &Host,
    request: &SearchCodeRequest,
    events: &Events,
) -> Result<Answer<SearchCodeReport>> {
    let search = Search::new(request)?;
    let access =
        MapAccess::from_request(request.project.as_deref(), request.refresh, request.strict);
    code_map::ask(host, access, MapCommand::SearchCode, events, |map| {
        let hits = search.find(map);
        if !request.files_only {
            let files = map.current.artifact.files();
            let best = hits.best(search.limit.min(MAX_DEEPENED));
            let best: Vec<String> = best.map(|idx| files[idx].0.to_owned()).collect();
            // In large projects, files are at first analyzed only line by line.
            map.deepen(&best.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let picked = search.pick(map, &hits);
        let header = map.header(MapCommand::SearchCode);
        search.fit(&header, &picked)
    })
}

struct Search<'r> {
    request: &'r SearchCodeRequest,
    query: CodeQuery,
    filter: FileFilter,
    limit: usize,
    context: u32,
}

impl<'r> Search<'r> {
    fn new(request: &'r SearchCodeRequest) -> Result<Self> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if limit == 0 || MAX_LIMIT < limit {
            return Err(OpError::usage(format!("`limit` must be between 1 and {MAX_LIMIT}")));
        }
        let context = request.context.unwrap_or_default();
        if MAX_CONTEXT < context {
            return Err(OpError::usage(format!("`context` must be at most {MAX_CONTEXT}")));
        }
        Ok(Self {
            request,
            query: CodeQuery::new(&request.query, request.mode, request.ignore_case)?,
            filter: FileFilter::new(&request.paths, request.language.as_deref())?,
            limit,
            context,
        })
    }

    fn find(&self, map: &CodeMap) -> CodeHits {
        let files = map.current.artifact.files();
        let bags = map.bags(&files);
        let made = map.read_made_paths();
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
            Some((bytes, symbols))
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

    fn fit(&self, header: &MapHeader, picked: &PickedLines) -> Result<Answer<SearchCodeReport>> {
        let budget = self.request.budget.unwrap_or(DEFAULT_BUDGET);
        let fits = |n_lines: usize| cost(&self.payload(header, &picked.first(n_lines))) <= budget;
        let mut n_lines = picked.len();
        if !fits(n_lines) {
            let needed = cost(&self.payload(header, &picked.first(0)));
            if budget < needed {
                return Err(TooSmall { budget, needed }.into());
            }
            n_lines = largest(n_lines.saturating_sub(1), &fits).unwrap_or_default();
        }
        let matches = picked.first(n_lines);
        let payload = self.payload(header, &matches);
        Ok(Answer { report: Self::report(header, &matches), payload })
    }

    fn payload(&self, header: &MapHeader, matches: &MatchedCode) -> String {
        match self.request.format {
            MapFormat::Json => json_payload(&Self::report(header, matches)),
            MapFormat::Text => {
                text_payload(header, &matches_text(matches, &self.how_to_see_more(matches)))
            }
        }
    }

    fn how_to_see_more(&self, matches: &MatchedCode) -> String {
        let n_shown = if self.request.files_only {
            matches.files.len()
        } else {
            matches.total_matches - matches.more_matches
        };
        let is_limit = self.limit <= n_shown && self.limit < MAX_LIMIT;
        if is_limit {
            let more = self.limit.saturating_mul(3).next_multiple_of(10).min(MAX_LIMIT);
            return format!("--limit {more}");
        }
        let budget = self.request.budget.unwrap_or(DEFAULT_BUDGET);
        format!("--budget {}, --path GLOB", budget.saturating_mul(2))
    }

    fn report(header: &MapHeader, matches: &MatchedCode) -> SearchCodeReport {
        SearchCodeReport { map: header.clone(), found: matches.clone() }
    }
}
