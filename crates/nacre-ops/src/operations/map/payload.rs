//! Payloads: an answer as it is printed, so that a budget can be counted on those bytes.

use nacre_api::wire::MapHeader;
use nacre_core::base::Shown;
use nacre_map::slices::tokens;
use serde::Serialize;

use crate::json::{ascii_json, json_line};

/// A report, and the bytes that its budget was counted on.
#[derive(Clone, Debug)]
pub struct Answer<R> {
    pub report: R,
    /// The report in the form that the request asked for: one line of JSON, or text. Ends with a line break.
    pub payload: String,
}

/// A report in one line.
pub(super) fn json_payload(report: &impl Serialize) -> String {
    json_line(report) + "\n"
}

/// A report as the command line prints it: with line breaks, and so longer than what other faces hand out.
pub(super) fn longest_payload(report: &impl Serialize) -> String {
    ascii_json(serde_json::to_string_pretty(report).unwrap_or_default()) + "\n"
}

/// Text under a line that says of what it is.
pub(super) fn text_payload(header: &MapHeader, text: &str) -> String {
    let MapHeader { command, project_root, revision, cache_status, stats, .. } = header;
    let postponed = match stats.postponed_files {
        0 => String::new(),
        count => format!(" not read yet {count}"),
    };
    let text = format!(
        "{} {project_root} revision {revision} cache {} files {}{postponed}\n{text}",
        command.as_str(),
        cache_status.as_str(),
        stats.file_count,
    );
    Shown(&text).to_string()
}

/// The tokens of a payload.
pub(super) fn cost(payload: &str) -> usize {
    tokens(payload)
}
