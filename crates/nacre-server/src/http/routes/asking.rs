//! Recall: search, brief, ask; and the two flows that remember, sync and maintain.

use nacre_api::wire::{
    AskReport, AskRequest, ErrorCode, MaintainReport, MaintainRequest, SyncReport, SyncRequest,
};
use nacre_ops::OpError;

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation(
            (Get, "/api/search"),
            "Finds memories by words and meaning",
            nacre_ops::memory::search,
        )
        .needs(Permit::Read),
        Route::operation(
            (Get, "/api/brief"),
            "What the next agent is told",
            nacre_ops::brief::brief,
        )
        .needs(Permit::Read),
        Route::task((Post, "/api/ask"), "Answers a question from memories", ask)
            .needs(Permit::Read)
            .reads(),
        Route::task((Post, "/api/sync"), "Reads new and changed sessions", sync)
            .needs(Permit::Machine),
        Route::task((Post, "/api/maintain"), "Keeps memories few and true", maintain)
            .needs(Permit::Write),
    ]
}

fn ask(call: &Call, request: &AskRequest) -> Result<AskReport, OpError> {
    no_file(request.scripted.as_deref())?;
    nacre_ops::ask::ask(&call.host, request, &call.events)
}

fn sync(call: &Call, request: &SyncRequest) -> Result<SyncReport, OpError> {
    nacre_ops::sync::sync(&call.host, request, &call.events)
}

fn maintain(call: &Call, request: &MaintainRequest) -> Result<MaintainReport, OpError> {
    no_file(request.scripted.as_deref())?;
    nacre_ops::maintain::maintain(&call.host, request, &call.events)
}

/// No file is read because a request names it.
fn no_file(named: Option<&str>) -> Result<(), OpError> {
    match named {
        None => Ok(()),
        Some(_) => Err(OpError {
            code: ErrorCode::Refused,
            ..OpError::failed("`scripted` names a file; it is for the command line alone")
        }),
    }
}
