//! `nacre explore`

use std::collections::VecDeque;
use std::panic::resume_unwind;

use clap::Args;
use nacre_map::artifact::FileRow;
use nacre_map::slices::{
    OVERVIEW_FORMAT, Overview, OverviewRequest, Survey, TooSmall, overview, surface_paths,
};

use super::exit::Exit;
use super::map::{ClientArgs, Map, MapArgs};
use super::payload::{self, DetailName, payload};
use super::survey::KnownSurvey;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// So many answers are held.
const MAX_ANSWERS: usize = 8;

/// Tell what a project is: where it starts, what it rests on, what it offers
///
/// Entry points, the files that much rests on and that change often, packages of others, the graph of modules, public
/// symbols and tests. Every list says how long it is. The same state gives the same bytes.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    question: ExploreQuestion,
}

/// What is asked of a map that is open.
#[derive(Debug, Args)]
pub(crate) struct ExploreQuestion {
    #[command(flatten)]
    client: ClientArgs,
    /// How much to tell
    #[arg(long, value_name = "DETAIL", default_value = "compact")]
    detail: DetailName,
    /// Tokens that the answer may have; its lists are cut until it fits
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

/// The last answers, for who asks the same again.
#[derive(Debug, Default)]
pub(crate) struct Answers(VecDeque<(u64, Overview)>);

impl Answers {
    fn find(&self, key: u64) -> Option<&Overview> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer)
    }

    fn keep(&mut self, key: u64, answer: Overview) {
        self.0.retain(|(known, _)| *known != key);
        self.0.truncate(MAX_ANSWERS - 1);
        self.0.push_front((key, answer));
    }
}

pub(crate) fn cmd_explore(ui: &mut Ui, host: &Host, args: &ExploreArgs) -> Result<Exit, OpError> {
    let ExploreArgs { map: map_args, question } = args;
    let mut map = Map::open(ui, host, map_args, "explore")?;
    let payload = answered(ui, &mut map, &mut Answers::default(), question)?;
    payload::print(ui, &payload)?;
    Ok(Exit::Done)
}

/// The answer to a question, as it is printed; who asks has seen it.
pub(crate) fn answered(
    ui: &mut Ui,
    map: &mut Map,
    answers: &mut Answers,
    question: &ExploreQuestion,
) -> Result<String, OpError> {
    let ExploreQuestion { client, detail, budget } = question;
    let payload = explored(map, answers, ui.is_json(), *detail, *budget)?;
    if let Some(client) = &client.client {
        map.seen_by(ui, client)?;
    }
    Ok(payload)
}

/// The answer as it is printed.
pub(crate) fn explored(
    map: &mut Map,
    answers: &mut Answers,
    is_json: bool,
    detail: DetailName,
    budget: Option<usize>,
) -> Result<String, OpError> {
    let key = key(map, is_json, detail, budget);
    let shown = |map: &Map, answer: &Overview| payload_of(map, is_json, answer);
    if answers.find(key).is_none() {
        let kept = map.cache.slice(&map.current.project, key);
        let kept = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        kept.into_iter().for_each(|answer| answers.keep(key, answer));
    }
    if let Some(answer) = answers.find(key) {
        let payload = shown(map, answer);
        // The words around it may have grown since.
        if budget.is_none_or(|budget| payload::cost(&payload) <= budget) {
            return Ok(payload);
        }
    }
    let answer = made(map, (is_json, detail, budget))?;
    payload::keep(map, key, &answer);
    let payload = shown(map, &answer);
    answers.keep(key, answer);
    Ok(payload)
}

/// What is asked for: the form, how much, and within which budget.
type Question = (bool, DetailName, Option<usize>);

/// Makes an answer from what is known of all files, after a closer look at those whose symbols it shows.
fn made(map: &mut Map, question: Question) -> Result<Overview, TooSmall> {
    let (mut known, shallow) = {
        // Each takes a moment at 60,000 files, and neither needs the other.
        let (known, files) = std::thread::scope(|scope| {
            let artifact = &map.current.artifact;
            let files = scope.spawn(|| artifact.files());
            (KnownSurvey::of(map), files.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let surface = surface_paths(&known.survey, question.1.into(), &files);
        let shallow = map.current.shallow(&surface);
        if shallow.is_empty() {
            return told(map, &known, &files, question);
        }
        (known, shallow)
    };
    known.refine(map, &shallow);
    told(map, &known, &map.current.artifact.files(), question)
}

/// Tells the answer, and keeps what it was made from on the way.
fn told(
    map: &Map,
    known: &KnownSurvey,
    files: &[(&str, FileRow)],
    question: Question,
) -> Result<Overview, TooSmall> {
    std::thread::scope(|scope| {
        scope.spawn(|| known.keep(map));
        asked(map, files, &known.survey, question)
    })
}

fn asked(
    map: &Map,
    files: &[(&str, FileRow)],
    survey: &Survey,
    (is_json, detail, budget): Question,
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
