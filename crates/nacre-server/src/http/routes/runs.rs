//! Runs and changes: what was done, and how it is taken back.

use nacre_api::wire::{ChangedThing, RunListReport, RunListRequest, RunStatsReport};
use nacre_ops::{OpError, run, tasks, undo};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::call((Get, "/api/runs"), "Lists runs", list).needs(Permit::Admin),
        Route::call((Get, "/api/runs/stats"), "What models and tools were used", stats)
            .needs(Permit::Machine),
        Route::operation((Get, "/api/runs/{id}"), "What a run did, and why", run::show)
            .needs(Permit::Admin),
        Route::operation(
            (Get, "/api/runs/{id}/messages"),
            "What a run's model said",
            run::messages,
        )
        .needs(Permit::Admin)
        .id_is("run"),
        Route::operation((Post, "/api/runs/{id}/undo"), "Takes a change back", undo::undo)
            .needs(Permit::Write)
            .id_is("run")
            .changes(ChangedThing::Memories),
        Route::operation((Get, "/api/changes"), "Lists changes that can be undone", undo::list)
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

fn list(call: &Call, request: &RunListRequest) -> Result<RunListReport, OpError> {
    run::list(&call.host, request, &call.events)
}
