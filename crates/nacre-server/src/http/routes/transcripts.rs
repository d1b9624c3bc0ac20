//! Transcripts that people send: each is its sender's, until they share it.

use nacre_api::wire::{
    TranscriptForgetReport, TranscriptListReport, TranscriptListRequest, TranscriptPutReport,
    TranscriptPutRequest, TranscriptRequest, TranscriptShowReport,
};
use nacre_ops::{OpError, team};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Post, "/api/transcripts"), "Takes a piece of a transcript in", put)
            .needs(Permit::Write),
        Route::operation((Get, "/api/transcripts"), "Lists your transcripts and shared ones", list)
            .needs(Permit::Read),
        Route::operation((Get, "/api/transcripts/{id}"), "Shows a transcript", show)
            .needs(Permit::Read),
        Route::operation((Post, "/api/transcripts/{id}/share"), "Lets others read it", share)
            .needs(Permit::Write),
        Route::operation((Post, "/api/transcripts/{id}/forget"), "Removes it for good", forget)
            .needs(Permit::Write),
    ]
}

fn put(call: &Call, request: &TranscriptPutRequest) -> Result<TranscriptPutReport, OpError> {
    team::put_transcript(&call.host, request)
}

fn list(call: &Call, request: &TranscriptListRequest) -> Result<TranscriptListReport, OpError> {
    team::list_transcripts(&call.host, request)
}

fn show(call: &Call, request: &TranscriptRequest) -> Result<TranscriptShowReport, OpError> {
    team::show_transcript(&call.host, request)
}

fn share(call: &Call, request: &TranscriptRequest) -> Result<TranscriptShowReport, OpError> {
    team::share_transcript(&call.host, request)
}

fn forget(call: &Call, request: &TranscriptRequest) -> Result<TranscriptForgetReport, OpError> {
    team::forget_transcript(&call.host, request)
}
