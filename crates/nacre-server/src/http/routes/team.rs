//! Memories between the machines of a team.

use nacre_api::wire::{
    ChangedThing, HandOverReport, HandOverRequest, OfferReport, OfferRequest, TakeInReport,
    TakeInRequest, TeamReport, TeamReportRequest,
};
use nacre_ops::{OpError, team};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Post, "/api/push"), "Takes memories in", take_in)
            .needs(Permit::Write)
            .changes(ChangedThing::Memories),
        Route::operation((Get, "/api/pull"), "Lists memories by their versions", offer)
            .needs(Permit::Read),
        Route::operation((Post, "/api/pull"), "Hands memories over", hand_over)
            .needs(Permit::Read)
            .reads(),
        Route::operation((Get, "/api/team/report"), "What was learned, contested, unused", report)
            .needs(Permit::Read),
    ]
}

fn report(call: &Call, request: &TeamReportRequest) -> Result<TeamReport, OpError> {
    team::report(&call.host, request, &call.events)
}

fn take_in(call: &Call, request: &TakeInRequest) -> Result<TakeInReport, OpError> {
    team::take_in(&call.host, request)
}

fn offer(call: &Call, request: &OfferRequest) -> Result<OfferReport, OpError> {
    team::offer(&call.host, request)
}

fn hand_over(call: &Call, request: &HandOverRequest) -> Result<HandOverReport, OpError> {
    team::hand_over(&call.host, request)
}
