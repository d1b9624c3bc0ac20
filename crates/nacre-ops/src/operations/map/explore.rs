//! Gives an overview of a project: where it starts, what it rests on, what it offers.
//!
//! An overview of a state that was asked for before is read from the cache: no index is opened and nothing is computed.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;

use nacre_api::wire::{
    ExploreQuestion, ExploreReport, ExploreRequest, MapCommand, MapFormat, MapHeader,
};
use nacre_map::artifact::FileRow;
use nacre_map::indexer::CacheWrites;
use nacre_map::slices::{
    Detail, OVERVIEW_FORMAT, Overview, OverviewBasis, OverviewRequest, Survey, TooSmall, overview,
    surface_paths,
};

use super::carried::{self, carried_over};
use super::code_map::{CodeMap, MapAccess};
use super::kept_map;
use super::payload::{Answer, cost, json_payload, text_payload};
use super::survey::KnownSurvey;
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// How many overviews are held in memory.
const MAX_OVERVIEWS: usize = 8;

pub fn explore(
    host: &Host,
    request: &ExploreRequest,
    events: &Events,
) -> Result<Answer<ExploreReport>, OpError> {
    let ExploreRequest { project, refresh, strict, format, client, detail, budget } = request;
    let access = MapAccess::requested(project.as_deref(), *refresh, *strict);
    let question = ExploreQuestion { client: client.clone(), detail: *detail, budget: *budget };
    kept_map::ask(host, access, MapCommand::Explore, events, |map| {
        let overview = ask(map, &mut RecentOverviews::default(), *format, &question, events)?;
        let header = map.header(MapCommand::Explore);
        let payload = payload(&header, *format, &overview);
        Ok(Answer { report: report(&header, &overview), payload })
    })
}

/// Answers a question of a client about a map that is open, in JSON.
pub(super) fn answer(
    map: &mut CodeMap,
    recent: &mut RecentOverviews,
    question: &ExploreQuestion,
    events: &Events,
) -> Result<ExploreReport, OpError> {
    let overview = ask(map, recent, MapFormat::Json, question, events)?;
    Ok(report(&map.header(MapCommand::Explore), &overview))
}

fn ask(
    map: &mut CodeMap,
    recent: &mut RecentOverviews,
    format: MapFormat,
    question: &ExploreQuestion,
    events: &Events,
) -> Result<Arc<Overview>, OpError> {
    let ExploreQuestion { client, detail, budget } = question;
    let form = Form { format, detail: wire::detail(detail.unwrap_or_default()), budget: *budget };
    let overview = find_or_make(map, recent, form)?;
    if let Some(client) = client {
        map.mark_seen(client, events)?;
    }
    Ok(overview)
}

/// The last overviews, for a caller that asks the same again.
#[derive(Debug, Default)]
pub(super) struct RecentOverviews(VecDeque<(u64, Arc<Overview>)>);

impl RecentOverviews {
    fn find(&self, key: u64) -> Option<Arc<Overview>> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, overview)| Arc::clone(overview))
    }

    fn hold(&mut self, key: u64, overview: &Arc<Overview>) {
        self.0.retain(|(known, _)| *known != key);
        self.0.truncate(MAX_OVERVIEWS - 1);
        self.0.push_front((key, Arc::clone(overview)));
    }
}

/// In which form an overview is printed, how much it tells, and within which budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) format: MapFormat,
    pub(super) detail: Detail,
    pub(super) budget: Option<usize>,
}

/// The overview of the map as it is now: one that is held in memory, one from the cache, or a new one.
pub(super) fn find_or_make(
    map: &mut CodeMap,
    recent: &mut RecentOverviews,
    form: Form,
) -> Result<Arc<Overview>, TooSmall> {
    let key = key(map, form);
    let known = recent.find(key).or_else(|| stored(map, key).map(Arc::new));
    // The header around it may have grown since.
    let fits = |overview: &Overview| {
        let size = || cost(&payload(&map.header(MapCommand::Explore), form.format, overview));
        form.budget.is_none_or(|budget| size() <= budget)
    };
    let overview = match known.filter(|overview| fits(overview)) {
        Some(overview) => overview,
        None => {
            let overview = make_or_carry_over(map, form)?;
            store(map, key, &overview);
            Arc::new(overview)
        }
    };
    recent.hold(key, &overview);
    Ok(overview)
}

fn stored(map: &CodeMap, key: u64) -> Option<Overview> {
    let bytes = map.cache.slice(&map.current.project, key)?;
    serde_json::from_slice(&bytes).ok()
}

/// Stores an overview for the next caller. Best effort: errors are ignored.
fn store(map: &CodeMap, key: u64, overview: &Overview) {
    let bytes = serde_json::to_vec(overview).ok().filter(|_| map.keeping() == CacheWrites::On);
    if let Some(bytes) = bytes {
        let _ = map.cache.keep_slice(&map.current.project, key, &bytes);
    }
}

/// The overview of the map as it is now. Where no budget cuts it, one that was made before may tell nearly the same.
fn make_or_carry_over(map: &mut CodeMap, form: Form) -> Result<Overview, TooSmall> {
    let carried = form.budget.is_none().then(|| carried_over(map, form.detail)).flatten();
    match carried {
        Some(overview) => Ok(overview),
        None => make(map, form),
    }
}

/// Makes an overview from what is known of all files, after a closer look at those whose symbols it shows.
fn make(map: &mut CodeMap, form: Form) -> Result<Overview, TooSmall> {
    let (mut known, shallow) = {
        // Each takes a moment at 60,000 files, and neither needs the other.
        let (known, files) = std::thread::scope(|scope| {
            let artifact = &map.current.artifact;
            let files = scope.spawn(|| artifact.files());
            (KnownSurvey::of(map), files.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let surface =
            surface_paths(&known.survey, form.detail, &files, &|path| map.current.text(path));
        let shallow = map.current.shallow(&surface);
        if shallow.is_empty() {
            return make_and_store_survey(map, &known, &files, form);
        }
        (known, shallow)
    };
    known.refine(map, &shallow);
    make_and_store_survey(map, &known, &map.current.artifact.files(), form)
}

/// Makes an overview, and stores the survey that it was made from at the same time.
fn make_and_store_survey(
    map: &CodeMap,
    known: &KnownSurvey,
    files: &[(&str, FileRow)],
    form: Form,
) -> Result<Overview, TooSmall> {
    let (overview, basis) = std::thread::scope(|scope| {
        scope.spawn(|| known.store(map));
        make_within_budget(map, files, &known.survey, form)
    })?;
    if form.budget.is_none() {
        carried::store(map, &overview, basis, &known.made);
    }
    Ok(overview)
}

fn make_within_budget(
    map: &CodeMap,
    files: &[(&str, FileRow)],
    survey: &Survey,
    form: Form,
) -> Result<(Overview, OverviewBasis), TooSmall> {
    let header = map.header(MapCommand::Explore);
    let cost = |overview: &Overview| cost(&payload(&header, form.format, overview));
    let request = OverviewRequest {
        detail: form.detail,
        files,
        analysis: &|path| map.current.analysis_at(path),
        text: &|path| map.current.text(path),
        budget: form.budget,
        cost: &cost,
    };
    overview(survey, &request)
}

fn report(header: &MapHeader, overview: &Overview) -> ExploreReport {
    ExploreReport { map: header.clone(), overview: wire::overview(overview) }
}

/// An overview as it is printed.
pub(super) fn payload(header: &MapHeader, format: MapFormat, overview: &Overview) -> String {
    match format {
        MapFormat::Json => json_payload(&report(header, overview)),
        MapFormat::Text => text_payload(header, &overview.to_text()),
    }
}

/// What an overview depends on.
fn key(map: &CodeMap, form: Form) -> u64 {
    let Form { format, detail, budget } = form;
    let head = map.current.artifact.head();
    let words = format!(
        "explore {OVERVIEW_FORMAT} {} {} {} {detail:?} {budget:?} {}",
        head.state(),
        head.verified_ns,
        format == MapFormat::Json,
        map.current.commit()
    );
    xxhash_rust::xxh3::xxh3_64(words.as_bytes())
}
