//! Memories: listed, read, written, archived, judged.

use nacre_api::wire::{
    ChangedThing, ErrorCode, FeedbackReport, FeedbackRequest, MemoryAddRequest, MemoryChangeReport,
    MemoryChangesReport, MemoryIdsRequest, MemoryRelatedReport, MemoryRelatedRequest,
    MemoryShowReport, MemoryShowRequest, MemoryWriteRequest, Scope,
};
use nacre_ops::{OpError, memory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Route, UseOfVersion, Verb};
use crate::calls::Call;
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Delete, Get, Post, Put};
    let changes = ChangedThing::Memories;
    vec![
        Route::operation((Get, "/api/memories"), "Lists memories", memory::list)
            .needs(Permit::Read),
        Route::call((Post, "/api/memories"), "Adds a memory", add)
            .needs(Permit::Write)
            .changes(changes),
        Route::versioned((Get, "/api/memories/{id}"), "Shows a memory", show, |report| {
            Some(report.version.clone())
        })
        .needs(Permit::Read),
        Route::call((Put, "/api/memories/{id}"), "Writes a memory's whole file", write)
            .needs(Permit::Write)
            .version(UseOfVersion::Required)
            .changes(changes),
        Route::call((Delete, "/api/memories/{id}"), "Archives a memory", archive)
            .needs(Permit::Write)
            .version(UseOfVersion::Checked)
            .changes(changes),
        Route::call((Post, "/api/memories/{id}/restore"), "Brings one back", restore)
            .needs(Permit::Write)
            .id_is("ids")
            .changes(changes),
        Route::call((Post, "/api/memories/{id}/forget"), "Removes one for good", forget)
            .needs(Permit::Admin)
            .id_is("ids")
            .changes(changes),
        Route::call((Post, "/api/memories/{id}/feedback"), "Says how it served", feedback)
            .needs(Permit::Write)
            .changes(changes),
        Route::call((Get, "/api/memories/{id}/related"), "What belongs to it", related)
            .needs(Permit::Read),
        Route::operation(
            (Get, "/api/graph"),
            "Memories and what ties them together",
            memory::graph,
        )
        .needs(Permit::Read),
    ]
}

fn add(call: &Call, request: &MemoryAddRequest) -> Result<MemoryChangeReport, OpError> {
    memory::add(&call.host, request, &call.events)
}

fn show(call: &Call, request: &MemoryShowRequest) -> Result<MemoryShowReport, OpError> {
    memory::show(&call.host, request, &call.events)
}

fn write(call: &Call, request: &MemoryWriteRequest) -> Result<MemoryChangeReport, OpError> {
    memory::write(&call.host, request, &call.events)
}

/// Which memory to archive, and of which version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArchiveRequest {
    id: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    scope: Option<Scope>,
}

fn archive(call: &Call, request: &ArchiveRequest) -> Result<MemoryChangesReport, OpError> {
    let ArchiveRequest { id, version, scope } = request;
    if let Some(version) = version {
        let shown = MemoryShowRequest { id: id.clone(), scope: *scope, ..Default::default() };
        if memory::show(&call.host, &shown, &call.events)?.version != *version {
            let message = "The memory was changed since it was read";
            return Err(OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
                .hint("Read it again"));
        }
    }
    let ids = MemoryIdsRequest { ids: vec![id.clone()], scope: *scope };
    memory::archive(&call.host, &ids, &call.events)
}

fn restore(call: &Call, request: &MemoryIdsRequest) -> Result<MemoryChangesReport, OpError> {
    memory::restore(&call.host, request, &call.events)
}

fn forget(call: &Call, request: &MemoryIdsRequest) -> Result<MemoryChangesReport, OpError> {
    memory::forget(&call.host, request, &call.events)
}

fn feedback(call: &Call, request: &FeedbackRequest) -> Result<FeedbackReport, OpError> {
    nacre_ops::feedback(&call.host, request, &call.events)
}

fn related(call: &Call, request: &MemoryRelatedRequest) -> Result<MemoryRelatedReport, OpError> {
    memory::related(&call.host, request, &call.events)
}
