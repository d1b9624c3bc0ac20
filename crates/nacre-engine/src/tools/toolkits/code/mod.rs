//! Code by its structure: outlines, symbols, and patterns that match trees instead of text.

mod outline;
mod references;
mod search;
mod symbols;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use nacre_core::safefs::RelPath;
use nacre_map::languages::{Language, MAX_TEXT_BYTES};

use super::super::tool::{AnyTool, ToolError};
use super::super::workspace::{Walk, WalkEnd, WalkedFile, Workspace};
use crate::model::Cancel;

const TOOLKIT: &str = "code";

/// Parsing a workspace takes longer than reading it.
const WALK_LIMIT: Duration = Duration::from_secs(30);

/// All code tools over one workspace.
pub fn tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    let workspace = || Arc::clone(workspace);
    vec![
        Arc::new(outline::CodeOutline { workspace: workspace() }),
        Arc::new(symbols::CodeSymbols { workspace: workspace() }),
        Arc::new(search::CodeSearch { workspace: workspace() }),
        Arc::new(references::CodeReferences { workspace: workspace() }),
    ]
}

/// Shows every text below a folder whose language is known.
fn each_text(
    workspace: &Workspace,
    under: Option<&str>,
    cancel: &Cancel,
    visit: &mut dyn FnMut(&RelPath, &str, Language) -> ControlFlow<()>,
) -> Result<WalkEnd, ToolError> {
    let under = workspace.folder(under)?;
    let end = Walk::new(workspace, cancel).run(under.as_ref(), &mut |found| {
        let WalkedFile::File { path, folder } = found else { return ControlFlow::Continue(()) };
        let Some(language) = Language::of_path(path.as_str()) else {
            return ControlFlow::Continue(());
        };
        if cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let bytes = folder.read(path.name(), MAX_TEXT_BYTES as u64).unwrap_or_default();
        match String::from_utf8(bytes) {
            Ok(text) => visit(path, &text, language),
            Err(_) => ControlFlow::Continue(()),
        }
    })?;
    super::check_running(cancel)?;
    Ok(end)
}

/// The languages by name, for a hint.
fn language_names() -> String {
    Language::all().map(Language::name).collect::<Vec<_>>().join(", ")
}

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![
        derived::<outline::OutlineInput>(),
        derived::<symbols::SymbolsInput>(),
        derived::<search::CodeSearchInput>(),
        derived::<references::ReferencesInput>(),
    ]
}
