//! `nacre explore`

use std::panic::resume_unwind;

use clap::Args;
use nacre_map::artifact::FileRow;
use nacre_map::slices::{
    OVERVIEW_FORMAT, Overview, OverviewRequest, Survey, TooSmall, overview, surface_paths,
};

use super::error::{CommandError, Exit};
use super::map::{Map, MapArgs};
use super::payload::{self, DetailName, payload};
use super::runtime::Runtime;
use super::survey::KnownSurvey;
use super::ui::Ui;

/// Tell what a project is: where it starts, what it rests on, what it offers
///
/// Entry points, the files that much rests on and that change often, packages of others, the graph of modules, public
/// symbols and tests. Every list says how long it is. The same state gives the same bytes.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    map: MapArgs,
    /// How much to tell
    #[arg(long, value_name = "DETAIL", default_value = "compact")]
    detail: DetailName,
    /// Tokens that the answer may have; its lists are cut until it fits
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

pub(crate) fn cmd_explore(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ExploreArgs,
) -> Result<Exit, CommandError> {
    let ExploreArgs { map: map_args, detail, budget } = args;
    let mut map = Map::open(ui, runtime, map_args, "explore")?;
    let payload = explored(&mut map, ui.is_json(), *detail, *budget)?;
    if let Some(client) = &map_args.client {
        map.seen_by(ui, client)?;
    }
    payload::print(ui, &payload)?;
    Ok(Exit::Done)
}

/// The answer as it is printed.
pub(crate) fn explored(
    map: &mut Map,
    is_json: bool,
    detail: DetailName,
    budget: Option<usize>,
) -> Result<String, CommandError> {
    let key = key(map, is_json, detail, budget);
    let shown = |map: &Map, answer: &Overview| payload_of(map, is_json, answer);
    let kept = map.cache.slice(&map.current.project, key);
    let kept = kept.and_then(|bytes| serde_json::from_slice::<Overview>(&bytes).ok());
    if let Some(answer) = kept {
        let payload = shown(map, &answer);
        // The words around it may have grown since.
        if budget.is_none_or(|budget| payload::cost(&payload) <= budget) {
            return Ok(payload);
        }
    }
    let question = (is_json, detail, budget);
    let (mut known, shallow) = {
        // Each takes a moment at 60,000 files, and neither needs the other.
        let (known, files) = std::thread::scope(|scope| {
            let artifact = &map.current.artifact;
            let files = scope.spawn(|| artifact.files());
            (KnownSurvey::of(map), files.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let surface = surface_paths(&known.survey, detail.into(), &files);
        (known, map.current.shallow(&surface))
    };
    known.refine(map, &shallow);
    let answer = told(map, &known, question)?;
    payload::keep(map, key, &answer);
    Ok(shown(map, &answer))
}

/// Makes the answer, and keeps what it was made from on the way.
fn told(
    map: &Map,
    known: &KnownSurvey,
    question: (bool, DetailName, Option<usize>),
) -> Result<Overview, TooSmall> {
    let files = map.current.artifact.files();
    std::thread::scope(|scope| {
        scope.spawn(|| known.keep(map));
        asked(map, &files, &known.survey, question)
    })
}

fn asked(
    map: &Map,
    files: &[(&str, FileRow)],
    survey: &Survey,
    (is_json, detail, budget): (bool, DetailName, Option<usize>),
) -> Result<Overview, TooSmall> {
    let cost = |answer: &Overview| payload::cost(&payload_of(map, is_json, answer));
    let request = OverviewRequest {
        detail: detail.into(),
        files,
        analysis: &|path| map.current.analysis_at(path),
        budget,
        cost: &cost,
    };
    overview(survey, &request)
}

fn payload_of(map: &Map, is_json: bool, answer: &Overview) -> String {
    payload(map, "explore", is_json, answer, Overview::to_text)
}

/// What an answer depends on.
fn key(map: &Map, is_json: bool, detail: DetailName, budget: Option<usize>) -> u64 {
    let head = map.current.artifact.head();
    let words = format!(
        "explore {OVERVIEW_FORMAT} {} {} {is_json} {detail:?} {budget:?} {}",
        head.state(),
        head.verified_ns,
        map.current.commit()
    );
    xxhash_rust::xxh3::xxh3_64(words.as_bytes())
}
