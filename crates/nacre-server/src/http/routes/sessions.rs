//! Sessions of agents: listed, searched, read.

use nacre_api::wire::{
    TraceListReport, TraceListRequest, TraceSearchReport, TraceSearchRequest, TraceShowReport,
    TraceShowRequest,
};
use nacre_ops::{OpError, trace};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::Get;
    vec![
        Route::operation((Get, "/api/sessions"), "Lists sessions", list).needs(Permit::Machine),
        Route::operation((Get, "/api/sessions/search"), "Finds what was said", search)
            .needs(Permit::Machine),
        Route::operation((Get, "/api/sessions/{id}"), "Shows what was said and done", show)
            .needs(Permit::Machine),
    ]
}

fn list(call: &Call, request: &TraceListRequest) -> Result<TraceListReport, OpError> {
    trace::list(&call.host, request)
}

fn search(call: &Call, request: &TraceSearchRequest) -> Result<TraceSearchReport, OpError> {
    trace::search(&call.host, request)
}

fn show(call: &Call, request: &TraceShowRequest) -> Result<TraceShowReport, OpError> {
    trace::show(&call.host, request, trace::NameSource::Request)
}
