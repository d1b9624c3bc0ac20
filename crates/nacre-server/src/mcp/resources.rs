//! Provides memories as resources with `memory://ID` URIs.

use nacre_ops::{Result, memory as ops};
use nacre_types::{MemoryListRequest, MemoryShowRequest, MemoryStatus};
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use super::text::{line, page};
use super::tools::memory;
use crate::calls::Call;

const SCHEME: &str = "memory://";
const MARKDOWN: &str = "text/markdown";

/// Maximum number of memories to list. Agents find others with `memory_search`.
const MAX_LISTED: usize = 50;

const MAX_ID_BYTES: usize = 200;

/// Lists the newest active memories on a single page.
pub(super) fn list(call: &Call) -> Result<ListResourcesResult> {
    let request = MemoryListRequest {
        status: Some(MemoryStatus::Active),
        limit: Some(MAX_LISTED),
        ..MemoryListRequest::default()
    };
    let report = ops::list(&call.host, &request)?;
    let shown = report.memories.iter().map(|memory| {
        let about =
            format!("{}, {}, {}", memory.r#type.as_str(), memory.status, memory.scope.as_str());
        Resource::new(format!("{SCHEME}{}", memory.id), memory.id.clone())
            .with_title(line(&memory.title, 200))
            .with_description(about)
            .with_mime_type(MARKDOWN)
    });
    Ok(ListResourcesResult::with_all_items(shown.collect()))
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
