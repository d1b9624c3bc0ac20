//! The queue of sessions.

use nacre_api::wire::ChangedThing;
use nacre_ops::queue;

use super::super::route::{Route, Verb};
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Get, "/api/queue"), "Lists sessions that wait or failed", queue::list)
            .needs(Permit::Machine),
        Route::operation((Post, "/api/queue/{id}/retry"), "Puts a session back", queue::retry)
            .needs(Permit::Machine)
            .changes(ChangedThing::Queue),
        Route::operation((Post, "/api/queue/{id}/skip"), "Takes a session out", queue::skip)
            .needs(Permit::Machine)
            .changes(ChangedThing::Queue),
    ]
}
