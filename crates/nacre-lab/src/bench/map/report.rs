//! The report on what the map costs and saves.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize)]
pub(super) struct BenchQuestion {
    pub(super) question: String,
    pub(super) find: Vec<String>,
    pub(super) path: String,
    /// Text that an answer must contain, ignoring whitespace.
    pub(super) contains: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BenchMapReport {
    pub(super) budget: usize,
    pub(super) repos: Vec<BenchedRepo>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BenchedRepo {
    pub(super) repo: String,
    pub(super) files: usize,
    /// Share of files that were read when the map was first opened.
    pub(super) changed_ratio: f64,
    /// Share of later opens for which the map was up to date.
    pub(super) hit_ratio: f64,
    pub(super) latency_ms: BenchLatency,
    pub(super) session: TokenCost,
    /// Number of questions whose context contains the answer.
    pub(super) answered: usize,
    pub(super) questions: Vec<BenchedQuestion>,
    /// Share of tokens saved on answered questions. Negative if the map costs more.
    pub(super) reduction_answered: f64,
    /// Share of tokens saved on all questions, including the start of the session.
    pub(super) reduction: f64,
    pub(super) cost_more: usize,
    pub(super) localisation: Option<BenchedLocalisation>,
    pub(super) no_localisation: Option<String>,
}

/// Milliseconds per operation. All except `cold` include checking whether the map is up to date.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct BenchLatency {
    pub(super) cold: f64,
    pub(super) explore: f64,
    pub(super) delta: f64,
    pub(super) context: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct TokenCost {
    pub(super) without: usize,
    pub(super) with: usize,
}

impl TokenCost {
    pub(super) fn is_more(self) -> bool {
        self.without < self.with
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct BenchedQuestion {
    pub(super) question: String,
    pub(super) path: String,
    pub(super) is_answered: bool,
    #[serde(flatten)]
    pub(super) cost: TokenCost,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BenchedLocalisation {
    /// The tested commit. It is older than all tasks.
    pub(super) state: String,
    pub(super) files: usize,
    pub(super) budget: usize,
    pub(super) context: LocalisationScore,
    /// Plain word search (BM25) over the same files, limited to as many files as the context lists.
    pub(super) bm25: LocalisationScore,
    pub(super) p50_ms: f64,
    /// Number of commits omitted because none of their changed files exist in the tested state.
    pub(super) left_out: usize,
    pub(super) postponed: usize,
    pub(super) tasks: Vec<LocalisedTask>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct LocalisationScore {
    pub(super) recall_5: f64,
    pub(super) recall_10: f64,
    pub(super) recall_any: f64,
    /// Number of tasks with a changed file among the first 5 results.
    pub(super) tasks_5: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LocalisedTask {
    pub(super) commit: String,
    pub(super) task: String,
    /// The changed files that exist in the tested state.
    pub(super) files: Vec<String>,
    /// Rank of the first changed file, starting at 1. `None` if no changed file was found.
    pub(super) context_rank: Option<usize>,
    pub(super) bm25_rank: Option<usize>,
}

pub(super) fn print(report: &BenchedRepo) {
    let BenchedRepo { latency_ms: time, session, .. } = report;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    println!("{}  {} files, {} changed", report.repo, report.files, percent(report.changed_ratio));
    println!(
        "  cache hits {}; ms: cold {:.0}, explore {:.1}, delta {:.1}, context {:.1}",
        percent(report.hit_ratio),
        time.cold,
        time.explore,
        time.delta,
        time.context
    );
    println!(
        "  session start: {} tokens without the map, {} with it",
        session.without, session.with
    );
    println!(
        "  {} of {} questions answered by the context, saving {} of their tokens; {} overall",
        report.answered,
        report.questions.len(),
        percent(report.reduction_answered),
        percent(report.reduction)
    );
    for question in report.questions.iter().filter(|one| one.cost.is_more()) {
        let TokenCost { without, with } = question.cost;
        let why = if question.is_answered { "" } else { " (no answer)" };
        println!("  costs more: {with} instead of {without}{why}  {}", question.question);
    }
    match (&report.localisation, &report.no_localisation) {
        (Some(measured), _) => print_localisation(measured),
        (None, Some(reason)) => println!("  localisation not measured: {reason}"),
        (None, None) => {}
    }
}

fn print_localisation(measured: &BenchedLocalisation) {
    let BenchedLocalisation { state, files, budget, context, bm25, p50_ms, tasks, .. } = measured;
    let state = state.get(..12).unwrap_or(state);
    println!(
        "  localisation: {} commits, tested at {state} ({files} files, {budget} tokens)",
        tasks.len()
    );
    println!("    changed files among   first 5   first 10   all named");
    for (name, score) in [("context", context), ("BM25", bm25)] {
        let LocalisationScore { recall_5, recall_10, recall_any, .. } = score;
        let [five, ten, any] = [recall_5, recall_10, recall_any].map(|share| share * 100.0);
        println!("    {name:<19} {five:>7.1} % {ten:>8.1} % {any:>9.1} %");
    }
    println!(
        "  In {} of {} commits, a changed file was among the first five (BM25: {}). A context takes \
         {p50_ms:.0} ms.",
        context.tasks_5,
        tasks.len(),
        bm25.tasks_5
    );
    for (count, why) in [
        (measured.left_out, "changed no existing file"),
        (measured.postponed, "were skipped because time ran out"),
    ] {
        if 0 < count {
            println!("  {count} more commits {why}.");
        }
    }
}
