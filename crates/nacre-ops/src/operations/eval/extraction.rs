//! Extracts from labelled sessions, and counts what was rightly kept.

use std::path::Path;

use nacre_api::wire::{
    ErrorCode, EvalExtractionReport, EvalExtractionRequest, ExtractionHalves, ExtractionScores,
    Slip,
};
use nacre_engine::flows::extract::eval::{self, Half, Scores};

use super::read;
use crate::error::OpError;
use crate::host::Host;

pub fn extraction(
    host: &Host,
    request: &EvalExtractionRequest,
) -> Result<EvalExtractionReport, OpError> {
    let EvalExtractionRequest { dataset, slips } = request;
    let text = read(host, Path::new(dataset))?;
    let sessions = eval::read(&text).map_err(|error| {
        OpError { code: ErrorCode::Invalid, ..OpError::failed(error.to_string()) }
            .hint("docs/extraction.md describes the format")
    })?;
    let all = eval::run(&sessions, Half::All);
    let scores_of = |half| scores(&eval::run(&sessions, half).scores);
    let halves = ExtractionHalves {
        tune: scores_of(Half::Tune),
        held_out: scores_of(Half::HeldOut),
        all: scores(&all.scores),
    };
    let slips = all.slips.into_iter().filter(|_| *slips).map(slip).collect();
    Ok(EvalExtractionReport { dataset: dataset.clone(), halves, slips })
}

fn scores(scores: &Scores) -> ExtractionScores {
    ExtractionScores {
        sessions: scores.sessions,
        kept: scores.kept,
        right: scores.right,
        precision: scores.precision(),
        empty: scores.empty,
        stayed_empty: scores.stayed_empty,
        empty_stays_empty: scores.empty_stays_empty(),
        explicit: scores.explicit,
        explicit_found: scores.explicit_found,
        explicit_recall: scores.explicit_recall(),
        labels: scores.labels,
        labels_found: scores.labels_found,
        recall: scores.recall(),
    }
}

fn slip(slip: eval::Slip) -> Slip {
    match slip {
        eval::Slip::Wrong { session, title } => Slip::Wrong { session, wrong: title },
        eval::Slip::Missed { session, quote } => Slip::Missed { session, missed: quote },
    }
}
