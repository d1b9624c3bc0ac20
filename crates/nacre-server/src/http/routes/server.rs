//! The server itself: is it there, what can it do, who is let in, what happens.

use nacre_api::wire::{
    DoctorReport, DoctorRequest, HealthReport, LoginCodeReport, LoginReport, LoginRequest,
    ServiceReport, StreamEvent, WakeRequest,
};
use nacre_ops::OpError;
use schemars::JsonSchema;

use super::super::route::{OwnRoute, Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::own((Get, "/api/health"), "Whether the server answers", OwnRoute::Health)
            .reports::<HealthReport>()
            .open(),
        Route::own((Get, "/api/ready"), "Whether requests can be answered now", OwnRoute::Ready)
            .reports::<HealthReport>()
            .open(),
        Route::own((Get, "/metrics"), "The server in numbers, for Prometheus", OwnRoute::Metrics)
            .needs(Permit::Machine),
        Route::own((Get, "/api/openapi.json"), "This description", OwnRoute::OpenApi).open(),
        Route::own((Post, "/api/login"), "Lets a browser in by a one-time code", OwnRoute::Login)
            .typed::<LoginRequest, LoginReport>()
            .open(),
        Route::own((Post, "/api/login-code"), "A one-time code for a browser", OwnRoute::LoginCode)
            .needs(Permit::Read)
            .reports::<LoginCodeReport>(),
        Route::own(
            (Get, "/api/events"),
            "What happens, as server-sent events; `Last-Event-ID` resumes",
            OwnRoute::Events,
        )
        .needs(Permit::Read)
        .typed::<EventsRequest, StreamEvent>(),
        Route::own((Get, "/rpc"), "The chat protocol, on an upgraded connection", OwnRoute::Rpc)
            .needs(Permit::Machine)
            .for_programs(),
        Route::own((Post, "/mcp"), "A message of the Model Context Protocol", OwnRoute::Mcp)
            .needs(Permit::Read),
        Route::own((Get, "/api/service"), "What the server does by itself", OwnRoute::Service)
            .needs(Permit::Machine)
            .reports::<ServiceReport>(),
        Route::own((Post, "/api/service/pause"), "Begins nothing more by itself", OwnRoute::Pause)
            .needs(Permit::Machine)
            .reports::<ServiceReport>(),
        Route::own((Post, "/api/service/resume"), "Goes on by itself", OwnRoute::Resume)
            .needs(Permit::Machine)
            .reports::<ServiceReport>(),
        Route::own((Post, "/api/service/wake"), "Runs loops soon, the sync first", OwnRoute::Wake)
            .needs(Permit::Machine)
            .takes::<WakeRequest>()
            .reports::<ServiceReport>(),
        Route::own((Post, "/api/service/stop"), "Stops the server in order", OwnRoute::Stop)
            .needs(Permit::Machine),
        Route::operation(
            (Post, "/api/hook"),
            "What a hook says to its agent",
            nacre_ops::hook::answer_request,
        )
        .needs(Permit::Machine)
        .for_programs()
        .by_hook(),
        Route::operation(
            (Get, "/api/status"),
            "What is known and what waits",
            nacre_ops::status::status,
        )
        .needs(Permit::Read),
        Route::operation(
            (Get, "/api/overview"),
            "Activity by day, agents, growth",
            nacre_ops::overview,
        )
        .needs(Permit::Machine),
        Route::call((Get, "/api/doctor"), "Checks the stores and changes nothing", doctor)
            .needs(Permit::Machine),
    ]
}

/// Which events to stream.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "for the description; the stream reads its query itself")]
struct EventsRequest {
    /// Only this task's, from its beginning as far as it is kept.
    task: Option<String>,
}

fn doctor(call: &Call, request: &DoctorRequest) -> Result<DoctorReport, OpError> {
    if request.fix {
        return Err(OpError::usage("This only looks").hint("Type it: nacre doctor --fix"));
    }
    nacre_ops::doctor(&call.host, request)
}
