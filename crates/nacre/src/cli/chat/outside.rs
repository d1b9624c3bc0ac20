//! What the screen has done outside of it: memories opened and corrected, exports kept.

use nacre_api::wire::{MemoryEditRequest, MemoryShowRequest, SessionExportReport};
use nacre_ops::chat::save_export;
use nacre_ops::{Events, Host, OpError, memory};

use super::super::memory::run_editor;
use crate::tui::{Outside, Told};

/// Does it; what went wrong is one text.
pub(super) fn act(host: &Host, action: Outside) -> Result<Told, String> {
    let done = match action {
        Outside::OpenMemory { id } => open(host, id),
        Outside::EditMemory { id } => edit(host, id),
        Outside::SaveExport { session, transcript } => {
            save(host, &SessionExportReport { session, transcript })
        }
    };
    done.map_err(|error| failure(&error))
}

fn open(host: &Host, id: String) -> Result<Told, OpError> {
    let request = MemoryShowRequest { id, text: true, ..MemoryShowRequest::default() };
    let report = memory::show(host, &request, &Events::ignored())?;
    let text = report.text.unwrap_or(report.body);
    Ok(Told::Page { title: report.memory.title, text })
}

/// Lets the person change a memory; a draft that is not valid is kept for the next time.
fn edit(host: &Host, id: String) -> Result<Told, OpError> {
    let editor = host.editor()?;
    let request = MemoryEditRequest { id, ..MemoryEditRequest::default() };
    let run = |draft: &std::path::Path| run_editor(host, editor, draft);
    let report = memory::edit(host, &request, &run, &Events::ignored())?;
    let undo = report.change.map(|change| format!("; undo: nacre undo {change}"));
    Ok(Told::Note(format!("Corrected {}{}", report.id, undo.unwrap_or_default())))
}

fn save(host: &Host, report: &SessionExportReport) -> Result<Told, OpError> {
    let path = save_export(host, report)?;
    let path = path.display();
    Ok(Told::Note(format!("Exported to {path}; another home reads it: nacre trace import {path}")))
}

fn failure(error: &OpError) -> String {
    let mut text = format!("Error: {}", error.message);
    for cause in &error.causes {
        text.push_str(&format!("\nCaused by: {cause}"));
    }
    for hint in &error.hints {
        text.push_str(&format!("\nHint: {hint}"));
    }
    text
}
