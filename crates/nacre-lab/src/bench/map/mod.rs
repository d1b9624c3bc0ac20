//! Compares the tokens and time needed to answer questions with and without the map.
//!
//! Without the map, a session reads the file list once, and then runs a search and opens files for
//! each question. With the map, it reads one overview up front, then the relevant context for each
//! question. If the context lacks the answer, the cost without the map is added. `localisation`
//! also measures whether a context contains the files that commits changed.

mod baseline;
mod localisation;
mod questions;
mod repo_report;
mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nacre_base::fs::Owner;
use nacre_base::git::GitProgram;
use nacre_map::artifact::{Cache, Project};
use nacre_map::indexer::{
    CacheWrites, Current, Deadline, Excludes, ReadProgress, RefreshOptions, Sensitive, Verify,
    WordCounting, refresh,
};
use nacre_map::slices::tokens;
use nacre_ops::map::{self as ops, Answer};
use nacre_ops::{Events, Host};
use nacre_types::{
    CacheStatus, ContextReport, ContextRequest, DeltaRequest, ExploreReport, ExploreRequest,
    MapFormat, Since,
};

use self::baseline::Texts;
use self::localisation::{MAX_TASKS, Pilot, Unmeasured};
use self::repo_report::{Measured, judge, share};
use self::report::{BenchLatency, BenchMapReport, BenchQuestion, BenchedRepo, TokenCost};
use crate::{AnyError, Outcome, host, output};

const N_OPENED: usize = 10;

/// Compare answering questions with and without the map, and measure whether the map finds the
/// files that commits changed
///
/// Without the map, a session reads the list of files once, and then runs a search and opens files
/// for each question. With the map, a session runs `explore` once and `context` for each question;
/// if the context lacks the answer, the cost without the map is added. Both cases use the limits of
/// real agent tools. Questions that cost more with the map are listed.
///
/// For localisation, the tasks are the subjects of the most recent suitable commits. All tasks run
/// on the parent of the oldest of these commits. The report shows the share of the changed files
/// that `context` returns, compared with a plain word search (BM25). Merges, version bumps,
/// reverts, typo fixes, subjects with fewer than 3 words, and commits that change no code files or
/// more than 8 of them are skipped.
///
/// The repositories are not modified: the old state is a temporary copy.
#[derive(Debug, clap::Args)]
pub(crate) struct MapArgs {
    /// A repository; may be repeated
    #[arg(long = "repo", value_name = "PATH", required = true)]
    repos: Vec<String>,
    /// Questions, one JSON object per line: question, find (words to search for), path, contains
    /// [default: generated from public symbols]
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Number of questions to generate
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
    /// Token limit of each `context`
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
    /// Number of commits to use as tasks, at most 200; 0 disables localisation
    #[arg(long, value_name = "N", default_value_t = 40)]
    tasks: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &MapArgs) -> Outcome {
    if MAX_TASKS < args.tasks {
        return Err(format!("At most {MAX_TASKS} commits can be used as tasks").into());
    }
    let host = host::open().map_err(host::format_error)?;
    let asked = args.questions.as_deref().map(questions::read).transpose()?;
    let bench = Bench { host: &host, asked, args };
    let measured: Result<_, AnyError> = args.repos.iter().map(|repo| bench.measure(repo)).collect();
    let report = BenchMapReport { budget: args.budget, repos: measured? };
    if args.json {
        output::json(&report)?;
    } else {
        report.repos.iter().for_each(report::print);
    }
    Ok(true)
}

struct Bench<'b> {
    host: &'b Host,
    asked: Option<Vec<BenchQuestion>>,
    args: &'b MapArgs,
}

impl Bench<'_> {
    fn measure(&self, repo: &str) -> Result<BenchedRepo, AnyError> {
        let first = self.explore(repo)?.report.map;
        let (hit_ratio, explore) = self.time_hits(repo)?;
        let root = PathBuf::from(&first.project_root);
        let scratch = tempfile::tempdir()?;
        let cache = Cache::new(scratch.path().canonicalize()?, owner());
        let (mut current, cold) = measure_time(|| read_map(&cache, &root, CacheWrites::Off))?;
        // The first refresh of a large project is incomplete, but the questions require every file
        // to be parsed.
        let paths: Vec<String> =
            current.artifact.files().iter().map(|(path, _)| (*path).to_owned()).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        current.deepen(&cache, &paths, &options(CacheWrites::Off)?);
        let since = Some(Since::Revision(first.revision));
        let delta =
            DeltaRequest { project: Some(repo.to_owned()), since, ..DeltaRequest::default() };
        let (_, delta) = measure_time(|| {
            ops::delta(self.host, &delta, &Events::discard()).map_err(host::format_error)
        })?;
        let texts = Texts::read(&current);
        let with = tokens(&self.explore(repo)?.payload);
        let session = TokenCost { without: tokens(&texts.listing()), with };
        let questions = match &self.asked {
            Some(asked) => asked.clone(),
            None => questions::make(&current.facts(), self.args.count),
        };
        let (answers, context) = measure_time(|| self.answers(repo, &questions))?;
        let context = context / u32::try_from(questions.len().max(1)).unwrap_or(1);
        let judged = questions
            .iter()
            .zip(&answers)
            .map(|(question, answer)| judge(question, answer, &texts));
        let stats = first.stats;
        let measured = Measured {
            files: stats.file_count,
            changed_ratio: share(stats.rehashed_entries, stats.file_count.max(1)),
            hit_ratio,
            latency_ms: BenchLatency {
                cold: millis(cold),
                explore: millis(explore),
                delta: millis(delta),
                context: millis(context),
            },
            session,
            questions: judged.collect(),
            localisation: self.localise(&root)?,
        };
        Ok(measured.report(repo))
    }

    fn explore(&self, repo: &str) -> Result<Answer<ExploreReport>, AnyError> {
        let request = ExploreRequest {
            project: Some(repo.to_owned()),
            format: MapFormat::Text,
            ..ExploreRequest::default()
        };
        Ok(ops::explore(self.host, &request, &Events::discard()).map_err(host::format_error)?)
    }

    /// Reads the overview repeatedly, and returns the cache hit rate and the median time.
    fn time_hits(&self, repo: &str) -> Result<(f64, Duration), AnyError> {
        let (mut times, mut n_hits) = (Vec::new(), 0);
        for _ in 0..N_OPENED {
            let (answer, time) = measure_time(|| self.explore(repo))?;
            times.push(time);
            n_hits += usize::from(answer.report.map.cache_status == CacheStatus::Hit);
        }
        times.sort();
        Ok((share(n_hits, N_OPENED), times[N_OPENED / 2]))
    }

    fn answers(&self, repo: &str, questions: &[BenchQuestion]) -> Result<Vec<String>, AnyError> {
        let ask = |question: &BenchQuestion| {
            let request = ContextRequest {
                project: Some(repo.to_owned()),
                format: MapFormat::Text,
                task: Some(question.question.clone()),
                budget: Some(self.args.budget),
                ..ContextRequest::default()
            };
            Ok(context(self.host, &request)?.payload)
        };
        questions.iter().map(ask).collect()
    }

    fn localise(&self, root: &Path) -> Result<Option<repo_report::Localisation>, AnyError> {
        let MapArgs { tasks: n_tasks, budget, .. } = *self.args;
        if n_tasks == 0 {
            return Ok(None);
        }
        match (Pilot { root, n_tasks, budget }).measure() {
            Ok(measured) => Ok(Some(Ok(measured))),
            Err(Unmeasured::Reason(reason)) => Ok(Some(Err(reason))),
            Err(Unmeasured::Failed(error)) => Err(error),
        }
    }
}

fn context(host: &Host, request: &ContextRequest) -> Result<Answer<ContextReport>, AnyError> {
    Ok(ops::context(host, request, &Events::discard()).map_err(host::format_error)?)
}

fn read_map(cache: &Cache, root: &Path, keeping: CacheWrites) -> Result<Current, AnyError> {
    Ok(refresh(cache, &Project::at(root.to_owned()), &options(keeping)?)?)
}

fn options(keeping: CacheWrites) -> Result<RefreshOptions, AnyError> {
    let now_ns = i64::try_from(jiff::Timestamp::now().as_nanosecond())?;
    Ok(RefreshOptions {
        now_ns,
        looked_ns: now_ns,
        trust: Verify::Stamps,
        keeping,
        words: WordCounting::Later,
        sensitive: Sensitive::new(&[])?,
        excludes: Excludes::default(),
        git: git(),
        n_threads: std::thread::available_parallelism().map_or(2, usize::from).min(8),
        deadline: Deadline::never(),
        progress: ReadProgress::default(),
    })
}

fn git() -> GitProgram {
    GitProgram::new(std::env::var_os("PATH").unwrap_or_default())
}

fn owner() -> Owner {
    Owner { pid: std::process::id(), command: "bench".to_owned(), since: String::new() }
}

fn measure_time<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let begun = Instant::now();
    let done = work()?;
    Ok((done, begun.elapsed()))
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}
