//! The queue of sessions.

use nacre_api::wire::{
    ChangedThing, QueueChangeReport, QueueChangeRequest, QueueListReport, QueueListRequest,
};
use nacre_ops::{OpError, queue};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Get, "/api/queue"), "Lists sessions that wait or failed", list)
            .needs(Permit::Machine),
        Route::operation((Post, "/api/queue/{id}/retry"), "Puts a session back", retry)
            .needs(Permit::Machine)
            .changes(ChangedThing::Queue),
        Route::operation((Post, "/api/queue/{id}/skip"), "Takes a session out", skip)
            .needs(Permit::Machine)
            .changes(ChangedThing::Queue),
    ]
}

fn list(call: &Call, request: &QueueListRequest) -> Result<QueueListReport, OpError> {
    queue::list(&call.host, request)
}

fn retry(call: &Call, request: &QueueChangeRequest) -> Result<QueueChangeReport, OpError> {
    queue::retry(&call.host, request)
}

fn skip(call: &Call, request: &QueueChangeRequest) -> Result<QueueChangeReport, OpError> {
    queue::skip(&call.host, request)
}
