//! Runs and changes: what was done, and how it is taken back.

use nacre_api::wire::{
    ChangedThing, RunListReport, RunListRequest, RunMessagesReport, RunMessagesRequest,
    RunShowReport, RunShowRequest, RunStatsReport, UndoListReport, UndoListRequest, UndoReport,
    UndoRequest,
};
use nacre_ops::{OpError, run, tasks, undo};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Get, "/api/runs"), "Lists runs", list).needs(Permit::Admin),
        Route::operation((Get, "/api/runs/stats"), "What models and tools were used", stats)
            .needs(Permit::Machine),
        Route::operation((Get, "/api/runs/{id}"), "What a run did, and why", show)
            .needs(Permit::Admin),
        Route::operation((Get, "/api/runs/{id}/messages"), "What a run's model said", messages)
            .needs(Permit::Admin)
            .id_is("run"),
        Route::operation((Post, "/api/runs/{id}/undo"), "Takes a change back", take_back)
            .needs(Permit::Write)
            .id_is("run")
            .changes(ChangedThing::Memories),
        Route::operation((Get, "/api/changes"), "Lists changes that can be undone", changes)
            .needs(Permit::Write),
    ]
}

/// Nothing is asked but the counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatsRequest {}

fn stats(call: &Call, StatsRequest {}: &StatsRequest) -> Result<RunStatsReport, OpError> {
    tasks::stats(&call.host)
}

fn messages(call: &Call, request: &RunMessagesRequest) -> Result<RunMessagesReport, OpError> {
    run::messages(&call.host, request)
}

fn list(call: &Call, request: &RunListRequest) -> Result<RunListReport, OpError> {
    run::list(&call.host, request, &call.events)
}

fn show(call: &Call, request: &RunShowRequest) -> Result<RunShowReport, OpError> {
    run::show(&call.host, request)
}

fn take_back(call: &Call, request: &UndoRequest) -> Result<UndoReport, OpError> {
    undo::undo(&call.host, request)
}

fn changes(call: &Call, request: &UndoListRequest) -> Result<UndoListReport, OpError> {
    undo::list(&call.host, request)
}
