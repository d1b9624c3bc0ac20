//! Tools for code structure: outlines, symbols, and syntax patterns.

mod search;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use nacre_map::languages::{Language, MAX_TEXT_BYTES, Symbol, outline};

use crate::tools::toolkits::file::reading_below;
use crate::tools::toolkits::prelude::*;
use crate::tools::workspace::{Walk, WalkEnd};

/// Time limit for parsing a workspace. It is longer than the limit for plain reads, because parsing
/// is slower.
const WALK_LIMIT: Duration = Duration::from_secs(30);

pub fn tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    vec![
        tool::<CodeOutline>(Arc::clone(workspace)),
        tool::<CodeSymbols>(Arc::clone(workspace)),
        tool::<search::CodeSearch>(Arc::clone(workspace)),
        tool::<search::CodeReferences>(Arc::clone(workspace)),
    ]
}

fn each_text(
    workspace: &Workspace,
    under: Option<&str>,
    cancel: &Cancel,
    visit: &mut dyn FnMut(&RelPath, &str, Language) -> ControlFlow<()>,
) -> Result<WalkEnd> {
    let under = workspace.folder(under)?;
    let end = Walk::new(workspace, cancel).run(under.as_ref(), &mut |path, folder| {
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
    check_running(cancel)?;
    Ok(end)
}

fn language_names() -> String {
    Language::all().map(Language::name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![
        derive_schema::<CodeOutline>(),
        derive_schema::<CodeSymbols>(),
        derive_schema::<search::CodeSearch>(),
        derive_schema::<search::CodeReferences>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeOutline {
    /// A source file, relative to the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

impl WorkspaceTool for CodeOutline {
    const SPEC: ToolSpec = ToolSpec {
        name: "code_outline",
        category: Category::Read,
        description: "Lists the functions and types that a source file declares, with their lines. Cheaper than reading it.",
        time_limit: WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        Ok(Footprint::reading([Area::File(workspace.place(&self.path)?)]))
    }

    fn run(&self, workspace: &Workspace, _: &ToolContext) -> Result<Output> {
        let path = workspace.place(&self.path)?;
        let Some(language) = Language::of_path(path.as_str()) else {
            let what = format!("The language of `{path}` is not supported");
            let hint = format!("Read it instead; only {} can be parsed.", language_names());
            return Err(ToolError::new(Fault::Unsupported, what, hint));
        };
        let text = workspace.read_text(&path)?;
        let symbols = outline(&text, language).map_err(|error| {
            ToolError::new(Fault::TooLarge, error.to_string(), "Read the lines that you need.")
        })?;
        let (n_symbols, n_lines) = (symbols.len(), text.lines().count());
        let mut shown = format!("{path}: {n_symbols} symbols in {n_lines} lines of {language}\n");
        for symbol in &symbols {
            let indent = "  ".repeat(symbol.depth);
            let (first, last) = (symbol.first_line, symbol.last_line);
            shown += &format!("{first:>5}-{last:<5} {indent}{}\n", symbol.signature);
        }
        Ok(Output::text(shown))
    }
}

const DEFAULT_RESULTS: u32 = 50;
const MAX_RESULTS: u32 = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeSymbols {
    /// The name or part of it, ignoring case.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl WorkspaceTool for CodeSymbols {
    const SPEC: ToolSpec = ToolSpec {
        name: "code_symbols",
        category: Category::Search,
        description: "Finds where functions and types are declared, by name, over all files whose language is known.",
        time_limit: WALK_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        reading_below(workspace, self.under.as_deref())
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let wanted = self.name.to_lowercase();
        let is_wanted = |symbol: &Symbol| symbol.name.to_lowercase().contains(&wanted);
        let max_results = self.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize;
        let (mut shown, mut n_found) = (String::new(), 0);
        let mut is_full = false;
        each_text(workspace, self.under.as_deref(), &ctx.cancel, &mut |path, text, language| {
            // Only a file that contains the word can declare it.
            if !text.to_lowercase().contains(&wanted) {
                return ControlFlow::Continue(());
            }
            let symbols = outline(text, language).unwrap_or_default();
            for symbol in symbols.iter().filter(|symbol| is_wanted(symbol)) {
                if max_results <= n_found {
                    is_full = true;
                    return ControlFlow::Break(());
                }
                let (line, kind) = (symbol.first_line, symbol.kind.as_str());
                // A signature such as `class Shell` already contains the kind.
                let is_named = symbol.signature.split(' ').any(|word| word == kind);
                let kind = if is_named { String::new() } else { format!("{kind} ") };
                shown += &format!("{path}:{line}: {kind}{}\n", symbol.signature);
                n_found += 1;
            }
            ControlFlow::Continue(())
        })?;
        if n_found == 0 {
            shown = format!("No declaration matches `{}`.", self.name);
        }
        if is_full {
            shown += "[There are more; give a longer part of the name.]\n";
        }
        Ok(Output::text(shown))
    }
}
