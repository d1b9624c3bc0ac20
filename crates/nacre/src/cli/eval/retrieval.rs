//! `nacre eval retrieval`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nacre_core::search::eval::{self, Format, Report, Scores};
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::memory::ModeName;
use super::super::ui::{Role, Ui};
use super::read;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Ask a data set's questions, and count how often the answer is found
///
/// Every haystack is indexed in memory and asked its own questions with the ranking that searches use.
/// Nothing is written, sent or random. docs/evaluation.md describes the formats and the numbers.
#[derive(Debug, Args)]
pub(crate) struct RetrievalArgs {
    /// The data set's file; of devmembench the one with the questions
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    /// Its format
    #[arg(long, value_enum, default_value_t = FormatName::Jsonl)]
    format: FormatName,
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
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Locomo => Self::Locomo,
            FormatName::Longmemeval => Self::LongMemEval,
            FormatName::Devmembench => Self::DevMemBench,
            FormatName::Jsonl => Self::Jsonl,
        }
    }
}

pub(crate) fn cmd_retrieval(
    ui: &mut Ui,
    host: &Host,
    args: &RetrievalArgs,
) -> Result<Exit, OpError> {
    let text = read(&args.dataset)?;
    let beside = match args.format {
        FormatName::Devmembench => read(&args.dataset.with_file_name("sessions.json"))?,
        FormatName::Locomo | FormatName::Longmemeval | FormatName::Jsonl => String::new(),
    };
    let haystacks = eval::read(args.format.into(), &text, &beside)
        .map_err(|error| OpError::failed(error.to_string()))?;
    let embedder = host.own_embedder()?;
    let clock = host.stopwatch();
    let report = eval::run(&haystacks, &*embedder, args.mode.into(), &clock)?;
    if ui.is_json() {
        ui.json(&output(args, embedder.model().as_str(), &report))?;
        return Ok(Exit::Done);
    }
    print(ui, args, embedder.model().as_str(), &report)?;
    Ok(Exit::Done)
}

fn scores(scores: &Scores) -> Value {
    json!({
        "questions": scores.n_questions, "recall_1": scores.recall_1(), "recall_5": scores.recall_5(),
        "recall_10": scores.recall_10(), "any_5": scores.any_5(), "mrr": scores.mrr(),
        "ndcg_10": scores.ndcg_10(), "newer_first": scores.newer_first(), "ordered": scores.n_ordered,
    })
}

fn output(args: &RetrievalArgs, model: &str, report: &Report) -> Value {
    let categories: serde_json::Map<String, Value> =
        report.categories.iter().map(|(name, of)| (name.clone(), scores(of))).collect();
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    let missed: Vec<Value> =
        report.missed.iter().map(|(id, place)| json!({ "id": id, "place": place })).collect();
    json!({
        "dataset": args.dataset.display().to_string(), "model": model,
        "records": report.n_records, "overall": scores(&report.overall), "categories": categories,
        "latency_ms": {
            "p50": millis(report.latency.p50), "p95": millis(report.latency.p95),
            "p99": millis(report.latency.p99),
        },
        "missed": if args.missed { missed } else { Vec::new() },
    })
}

fn print(ui: &mut Ui, args: &RetrievalArgs, model: &str, report: &Report) -> Result<(), OpError> {
    let head = ["", "questions", "R@1", "R@5", "R@10", "any@5", "MRR", "nDCG@10", "newer"];
    let mut rows = vec![head.iter().map(|name| (Role::Faint, (*name).to_owned())).collect()];
    rows.extend(report.categories.iter().map(|(name, scores)| row(Role::Faint, name, scores)));
    rows.push(row(Role::Title, "all", &report.overall));
    ui.table(&rows)?;
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    let latency = &report.latency;
    ui.line(format!(
        "{} records, {model}; a question takes {:.2} ms (p50), {:.2} (p95), {:.2} (p99)",
        report.n_records,
        millis(latency.p50),
        millis(latency.p95),
        millis(latency.p99)
    ))?;
    for (id, place) in report.missed.iter().filter(|_| args.missed) {
        let place = place.map_or_else(|| "-".to_owned(), |place| (place + 1).to_string());
        ui.line(format!("missed {id}  first answer at {place}"))?;
    }
    Ok(())
}

fn row(role: Role, name: &str, scores: &Scores) -> Vec<(Role, String)> {
    let percent = |share: f64| (Role::Title, format!("{:.1}", share * 100.0));
    let newer = match scores.newer_first() {
        Some(share) => format!("{:.1} ({})", share * 100.0, scores.n_ordered),
        None => String::new(),
    };
    vec![
        (role, name.to_owned()),
        (Role::Faint, scores.n_questions.to_string()),
        percent(scores.recall_1()),
        percent(scores.recall_5()),
        percent(scores.recall_10()),
        percent(scores.any_5()),
        percent(scores.mrr()),
        percent(scores.ndcg_10()),
        (Role::Title, newer),
    ]
}
