//! The map of a project's code.

use nacre_api::wire::{
    ChangedThing, ContextReport, ContextRequest, DeltaReport, DeltaRequest, ErrorCode,
    ExploreReport, ExploreRequest, RefreshRequest, SearchCodeReport, SearchCodeRequest,
};
use nacre_ops::{OpError, map};

use super::super::route::{Route, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::Post;
    vec![
        Route::call((Post, "/v1/explore"), "An overview of the code", explore)
            .needs(Permit::Read)
            .reads(),
        Route::call((Post, "/v1/delta"), "What changed in the code", delta)
            .needs(Permit::Read)
            .reads(),
        Route::call((Post, "/v1/context"), "The code that a task needs", context)
            .needs(Permit::Read)
            .reads(),
        Route::call((Post, "/v1/search-code"), "Search in the code", search_code)
            .needs(Permit::Read)
            .reads(),
        Route::task((Post, "/v1/refresh"), "Reads all code again", refresh)
            .needs(Permit::Write)
            .changes(ChangedThing::Map),
    ]
}

fn explore(call: &Call, request: &ExploreRequest) -> Result<ExploreReport, OpError> {
    let project = registered(call, request.project.as_deref())?;
    let request = ExploreRequest { project, ..request.clone() };
    Ok(map::explore(&call.host, &request, &call.events)?.report)
}

fn delta(call: &Call, request: &DeltaRequest) -> Result<DeltaReport, OpError> {
    let project = registered(call, request.project.as_deref())?;
    let request = DeltaRequest { project, ..request.clone() };
    map::delta(&call.host, &request, &call.events)
}

fn context(call: &Call, request: &ContextRequest) -> Result<ContextReport, OpError> {
    let project = registered(call, request.project.as_deref())?;
    let request = ContextRequest { project, ..request.clone() };
    Ok(map::context(&call.host, &request, &call.events)?.report)
}

fn search_code(call: &Call, request: &SearchCodeRequest) -> Result<SearchCodeReport, OpError> {
    let project = registered(call, request.project.as_deref())?;
    let request = SearchCodeRequest { project, ..request.clone() };
    Ok(map::search_code(&call.host, &request, &call.events)?.report)
}

fn refresh(call: &Call, request: &RefreshRequest) -> Result<DeltaReport, OpError> {
    let project = registered(call, request.project.as_deref())?;
    let request = RefreshRequest { project, ..request.clone() };
    map::refresh(&call.host, &request, &call.events)
}

/// The project that is meant, by the name or the root of a registered one: no other folder is read because a request names it.
fn registered(call: &Call, named: Option<&str>) -> Result<Option<String>, OpError> {
    let Some(named) = named else {
        return match &call.host.project {
            Some(project) => Ok(Some(project.path.display().to_string())),
            None => Err(call.host.no_project()),
        };
    };
    let is_meant = |name: &str, path: &std::path::Path| name == named || path.as_os_str() == named;
    let mut all = call.host.projects.iter();
    match all.find(|project| is_meant(&project.name, &project.path)) {
        Some(project) => Ok(Some(project.path.display().to_string())),
        None => {
            let message = format!("No project is named `{named}`");
            let error = OpError { code: ErrorCode::NoProject, ..OpError::failed(message) };
            Err(error.hint("`nacre project list` shows every project"))
        }
    }
}
