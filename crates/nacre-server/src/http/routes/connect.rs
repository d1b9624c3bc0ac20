//! Connected agents.

use nacre_api::wire::{ChangedThing, ConnectReport, ConnectRequest, WiringOptions};
use nacre_ops::{OpError, connect};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Delete, Get, Post};
    let changes = ChangedThing::Config;
    vec![
        Route::call((Get, "/api/connect"), "Lists agents", list).needs(Permit::Machine),
        Route::operation((Post, "/api/connect"), "Connects agents", connect::connect)
            .needs(Permit::Machine)
            .changes(changes),
        Route::call((Delete, "/api/connect/{agent}"), "Disconnects an agent", remove)
            .needs(Permit::Machine)
            .changes(changes),
    ]
}

/// Nothing is asked but the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListRequest {}

/// Which agent to disconnect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemoveRequest {
    agent: String,
}

fn list(call: &Call, ListRequest {}: &ListRequest) -> Result<ConnectReport, OpError> {
    connect::connect(&call.host, &ConnectRequest::List)
}

fn remove(call: &Call, request: &RemoveRequest) -> Result<ConnectReport, OpError> {
    let agents = vec![request.agent.clone()];
    let wiring = WiringOptions::default();
    connect::connect(&call.host, &ConnectRequest::Remove { agents, wiring })
}
