//! Registered projects.

use nacre_api::wire::{ChangedThing, ProjectAddReport, ProjectAddRequest};
use nacre_ops::{OpError, project};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    let changes = ChangedThing::Projects;
    vec![
        Route::operation((Get, "/api/project/list"), "Lists projects", project::list)
            .needs(Permit::Read),
        Route::call((Post, "/api/project/add"), "Registers a project", add)
            .needs(Permit::Machine)
            .changes(changes),
        Route::operation(
            (Post, "/api/project/remove"),
            "Takes one out of the register",
            project::remove,
        )
        .needs(Permit::Machine)
        .changes(changes),
    ]
}

fn add(call: &Call, request: &ProjectAddRequest) -> Result<ProjectAddReport, OpError> {
    // A server has no folder that a path could be seen from.
    if !request.path.is_absolute() {
        return Err(OpError::usage("The path of a project is absolute"));
    }
    project::add(&call.host, request)
}
