//! Candidates that wait for a person, and what came from elsewhere.

use nacre_api::wire::{
    ChangedThing, MemoryChangesReport, ReviewDecideRequest, TrustReport, TrustRequest,
};
use nacre_ops::OpError;

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation(
            (Get, "/api/review"),
            "Lists candidates with their quotes",
            nacre_ops::review::list,
        )
        .needs(Permit::Read),
        Route::call((Post, "/api/review"), "Accepts or rejects candidates", decide)
            .needs(Permit::Write)
            .changes(ChangedThing::Memories),
        Route::call((Get, "/api/trust"), "Lists what came from elsewhere", trust)
            .needs(Permit::Read),
    ]
}

fn decide(call: &Call, request: &ReviewDecideRequest) -> Result<MemoryChangesReport, OpError> {
    nacre_ops::review::decide(&call.host, request, &call.events)
}

fn trust(call: &Call, request: &TrustRequest) -> Result<TrustReport, OpError> {
    // Trust is given where a person sees what they give it to.
    if request.all || !request.ids.is_empty() {
        return Err(OpError::usage("This only lists").hint("Type it: nacre trust"));
    }
    nacre_ops::trust(&call.host, request)
}
