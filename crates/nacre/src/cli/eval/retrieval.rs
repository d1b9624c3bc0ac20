//! `nacre eval retrieval`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nacre_api::wire::{DatasetFormat, EvalRetrievalReport, EvalRetrievalRequest, RetrievalScores};
use nacre_ops::{Host, OpError, eval as ops};

use super::super::exit::Exit;
use super::super::memory::ModeName;
use super::super::ui::{Role, Ui};

/// Ask a data set's questions, and count how often the answer is found
///
/// Every haystack is indexed in memory and asked its own questions with the ranking that searches use.
/// Nothing is written, sent or random. docs/evaluation.md describes the formats and the numbers.
#[derive(Debug, Args)]
pub(crate) struct RetrievalArgs {
    /// The data set's file; of devmembench the one with the questions
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    /// The format of the file
    #[arg(long = "dataset-format", alias = "format", value_name = "FORMAT", value_enum, default_value_t = FormatName::Jsonl)]
    format: FormatName,
    /// The folder of traces that the questions of `messages` are about
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// What to go by
    #[arg(long, value_enum, default_value_t = ModeName::Hybrid)]
    mode: ModeName,
    /// List the questions whose answers are not all among the first five
    #[arg(long)]
    missed: bool,
}

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    Locomo,
    Longmemeval,
    Devmembench,
    Jsonl,
    Messages,
}

impl From<FormatName> for DatasetFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Locomo => Self::Locomo,
            FormatName::Longmemeval => Self::LongMemEval,
            FormatName::Devmembench => Self::DevMemBench,
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Messages => Self::Messages,
        }
    }
}

pub(crate) fn cmd_retrieval(
    ui: &mut Ui,
    host: &Host,
    args: &RetrievalArgs,
) -> Result<Exit, OpError> {
    let RetrievalArgs { dataset, format, traces, mode, missed } = args;
    let request = EvalRetrievalRequest {
        dataset: dataset.display().to_string(),
        format: (*format).into(),
        traces: traces.as_ref().map(|folder| folder.display().to_string()),
        mode: (*mode).into(),
        missed: *missed,
    };
    let report = ops::retrieval(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &EvalRetrievalReport) -> Result<(), OpError> {
    let head = ["", "questions", "R@1", "R@5", "R@10", "any@5", "MRR", "nDCG@10", "newer"];
    let mut rows = vec![head.iter().map(|name| (Role::Faint, (*name).to_owned())).collect()];
    rows.extend(report.categories.iter().map(|(name, scores)| row(Role::Faint, name, scores)));
    rows.push(row(Role::Title, "all", &report.overall));
    if let Some(baseline) = &report.baseline {
        let named = baseline.categories.iter();
        rows.extend(named.map(|(name, scores)| row(Role::Faint, &format!("BM25 {name}"), scores)));
        rows.push(row(Role::Title, "BM25 all", &baseline.overall));
    }
    ui.table(&rows)?;
    let latency = &report.latency_ms;
    ui.line(format!(
        "{} records, {}; a question takes {:.2} ms (p50), {:.2} (p95), {:.2} (p99)",
        report.records, report.model, latency.p50, latency.p95, latency.p99
    ))?;
    for (reason, n_questions) in &report.left_out {
        ui.line(format!("{n_questions} questions left out: {reason}"))?;
    }
    for missed in &report.missed {
        let place = missed.place.map_or_else(|| "-".to_owned(), |place| (place + 1).to_string());
        ui.line(format!("missed {}  first answer at {place}", missed.id))?;
    }
    Ok(())
}

fn row(role: Role, name: &str, scores: &RetrievalScores) -> Vec<(Role, String)> {
    let percent = |share: f64| (Role::Title, format!("{:.1}", share * 100.0));
    let newer = match scores.newer_first {
        Some(share) => format!("{:.1} ({})", share * 100.0, scores.ordered),
        None => String::new(),
    };
    vec![
        (role, name.to_owned()),
        (Role::Faint, scores.questions.to_string()),
        percent(scores.recall_1),
        percent(scores.recall_5),
        percent(scores.recall_10),
        percent(scores.any_5),
        percent(scores.mrr),
        percent(scores.ndcg_10),
        (Role::Title, newer),
    ]
}
