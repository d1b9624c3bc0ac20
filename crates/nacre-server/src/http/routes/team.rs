//! Memories between the machines of a team.

use nacre_api::wire::{ChangedThing, TeamReport, TeamReportRequest};
use nacre_ops::{OpError, team};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Post, "/api/push"), "Takes memories in", team::take_in)
            .needs(Permit::Write)
            .changes(ChangedThing::Memories),
        Route::operation((Get, "/api/pull"), "Lists memories by their versions", team::offer)
            .needs(Permit::Read),
        Route::operation((Post, "/api/pull"), "Hands memories over", team::hand_over)
            .needs(Permit::Read)
            .reads(),
        Route::call((Get, "/api/team/report"), "What was learned, contested, unused", report)
            .needs(Permit::Read),
    ]
}

fn report(call: &Call, request: &TeamReportRequest) -> Result<TeamReport, OpError> {
    team::report(&call.host, request, &call.events)
}
