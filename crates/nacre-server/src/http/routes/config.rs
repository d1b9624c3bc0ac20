//! Settings and models.

use nacre_api::wire::{
    ChangedThing, ConfigSetReport, ConfigSetRequest, ConfigShowReport, ConfigShowRequest,
    ModelListReport, ModelListRequest, ModelTestReport, ModelTestRequest,
};
use nacre_ops::{OpError, config, model};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Patch, Post};
    vec![
        Route::operation((Get, "/api/config"), "Settings, and where each comes from", show)
            .needs(Permit::Machine),
        Route::operation((Patch, "/api/config"), "Changes a harmless setting", set)
            .needs(Permit::Machine)
            .changes(ChangedThing::Config),
        Route::operation((Get, "/api/models"), "Models, providers and installed agents", models)
            .needs(Permit::Machine),
        Route::operation((Post, "/api/models/test"), "Asks a model one question", test)
            .needs(Permit::Machine),
    ]
}

fn show(call: &Call, request: &ConfigShowRequest) -> Result<ConfigShowReport, OpError> {
    config::show(&call.host, request)
}

fn set(call: &Call, request: &ConfigSetRequest) -> Result<ConfigSetReport, OpError> {
    config::set_harmless(&call.host, request)
}

fn models(call: &Call, request: &ModelListRequest) -> Result<ModelListReport, OpError> {
    model::list(&call.host, request)
}

fn test(call: &Call, request: &ModelTestRequest) -> Result<ModelTestReport, OpError> {
    model::test(&call.host, request, &call.events)
}
