//! Tasks: listed, followed, cancelled.

use nacre_api::wire::{TaskShowReport, TaskShowRequest};
use nacre_ops::{OpError, tasks};

use super::super::route::{OwnRoute, Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation((Get, "/api/tasks"), "Lists tasks", tasks::list).needs(Permit::Machine),
        Route::call((Get, "/api/tasks/{task}"), "Shows a task and its events", show)
            .needs(Permit::Machine),
        Route::own(
            (Get, "/api/tasks/{task}/report"),
            "The report of a task that this server ran",
            OwnRoute::TaskReport,
        )
        .needs(Permit::Read),
        Route::operation((Post, "/api/tasks/{task}/cancel"), "Stops a task", tasks::cancel)
            .needs(Permit::Machine),
    ]
}

fn show(call: &Call, request: &TaskShowRequest) -> Result<TaskShowReport, OpError> {
    tasks::show(&call.host, request, &call.events)
}
