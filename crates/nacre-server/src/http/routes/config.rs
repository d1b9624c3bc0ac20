//! Settings and models.

use nacre_api::wire::{ChangedThing, ModelTestReport, ModelTestRequest};
use nacre_ops::{OpError, config, model};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Patch, Post};
    vec![
        Route::operation((Get, "/api/config"), "Settings, and where each comes from", config::show)
            .needs(Permit::Machine),
        Route::operation(
            (Patch, "/api/config"),
            "Changes a harmless setting",
            config::set_harmless,
        )
        .needs(Permit::Machine)
        .changes(ChangedThing::Config),
        Route::operation(
            (Get, "/api/models"),
            "Models, providers and installed agents",
            model::list,
        )
        .needs(Permit::Machine),
        Route::call((Post, "/api/models/test"), "Asks a model one question", test)
            .needs(Permit::Machine),
    ]
}

fn test(call: &Call, request: &ModelTestRequest) -> Result<ModelTestReport, OpError> {
    model::test(&call.host, request, &call.events)
}
