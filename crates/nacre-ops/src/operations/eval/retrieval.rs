//! Asks a data set's questions, and counts how often the answer is found.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{
    DatasetFormat, ErrorCode, EvalRetrievalReport, EvalRetrievalRequest, LatencyMillis,
    MissedQuestion, RetrievalBaseline, RetrievalScores,
};
use nacre_core::search::eval::{self, DatasetError, Format, Haystack, Latency, Scores, Tally};

use super::super::memory::core_mode;
use super::{read, traces};
use crate::error::OpError;
use crate::host::Host;

pub fn retrieval(
    host: &Host,
    request: &EvalRetrievalRequest,
) -> Result<EvalRetrievalReport, OpError> {
    let EvalRetrievalRequest { dataset, mode, missed, .. } = request;
    let (haystacks, left_out) = haystacks(host, request)?;
    let embedder = host.own_embedder()?;
    let clock = host.stopwatch();
    let report = eval::run(&haystacks, &*embedder, core_mode(*mode), &clock)?;
    let missed = report.missed.into_iter().filter(|_| *missed);
    let Tally { overall, categories } = &report.ranking;
    Ok(EvalRetrievalReport {
        dataset: dataset.clone(),
        model: embedder.model().as_str().to_owned(),
        records: report.n_records,
        overall: scores(overall),
        categories: by_category(categories),
        baseline: report.baseline.map(|tally| RetrievalBaseline {
            overall: scores(&tally.overall),
            categories: by_category(&tally.categories),
        }),
        left_out,
        latency_ms: latency(&report.latency),
        missed: missed.map(|(id, place)| MissedQuestion { id, place }).collect(),
    })
}

/// The data set, and the questions of it that cannot be asked, by the reason.
fn haystacks(
    host: &Host,
    request: &EvalRetrievalRequest,
) -> Result<(Vec<Haystack>, BTreeMap<String, usize>), OpError> {
    let path = Path::new(&request.dataset);
    let text = read(host, path)?;
    let wrong = |error: DatasetError| OpError::from_error(ErrorCode::Invalid, &error, None);
    let (format, beside) = match request.format {
        DatasetFormat::Messages => return messages(host, request, &text),
        DatasetFormat::DevMemBench => {
            (Format::DevMemBench, read(host, &path.with_file_name("sessions.json"))?)
        }
        DatasetFormat::Locomo => (Format::Locomo, String::new()),
        DatasetFormat::LongMemEval => (Format::LongMemEval, String::new()),
        DatasetFormat::Jsonl => (Format::Jsonl, String::new()),
    };
    Ok((eval::read(format, &text, &beside).map_err(wrong)?, BTreeMap::new()))
}

fn messages(
    host: &Host,
    request: &EvalRetrievalRequest,
    text: &str,
) -> Result<(Vec<Haystack>, BTreeMap<String, usize>), OpError> {
    let folder = request.traces.as_deref().ok_or_else(|| {
        OpError::usage(
            "The format `messages` needs the folder of traces that its questions are about",
        )
        .hint("Name it with `--traces`")
    })?;
    let sessions = traces::sessions(&host.environment.absolute(Path::new(folder)))?;
    let set = eval::messages::read(text, sessions)
        .map_err(|error| OpError::from_error(ErrorCode::Invalid, &error, None))?;
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for (_, reason) in set.left_out {
        *left_out.entry(reason.to_owned()).or_default() += 1;
    }
    Ok((vec![set.haystack], left_out))
}

fn by_category(categories: &BTreeMap<String, Scores>) -> BTreeMap<String, RetrievalScores> {
    categories.iter().map(|(name, of)| (name.clone(), scores(of))).collect()
}

fn scores(of: &Scores) -> RetrievalScores {
    RetrievalScores {
        questions: of.n_questions,
        recall_1: of.recall_1(),
        recall_5: of.recall_5(),
        recall_10: of.recall_10(),
        any_5: of.any_5(),
        mrr: of.mrr(),
        ndcg_10: of.ndcg_10(),
        newer_first: of.newer_first(),
        ordered: of.n_ordered,
    }
}

fn latency(of: &Latency) -> LatencyMillis {
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    LatencyMillis { p50: millis(of.p50), p95: millis(of.p95), p99: millis(of.p99) }
}
