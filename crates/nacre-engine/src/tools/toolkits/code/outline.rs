//! `code_outline`: what one file declares.

use std::sync::Arc;

use nacre_map::languages::{Language, outline};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::Workspace;
use super::super::off_thread;
use crate::record::{Category, Fault};

/// Outlines files.
pub(super) struct CodeOutline {
    pub(super) workspace: Arc<Workspace>,
}

/// Which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutlineInput {
    /// A source file below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

impl Tool for CodeOutline {
    type Input = OutlineInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "code_outline",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Lists the functions and types that a source file declares, with their lines. Cheaper than reading it.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, input: &OutlineInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::reading([Area::File(self.workspace.place(&input.path)?)]))
    }

    async fn run(&self, input: OutlineInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |_| outline_file(&workspace, &input.path)).await
    }
}

fn outline_file(workspace: &Workspace, path: &str) -> Result<Output, ToolError> {
    let path = workspace.place(path)?;
    let Some(language) = Language::of_path(path.as_str()) else {
        let what = format!("The language of `{path}` is not known");
        let hint = format!("Read it; only {} are parsed.", super::language_names());
        return Err(ToolError::new(Fault::Unsupported, what, hint));
    };
    let text = workspace.read_text(&path)?;
    let symbols = outline(&text, language).map_err(|error| {
        ToolError::new(Fault::TooLarge, error.to_string(), "Read the lines that you need.")
    })?;
    let mut shown = format!(
        "{path}: {} symbols in {} lines of {language}\n",
        symbols.len(),
        text.lines().count()
    );
    for symbol in &symbols {
        let indent = "  ".repeat(symbol.depth);
        let (first, last) = (symbol.first_line, symbol.last_line);
        shown += &format!("{first:>5}-{last:<5} {indent}{}\n", symbol.signature);
    }
    Ok(Output { text: shown, value: json!({ "symbols": symbols }), changed: Vec::new() })
}
