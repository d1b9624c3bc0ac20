//! Compares answering questions with the map and without it, in tokens and time.
//!
//! Without: the list of files once, then for each question a search and the files that it leads to. With: an overview once, then
//! a context for each question; where that does not have the answer, everything from without is added. Beside that, whether a
//! context names the files that commits of the repository changed (`localise/`).

mod baseline;
mod localise;
mod questions;
mod repo_report;

use std::io;
use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{
    BenchLatency, BenchMapReport, BenchMapRequest, BenchQuestion, BenchedLocalisation, BenchedRepo,
    MapCommand, MapFormat, Since, TokenCost,
};
use nacre_map::artifact::Cache;
use nacre_map::indexer::{CacheStatus, CacheWrites, RefreshOptions, refresh};
use nacre_map::slices::{Detail, tokens};

use self::baseline::Texts;
use self::localise::{DEFAULT_TASKS, MAX_TASKS, Pilot, Unmeasured};
use self::repo_report::{Measured, judge, share};
use super::code_map::{CodeMap, MapAccess};
use super::context::{self, DEFAULT_BUDGET, Task};
use super::explore::{self, Form, RecentOverviews};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, read_plain};

/// How often the map is opened again to see whether it is up to date, and how long that takes.
const N_OPENED: usize = 10;

/// How many questions are made unless the request says otherwise.
const DEFAULT_QUESTIONS: usize = 20;

pub fn bench(
    host: &Host,
    request: &BenchMapRequest,
    events: &Events,
) -> Result<BenchMapReport, OpError> {
    let BenchMapRequest { repos, questions, count, budget, tasks } = request;
    let n_tasks = tasks.unwrap_or(DEFAULT_TASKS);
    if MAX_TASKS < n_tasks {
        return Err(OpError::usage(format!("At most {MAX_TASKS} commits can be taken as tasks")));
    }
    let asked = questions.as_deref().map(|path| questions::read(host, path)).transpose()?;
    let bench = Bench {
        host,
        asked,
        n_questions: count.unwrap_or(DEFAULT_QUESTIONS),
        budget: budget.unwrap_or(DEFAULT_BUDGET),
        n_tasks,
        events,
    };
    let measured: Result<_, OpError> = repos.iter().map(|repo| bench.measure(repo)).collect();
    Ok(BenchMapReport { budget: bench.budget, repos: measured? })
}

/// A file that a request names, seen from the current folder.
fn read_file(host: &Host, path: &str) -> io::Result<String> {
    read_plain(&host.environment.folder.join(path))
}

/// What was measured, or why nothing was.
type Localisation = Result<BenchedLocalisation, String>;

struct Bench<'b> {
    host: &'b Host,
    asked: Option<Vec<BenchQuestion>>,
    n_questions: usize,
    budget: usize,
    n_tasks: usize,
    events: &'b Events,
}

impl Bench<'_> {
    fn measure(&self, repo: &str) -> Result<BenchedRepo, OpError> {
        let stats = self.open(repo)?.current.stats;
        self.events.cancel().check()?;
        let (hit_ratio, hit) = self.time_hits(repo)?;
        let mut map = self.open(repo)?;
        let cold = self.time_cold(&map)?;
        // A first look at much code is only a glance; questions are about what a grammar sees.
        let files = map.current.artifact.files();
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        map.deepen(&paths);
        let payload = overview(&mut map)?;
        let (_, explore) = self.timed(|| overview(&mut map))?;
        let (_, delta) =
            self.timed(|| map.delta(&Since::Revision(wire::revision(map.current.revision()))))?;
        let texts = Texts::read(&map.current);
        let session = TokenCost { without: tokens(&texts.listing()), with: tokens(&payload) };
        let questions = match &self.asked {
            Some(asked) => asked.clone(),
            None => questions::make(&map.current.facts(), self.n_questions),
        };
        let (answers, context) = self.timed(|| self.answers(&mut map, &questions))?;
        let context = context / u32::try_from(questions.len().max(1)).unwrap_or(1);
        let judged = questions
            .iter()
            .zip(&answers)
            .map(|(question, answer)| judge(question, answer, &texts));
        let measured = Measured {
            files: stats.file_count,
            changed_ratio: share(stats.rehashed_entries, stats.file_count.max(1)),
            hit_ratio,
            latency_ms: BenchLatency {
                cold: millis(cold),
                hit: millis(hit),
                explore: millis(explore),
                delta: millis(delta + hit),
                context: millis(context),
            },
            session,
            questions: judged.collect(),
            localisation: self.localise(&map.current.project.root)?,
        };
        Ok(measured.report(repo))
    }

    /// Whether a context names what commits changed, or why that was not measured; nothing where it is not asked for.
    fn localise(&self, root: &Path) -> Result<Option<Localisation>, OpError> {
        let Self { host, budget, n_tasks, events, .. } = *self;
        if n_tasks == 0 {
            return Ok(None);
        }
        match (Pilot { host, root, n_tasks, budget, events }).measure() {
            Ok(measured) => Ok(Some(Ok(measured))),
            Err(Unmeasured::Reason(reason)) => Ok(Some(Err(reason))),
            Err(Unmeasured::Failed(error)) => Err(error),
        }
    }

    fn open(&self, repo: &str) -> Result<CodeMap, OpError> {
        CodeMap::open(self.host, MapAccess::usual(Some(repo)), "bench")
    }

    fn timed<T>(
        &self,
        work: impl FnOnce() -> Result<T, OpError>,
    ) -> Result<(T, Duration), OpError> {
        let clock = self.host.stopwatch();
        let done = work()?;
        Ok((done, clock()))
    }

    /// How long a map takes that nothing is known of, without storing it.
    fn time_cold(&self, map: &CodeMap) -> Result<Duration, OpError> {
        let nowhere = Cache::new(self.host.home()?.join("cache/none"), self.host.owner("bench"));
        let options = RefreshOptions { keeping: CacheWrites::Off, ..map.options.clone() };
        let (_, time) = self.timed(|| Ok(refresh(&nowhere, &map.current.project, &options)?))?;
        Ok(time)
    }

    /// Opens the map again and again: how often it is up to date already, and the median time.
    fn time_hits(&self, repo: &str) -> Result<(f64, Duration), OpError> {
        let mut times = Vec::new();
        let mut n_hits = 0;
        for _ in 0..N_OPENED {
            let (map, time) = self.timed(|| self.open(repo))?;
            times.push(time);
            n_hits += usize::from(map.current.status == CacheStatus::Hit);
        }
        times.sort();
        Ok((share(n_hits, N_OPENED), times[N_OPENED / 2]))
    }

    /// The payload of a context for each question.
    fn answers(
        &self,
        map: &mut CodeMap,
        questions: &[BenchQuestion],
    ) -> Result<Vec<String>, OpError> {
        let mut answers = Vec::new();
        for question in questions {
            let task = Task {
                words: question.question.clone(),
                files: Vec::new(),
                budget: self.budget,
                is_files_only: false,
                format: MapFormat::Text,
                without_memory: false,
            };
            let slice = context::collect(self.host, map, &task)?;
            let header = map.header(MapCommand::Context);
            answers.push(context::payload(&header, MapFormat::Text, &slice));
        }
        Ok(answers)
    }
}

/// The payload of a compact overview.
fn overview(map: &mut CodeMap) -> Result<String, OpError> {
    let form = Form { format: MapFormat::Text, detail: Detail::Compact, budget: None };
    let overview = explore::find_or_make(map, &mut RecentOverviews::default(), form)?;
    Ok(explore::payload(&map.header(MapCommand::Explore), form.format, &overview))
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}
