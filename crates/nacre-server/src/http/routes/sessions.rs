//! Sessions of agents: listed, searched, read.

use nacre_api::wire::{TraceShowReport, TraceShowRequest};
use nacre_ops::{OpError, trace};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::Get;
    vec![
        Route::operation((Get, "/api/sessions"), "Lists sessions", trace::list)
            .needs(Permit::Machine),
        Route::operation((Get, "/api/sessions/search"), "Finds what was said", trace::search)
            .needs(Permit::Machine),
        Route::call((Get, "/api/sessions/{id}"), "Shows what was said and done", show)
            .needs(Permit::Machine),
    ]
}

fn show(call: &Call, request: &TraceShowRequest) -> Result<TraceShowReport, OpError> {
    trace::show(&call.host, request, trace::NameSource::Request)
}
