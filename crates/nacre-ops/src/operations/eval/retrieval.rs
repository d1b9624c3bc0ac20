//! Asks a data set's questions, and counts how often the answer is found.

use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{
    DatasetFormat, ErrorCode, EvalRetrievalReport, EvalRetrievalRequest, LatencyMillis,
    MissedQuestion, RetrievalScores,
};
use nacre_core::search::eval::{self, Format, Latency, Scores};

use super::super::memory::core_mode;
use super::read;
use crate::error::OpError;
use crate::host::Host;

pub fn retrieval(
    host: &Host,
    request: &EvalRetrievalRequest,
) -> Result<EvalRetrievalReport, OpError> {
    let EvalRetrievalRequest { dataset, format, mode, missed } = request;
    let path = Path::new(dataset);
    let text = read(host, path)?;
    let beside = match format {
        DatasetFormat::DevMemBench => read(host, &path.with_file_name("sessions.json"))?,
        DatasetFormat::Locomo | DatasetFormat::LongMemEval | DatasetFormat::Jsonl => String::new(),
    };
    let haystacks = eval::read(core_format(*format), &text, &beside)
        .map_err(|error| OpError::from_error(ErrorCode::Invalid, &error, None))?;
    let embedder = host.own_embedder()?;
    let clock = host.stopwatch();
    let report = eval::run(&haystacks, &*embedder, core_mode(*mode), &clock)?;
    let missed = report.missed.into_iter().filter(|_| *missed);
    Ok(EvalRetrievalReport {
        dataset: dataset.clone(),
        model: embedder.model().as_str().to_owned(),
        records: report.n_records,
        overall: scores(&report.overall),
        categories: report.categories.iter().map(|(name, of)| (name.clone(), scores(of))).collect(),
        latency_ms: latency(&report.latency),
        missed: missed.map(|(id, place)| MissedQuestion { id, place }).collect(),
    })
}

fn core_format(of: DatasetFormat) -> Format {
    match of {
        DatasetFormat::Locomo => Format::Locomo,
        DatasetFormat::LongMemEval => Format::LongMemEval,
        DatasetFormat::DevMemBench => Format::DevMemBench,
        DatasetFormat::Jsonl => Format::Jsonl,
    }
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
