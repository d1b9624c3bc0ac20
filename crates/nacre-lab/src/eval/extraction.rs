//! Measures memory extraction on labelled sessions.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use nacre_base::config::StrategyChoice;
use nacre_ops::host::AskRules;
use nacre_ops::host::{ask_rules, find_trace, read_plain};
use nacre_ops::sync::SessionModels;
use nacre_ops::sync::extract::Rules;
use nacre_ops::sync::strategy::read_session;
use nacre_ops::{Cancel, Host, OpError};
use serde::Serialize;

use super::labels::{self, Entry, Kept, Labelled, Match, Scores, Verdict, entries, matches};
use crate::output::{self, row};
use crate::{Outcome, host};

const MAX_JOBS: usize = 64;

/// Extract memories from labelled sessions, and count the correct ones
///
/// Extracted entries are matched with labels by place and quote. An entry that matches no label is
/// neither right nor wrong: `--missed` lists it for manual review, and `--verdicts` reads the
/// reviewer's verdicts. If a model is configured, reading each session consumes tokens. Nothing is
/// written. docs/evaluation.md describes the format and the metrics.
#[derive(Debug, Args)]
pub(crate) struct ExtractionArgs {
    /// File with the labels
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    /// Directory that contains the traces [default: the labels' directory]
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// File with verdicts on entries that match no label
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// List labels that were not found, and entries that match no label
    #[arg(long)]
    missed: bool,
    /// Number of sessions to read concurrently
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Extraction strategy, such as `offline`
    #[arg(long)]
    strategy: Option<StrategyChoice>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ExtractionReport {
    #[serde(flatten)]
    scores: Scores,
    cost: ReadingCost,
    missed: Vec<Missed>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct ReadingCost {
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    usd: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Missed {
    /// A label that was not found.
    Label { file: String, importance: u8, claim: String, quote: String },
    /// An entry that matches a statement that must not be kept.
    Tempting { file: String, title: String, why: String },
    /// An entry that matches no label, with the most similar label.
    Unknown {
        file: String,
        title: String,
        body: String,
        quotes: Vec<String>,
        nearest: Option<String>,
    },
    /// A session that could not be read.
    Unread { file: String, reason: String },
}

type SessionResult = Result<(Vec<Entry>, ReadingCost), OpError>;

pub(super) fn run(args: &ExtractionArgs) -> Outcome {
    let host = host::open().map_err(host::format_error)?;
    let sessions = labels::read(&read_plain(&args.dataset)?)?;
    let verdicts = match &args.verdicts {
        Some(file) => labels::read_verdicts(&read_plain(file)?)?,
        None => Vec::new(),
    };
    let reading = SessionModels::open(&host, args.strategy, &Cancel::new());
    let traces = args.traces.as_deref().or(args.dataset.parent()).unwrap_or(&args.dataset);
    let reader = LabelReader {
        host: &host,
        traces: host.environment.absolute(traces),
        reading: reading.map_err(host::format_error)?,
        rules: ask_rules(host.settings()),
    };
    let read = reader.read_all(&sessions, args.jobs.clamp(1, MAX_JOBS));
    let mut report = report(&sessions, &verdicts, read);
    report.missed.retain(|one| args.missed || matches!(one, Missed::Unread { .. }));
    if args.json {
        output::json(&report)?;
    } else {
        print(&report);
    }
    Ok(true)
}

struct LabelReader<'a> {
    host: &'a Host,
    traces: PathBuf,
    reading: SessionModels,
    rules: AskRules,
}

impl LabelReader<'_> {
    /// Reads all sessions, `jobs` at a time. The results are in the same order as the sessions.
    fn read_all(&self, sessions: &[Labelled], jobs: usize) -> Vec<SessionResult> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, SessionResult)>> = Mutex::default();
        let work = || {
            loop {
                let idx = next.fetch_add(1, Ordering::Relaxed);
                let Some(session) = sessions.get(idx) else { return };
                let result = self.read_one(session);
                results.lock().unwrap().push((idx, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(sessions.len()) {
                scope.spawn(work);
            }
        });
        let mut results = results.into_inner().unwrap();
        results.sort_by_key(|(idx, _)| *idx);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn read_one(&self, session: &Labelled) -> SessionResult {
        let path = self.traces.join(&session.file);
        let trace = find_trace(self.host, &path.display().to_string())?;
        let asker = self.reading.asker(self.host, &self.rules, &trace)?;
        let reader = self.reading.reader(&self.rules);
        let words = &self.rules.words;
        let read = read_session(&trace, words, Rules::default(), reader, asker.as_ref())?;
        let totals = asker.map(|asker| asker.budget().totals()).unwrap_or_default();
        let cost = ReadingCost {
            calls: totals.calls,
            input_tokens: totals.usage.total() - totals.usage.output,
            output_tokens: totals.usage.output,
            usd: (0 < totals.calls && totals.unpriced_calls == 0).then(|| totals.cost.dollars()),
        };
        Ok((entries(&trace, &read.extraction)?, cost))
    }
}

fn report(
    sessions: &[Labelled],
    verdicts: &[Verdict],
    read: Vec<SessionResult>,
) -> ExtractionReport {
    let mut report = ExtractionReport {
        scores: Scores::default(),
        cost: ReadingCost::default(),
        missed: Vec::new(),
    };
    for (session, result) in sessions.iter().zip(read) {
        match result {
            Ok((entries, own)) => {
                let matches = matches(session, &entries, verdicts);
                report.scores.add(session, &entries, &matches);
                report.missed.extend(find_missed(session, &entries, &matches));
                report.cost.add(own);
            }
            Err(error) => report.missed.push(Missed::Unread {
                file: session.file.clone(),
                reason: [vec![error.message], error.causes].concat().join(": "),
            }),
        }
    }
    report
}

impl ReadingCost {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.usd = match (self.usd, other.usd) {
            (Some(sum), Some(own)) => Some(sum + own),
            (sum, own) => sum.or(own),
        };
    }
}

fn find_missed(session: &Labelled, entries: &[Entry], matches: &[Match]) -> Vec<Missed> {
    let file = || session.file.clone();
    let mut missed = Vec::new();
    for (at, label) in session.keep.iter().enumerate() {
        if label.importance >= 2 && !matches.contains(&Match::Label(at)) {
            missed.push(Missed::Label {
                file: file(),
                importance: label.importance,
                claim: label.claim.clone(),
                quote: label.quote.clone(),
            });
        }
    }
    for (entry, matched) in entries.iter().zip(matches) {
        match matched {
            Match::Label(_) | Match::Judged { .. } => {}
            Match::Tempting(at) => missed.push(Missed::Tempting {
                file: file(),
                title: entry.title.clone(),
                why: session.not[*at].why.clone(),
            }),
            Match::Unknown { nearest } => missed.push(Missed::Unknown {
                file: file(),
                title: entry.title.clone(),
                body: entry.body.clone(),
                quotes: entry.quotes.iter().map(|(_, quote)| quote.clone()).collect(),
                nearest: nearest.map(|at| session.keep[at].claim.clone()),
            }),
        }
    }
    missed
}

fn print(report: &ExtractionReport) {
    let Scores { sessions, active, candidates, empty, silent, found } = &report.scores;
    output::table(&[
        row(["", "kept", "right", "wrong", "not judged", "precision"]),
        format_kept_row("active", active),
        format_kept_row("candidates", candidates),
    ]);
    println!();
    let mut rows = vec![row(["", "labels", "found active", "found at all"])];
    rows.extend(found.iter().map(|(group, found)| {
        let share = labels::share(found.active, found.labels) * 100.0;
        let active = format!("{} ({share:.1} %)", found.active);
        vec![group.clone(), found.labels.to_string(), active, found.any.to_string()]
    }));
    output::table(&rows);
    println!("\n{sessions} sessions; no entries in {silent} of {empty} sessions without labels");
    let ReadingCost { calls, input_tokens, output_tokens, usd } = report.cost;
    if calls > 0 {
        let usd = usd.map(|usd| format!(", ${usd:.2}")).unwrap_or_default();
        println!("{calls} calls, {input_tokens} tokens in, {output_tokens} out{usd}");
    }
    report.missed.iter().for_each(print_missed);
}

fn format_kept_row(name: &str, kept: &Kept) -> Vec<String> {
    let Kept { entries, right, wrong, unknown } = kept;
    let mut row = vec![name.to_owned()];
    row.extend([entries, right, wrong, unknown].map(usize::to_string));
    row.push(format!("{:.1} %", labels::share(*right, right + wrong) * 100.0));
    row
}

fn print_missed(missed: &Missed) {
    let (what, file, text) = match missed {
        Missed::Label { file, claim, .. } => ("missed ", file, claim.clone()),
        Missed::Tempting { file, title, why } => ("wrong  ", file, format!("{title} ({why})")),
        Missed::Unknown { file, title, nearest, .. } => {
            let near = nearest.as_ref().map(|near| format!(" (near: {near})")).unwrap_or_default();
            ("unknown", file, format!("{title}{near}"))
        }
        Missed::Unread { file, reason } => ("unread ", file, reason.clone()),
    };
    println!("{what} {file}  {}", text.replace('\n', " "));
}
