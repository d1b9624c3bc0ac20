//! Builds an overview of a project's code, and explains why a file is or is not in the map.

use nacre_base::fs::without_dots;
use nacre_map::artifact::{Derived, RelativePath};
use nacre_map::indexer::{self, CacheWrites};
use nacre_map::slices::{
    OVERVIEW_FORMAT, OverviewRequest, Survey, TooSmall, overview, overview_text, surface_paths,
};
use nacre_types::{
    ExplainReport, ExploreReport, ExploreRequest, MapCommand, MapFormat, MapHeader, MapVerdict,
    Overview,
};

use super::code_map::{self, Answer, CodeMap, MapAccess, cost, json_payload, text_payload};
use crate::prelude::*;

pub fn explore(
    host: &Host,
    request: &ExploreRequest,
    events: &Events,
) -> Result<Answer<ExploreReport>> {
    let ExploreRequest { project, refresh, strict, format, client, .. } = request;
    let access = MapAccess::from_request(project.as_deref(), *refresh, *strict);
    code_map::ask(host, access, MapCommand::Explore, events, |map| {
        let overview = find_or_make(map, request)?;
        map.mark_seen(client.as_deref(), events)?;
        let header = map.header(MapCommand::Explore);
        let payload = payload(&header, *format, &overview);
        Ok(Answer { report: ExploreReport { map: header, overview }, payload })
    })
}

fn find_or_make(map: &mut CodeMap, request: &ExploreRequest) -> Result<Overview, TooSmall> {
    let key = key(map, request);
    let known = map.cache.load_derived(&map.current.project, Derived::Overview, key);
    // The header may be longer than it was when the overview was cached.
    let fits = |overview: &Overview| {
        let size = || cost(&payload(&map.header(MapCommand::Explore), request.format, overview));
        request.budget.is_none_or(|budget| size() <= budget)
    };
    if let Some(known) = known.filter(fits) {
        return Ok(known);
    }
    let overview = make(map, request)?;
    if map.keeping() == CacheWrites::On {
        // Errors are ignored, because the overview can be built again.
        let project = &map.current.project;
        let _ = map.cache.store_derived(project, Derived::Overview, key, &overview);
    }
    Ok(overview)
}

fn make(map: &mut CodeMap, request: &ExploreRequest) -> Result<Overview, TooSmall> {
    let (made, detail) = (map.read_made_paths(), request.detail.unwrap_or_default());
    let (mut survey, shallow) = {
        let (current, n_threads) = (&map.current, map.options.n_threads);
        let imports = current.imports(&map.cache, map.keeping(), n_threads);
        let churn = current.churn(&map.cache, map.keeping(), &map.options.git);
        let survey = Survey::new(&current.outlines(n_threads), imports, &made, &churn);
        let files = current.artifact.files();
        let shown = surface_paths(&survey, detail, &files, &|path| current.text(path));
        (survey, current.shallow(&shown))
    };
    let paths: Vec<&str> = shallow.iter().map(String::as_str).collect();
    let is_deeper = !paths.is_empty() && map.deepen(&paths);
    let current = &map.current;
    let files = current.artifact.files();
    for path in paths.into_iter().filter(|_| is_deeper) {
        let place = files.binary_search_by(|(known, _)| (*known).cmp(path)).ok();
        let outline = current.facts_at(path).and_then(|facts| facts.outline());
        if let Some((idx, outline)) = place.zip(outline) {
            survey.refine(idx, path, &outline, &made);
        }
    }
    let header = map.header(MapCommand::Explore);
    let wanted = OverviewRequest {
        detail,
        files: &files,
        analysis: &|path| current.analysis_at(path),
        text: &|path| current.text(path),
        budget: request.budget,
        cost: &|overview| cost(&payload(&header, request.format, overview)),
    };
    overview(&survey, &wanted)
}

fn payload(header: &MapHeader, format: MapFormat, overview: &Overview) -> String {
    match format {
        MapFormat::Json => {
            json_payload(&ExploreReport { map: header.clone(), overview: overview.clone() })
        }
        MapFormat::Text => text_payload(header, &overview_text(overview)),
    }
}

fn key(map: &CodeMap, request: &ExploreRequest) -> u64 {
    let ExploreRequest { format, detail, budget, .. } = request;
    let detail = detail.unwrap_or_default();
    let head = map.current.artifact.head();
    let words = format!(
        "explore {OVERVIEW_FORMAT} {:?} {} {} {detail:?} {budget:?} {}",
        head.state(),
        head.verified_ns,
        *format == MapFormat::Json,
        map.current.commit()
    );
    xxhash_rust::xxh3::xxh3_64(words.as_bytes())
}

pub fn explain(host: &Host, path: &str, events: &Events) -> Result<ExplainReport> {
    let asked = Path::new(path);
    // The path itself may be a link.
    let full = without_dots(&host.environment.folder.join(asked));
    let (map, full) = match CodeMap::open(host, MapAccess::usual(None), "explain") {
        Ok(map) if below(&map, &full).is_some() => (map, full),
        Ok(_) | Err(_) => elsewhere(host, asked)?,
    };
    let path = below(&map, &full).ok_or_else(|| not_in_a_project(asked))?;
    map.warn_of_postponed(events);
    let verdict = indexer::explain(&map.current, &map.options, &path);
    Ok(ExplainReport {
        map: map.header(MapCommand::Explain),
        path: path.to_string(),
        is_mapped: matches!(verdict, MapVerdict::Mapped { .. }),
        verdict,
    })
}

fn elsewhere(host: &Host, asked: &Path) -> Result<(CodeMap, PathBuf)> {
    let full = host.environment.folder.join(asked);
    let folder = full.parent().and_then(|folder| nacre_base::platform::canonicalize(folder).ok());
    let (Some(folder), Some(name)) = (folder, full.file_name()) else {
        return Err(not_in_a_project(asked));
    };
    let place = folder.to_string_lossy();
    Ok((CodeMap::open(host, MapAccess::usual(Some(&place)), "explain")?, folder.join(name)))
}

fn not_in_a_project(asked: &Path) -> OpError {
    OpError::usage(format!("`{}` is not a file in a project", asked.display()))
}

fn below(map: &CodeMap, full: &Path) -> Option<RelativePath> {
    RelativePath::new(&nacre_base::platform::with_slashes(
        full.strip_prefix(&map.current.project.root).ok()?.to_str()?,
    ))
}
