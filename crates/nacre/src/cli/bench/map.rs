//! `nacre bench map`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nacre_map::artifact::Cache;
use nacre_map::indexer::{CacheStatus, Keeping, RefreshOptions, Trust, refresh};
use nacre_map::slices::{Vocabulary, tokens};
use serde::Serialize;

use super::super::context::{DEFAULT_BUDGET, Task, collected, sketched};
use super::super::exit::Exit;
use super::super::explore::{Answers, explored};
use super::super::map::{Map, Since};
use super::super::payload::DetailName;
use super::super::ui::{Role, Ui};
use super::baseline::Texts;
use super::questions::{self, Question};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Looks that are repeated to see whether they hit, and how long they take.
const N_LOOKS: usize = 10;

/// Compare answering questions with the map and without it, in tokens and time
///
/// Without: the list of files once, then for each question a search and the files that it leads to. With: `explore` once, then
/// `context` for each question; where that does not have the answer, everything from without is added. Both are bounded as the
/// tools of agents are. Questions that cost more with the map are listed. The repositories are only read.
#[derive(Debug, Args)]
pub(crate) struct MapBenchArgs {
    /// A repository; may be given again
    #[arg(long = "repo", value_name = "PATH", required = true)]
    repos: Vec<String>,
    /// Questions, one JSON object a line: question, find (words to search for), path, contains [default: made from public
    /// symbols]
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// How many questions to make
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
    /// Tokens that each `context` may have
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// Count tokens by this vocabulary, in tiktoken's format, instead of the estimate
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
}

/// What counts tokens.
enum Counter {
    Estimate,
    Vocabulary(Vocabulary),
}

impl Counter {
    fn count(&self, text: &str) -> usize {
        match self {
            Self::Estimate => tokens(text),
            Self::Vocabulary(vocabulary) => vocabulary.tokens(text),
        }
    }

    fn as_str(&self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Vocabulary(_) => "vocabulary",
        }
    }
}

/// What was measured on one repository.
#[derive(Debug, Serialize)]
struct RepoReport {
    repo: String,
    files: usize,
    /// Files that had to be read at the first look of this run, of all.
    changed_ratio: f64,
    /// Looks that found nothing to do, of all that were repeated.
    hit_ratio: f64,
    latency_ms: Latency,
    session: Cost,
    /// Questions whose answer the slice has, checked.
    answered: usize,
    questions: Vec<QuestionReport>,
    /// Tokens saved on answered questions, of those without; below 0 when the map cost more.
    reduction_answered: f64,
    /// Over all questions and the beginning of the session.
    reduction: f64,
    /// Questions that cost more with the map.
    cost_more: usize,
}

#[derive(Debug, Serialize)]
struct Latency {
    cold: f64,
    hit: f64,
    explore: f64,
    delta: f64,
    context: f64,
}

/// Tokens without and with the map.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Cost {
    without: usize,
    with: usize,
}

#[derive(Debug, Serialize)]
struct QuestionReport {
    question: String,
    path: String,
    is_answered: bool,
    #[serde(flatten)]
    cost: Cost,
}

pub(crate) fn cmd_map(ui: &mut Ui, host: &Host, args: &MapBenchArgs) -> Result<Exit, OpError> {
    let counter = counter(args)?;
    let asked = args.questions.as_deref().map(questions::read).transpose()?;
    let mut reports = Vec::new();
    for repo in &args.repos {
        reports.push(measure(host, args, repo, asked.as_deref(), &counter)?);
    }
    if ui.is_json() {
        ui.json(&serde_json::json!({ "tokens_by": counter.as_str(), "budget": args.budget, "repos": reports }))?;
        return Ok(Exit::Done);
    }
    for report in &reports {
        print(ui, report)?;
    }
    ui.status(format!("Tokens by {}", counter.as_str()))?;
    Ok(Exit::Done)
}

fn counter(args: &MapBenchArgs) -> Result<Counter, OpError> {
    let Some(path) = &args.vocabulary else { return Ok(Counter::Estimate) };
    let failed = |cause: String| OpError {
        causes: vec![cause],
        ..OpError::failed(format!("Cannot use `{}` as a vocabulary", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let vocabulary = Vocabulary::read(&text).map_err(|error| failed(error.to_string()))?;
    Ok(Counter::Vocabulary(vocabulary))
}

fn measure(
    host: &Host,
    args: &MapBenchArgs,
    repo: &str,
    asked: Option<&[Question]>,
    counter: &Counter,
) -> Result<RepoReport, OpError> {
    let open = || Map::open_with(host, Some(repo), (Trust::Stamps, Keeping::Kept), "bench");
    let mut map = open()?;
    let stats = map.current.stats;
    let cold = cold(host, &map)?;
    let (hit_ratio, hit) = looks(host, &open)?;
    map = open()?;
    // A first look at much code is only a glance; questions are about what a grammar sees.
    let paths: Vec<String> =
        map.current.artifact.files().iter().map(|(path, _)| (*path).to_owned()).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    map.current.deepen(&map.cache, &paths, &map.options);
    let explore_payload =
        explored(&mut map, &mut Answers::default(), false, DetailName::Compact, None)?;
    let clock = host.stopwatch();
    explored(&mut map, &mut Answers::default(), false, DetailName::Compact, None)?;
    let explore = clock();
    let clock = host.stopwatch();
    map.delta(&Since::Revision(map.current.revision()))?;
    let delta = clock() + hit;
    let texts = Texts::read(&map.current);
    let session =
        Cost { without: counter.count(&texts.listing()), with: counter.count(&explore_payload) };
    let own;
    let questions = match asked {
        Some(asked) => asked,
        None => {
            own = questions::made(&map.current.facts(), args.count);
            &own
        }
    };
    let mut sketch = sketched(&map);
    let clock = host.stopwatch();
    let mut answers = Vec::new();
    for question in questions {
        let task =
            Task { words: question.question.clone(), budget: args.budget, ..Task::default() };
        answers.push(collected(host, &mut map, &mut sketch, false, &task)?);
    }
    let context = clock() / u32::try_from(questions.len().max(1)).unwrap_or(1);
    let rows = questions
        .iter()
        .zip(&answers)
        .map(|(question, answer)| judge(question, answer, &texts, counter));
    let latency_ms = Latency {
        cold: millis(cold),
        hit: millis(hit),
        explore: millis(explore),
        delta: millis(delta),
        context: millis(context),
    };
    let n_files = stats.file_count.max(1);
    Ok(report(repo, stats.file_count, rows.collect(), session, latency_ms)
        .with_ratios(share(stats.rehashed_entries, n_files), hit_ratio))
}

/// How long a first look takes, without keeping it.
fn cold(host: &Host, map: &Map) -> Result<Duration, OpError> {
    let nowhere = Cache::new(host.home()?.join("cache/none"), host.owner("bench"));
    let options = RefreshOptions { keeping: Keeping::Dropped, ..map.options.clone() };
    let clock = host.stopwatch();
    refresh(&nowhere, &map.current.project, &options)?;
    Ok(clock())
}

/// Looks again and again: how many of them hit, and the time of one in the middle.
fn looks(host: &Host, open: &dyn Fn() -> Result<Map, OpError>) -> Result<(f64, Duration), OpError> {
    let mut times = Vec::new();
    let mut n_hits = 0;
    for _ in 0..N_LOOKS {
        let clock = host.stopwatch();
        let map = open()?;
        times.push(clock());
        n_hits += usize::from(map.current.status == CacheStatus::Hit);
    }
    times.sort();
    Ok((share(n_hits, N_LOOKS), times[N_LOOKS / 2]))
}

/// What a question costs both ways. An answer that is not in the slice has to be found without it, too.
fn judge(question: &Question, answer: &str, texts: &Texts, counter: &Counter) -> QuestionReport {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let is_answered =
        answer.contains(&question.path) && bare(answer).contains(&bare(&question.contains));
    let reading = texts.answer(question);
    let without = counter.count(&reading.text);
    let own = counter.count(answer);
    let with = if is_answered { own } else { own + without };
    QuestionReport {
        question: question.question.clone(),
        path: question.path.clone(),
        is_answered,
        cost: Cost { without, with },
    }
}

fn report(
    repo: &str,
    files: usize,
    questions: Vec<QuestionReport>,
    session: Cost,
    latency_ms: Latency,
) -> RepoReport {
    let sum = |costs: &mut dyn Iterator<Item = Cost>| {
        costs.fold(Cost::default(), |sum, cost| Cost {
            without: sum.without + cost.without,
            with: sum.with + cost.with,
        })
    };
    let answered = sum(&mut questions.iter().filter(|one| one.is_answered).map(|one| one.cost));
    let all = sum(&mut questions.iter().map(|one| one.cost).chain([session]));
    RepoReport {
        repo: repo.to_owned(),
        files,
        changed_ratio: 0.0,
        hit_ratio: 0.0,
        latency_ms,
        session,
        answered: questions.iter().filter(|one| one.is_answered).count(),
        reduction_answered: reduction(answered),
        reduction: reduction(all),
        cost_more: questions.iter().filter(|one| one.cost.without < one.cost.with).count(),
        questions,
    }
}

impl RepoReport {
    fn with_ratios(self, changed_ratio: f64, hit_ratio: f64) -> Self {
        Self { changed_ratio, hit_ratio, ..self }
    }
}

fn print(ui: &mut Ui, report: &RepoReport) -> Result<(), OpError> {
    let RepoReport { latency_ms: time, session, .. } = report;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let title = ui.paint(Role::Title, &report.repo);
    ui.line(format!("{title}  {} files, {} changed", report.files, percent(report.changed_ratio)))?;
    ui.line(format!(
        "  hits {}; ms: cold {:.0}, hit {:.1}, explore {:.1}, delta {:.1}, context {:.1}",
        percent(report.hit_ratio),
        time.cold,
        time.hit,
        time.explore,
        time.delta,
        time.context
    ))?;
    ui.line(format!(
        "  begin: {} tokens without the map, {} with it",
        session.without, session.with
    ))?;
    ui.line(format!(
        "  {} of {} questions answered by the slice, {} of their tokens saved; {} over all",
        report.answered,
        report.questions.len(),
        percent(report.reduction_answered),
        percent(report.reduction)
    ))?;
    for question in report.questions.iter().filter(|one| one.cost.without < one.cost.with) {
        let Cost { without, with } = question.cost;
        let why = if question.is_answered { "" } else { " (no answer)" };
        let line = format!("  cost more: {with} for {without}{why}  {}", question.question);
        ui.text(&line)?;
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// The part of the tokens that was saved; below 0 when there were more.
fn reduction(cost: Cost) -> f64 {
    if cost.without == 0 { 0.0 } else { 1.0 - share(cost.with, cost.without) }
}
