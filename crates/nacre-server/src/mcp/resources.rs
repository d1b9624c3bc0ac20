//! Provides memories as resources with `memory://ID` URIs.

use nacre_ops::{Result, memory as ops};
use nacre_types::{MemoryListRequest, MemoryShowRequest};
use rmcp::model::{
    ErrorData, ListResourcesResult, PaginatedRequestParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use super::text::{line, page};
use super::tools::memory;
use crate::calls::Call;

const SCHEME: &str = "memory://";
const MARKDOWN: &str = "text/markdown";

const PAGE: usize = 50;
const MAX_LISTED: usize = 1_000;

const MAX_ID_BYTES: usize = 200;

pub(super) fn cursor(request: Option<PaginatedRequestParams>) -> Result<usize, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(0) };
    let from = cursor.parse().ok().filter(|from| *from <= MAX_LISTED);
    from.ok_or_else(|| ErrorData::invalid_params("Unknown cursor", None))
}

pub(super) fn list(call: &Call, from: usize) -> Result<ListResourcesResult> {
    let end = (from + PAGE).min(MAX_LISTED);
    let request = MemoryListRequest { all: true, limit: Some(end), ..MemoryListRequest::default() };
    let report = ops::list(&call.host, &request)?;
    let shown = report.memories.iter().skip(from).map(|memory| {
        let about =
            format!("{}, {}, {}", memory.r#type.as_str(), memory.status, memory.scope.as_str());
        Resource::new(format!("{SCHEME}{}", memory.id), memory.id.clone())
            .with_title(line(&memory.title, 200))
            .with_description(about)
            .with_mime_type(MARKDOWN)
    });
    let mut result = ListResourcesResult::with_all_items(shown.collect());
    let has_more = end < report.total && end < MAX_LISTED;
    result.next_cursor = has_more.then(|| end.to_string());
    Ok(result)
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{id}}"), "memory")
        .with_title("A memory by id")
        .with_description("A decision or learning with its evidence")
        .with_mime_type(MARKDOWN)
}

/// Parses `memory://ID`.
pub(super) fn id_of(uri: &str) -> Result<String, ErrorData> {
    let id = uri.strip_prefix(SCHEME).map(|id| id.trim_end_matches('/'));
    let id = id.filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES);
    id.map(str::to_owned).ok_or_else(|| {
        ErrorData::resource_not_found("A memory URI has the form `memory://ID`", None)
    })
}

pub(super) fn read(call: &Call, id: &str) -> Result<ReadResourceResult> {
    let request =
        MemoryShowRequest { id: id.to_owned(), evidence: true, ..MemoryShowRequest::default() };
    let report = ops::show(&call.host, &request, &call.events)?;
    let text = page(&memory::render_memory_get(&report), 0)?;
    let uri = format!("{SCHEME}{}", report.memory.id);
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}
