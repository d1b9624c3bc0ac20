//! `code_symbols`: where a function or type is declared.

use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_map::languages::{Symbol, SymbolKind, outline};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::Workspace;
use super::super::file::reading_below;
use super::super::off_thread;
use crate::model::Cancel;
use crate::record::Category;

const DEFAULT_RESULTS: u32 = 50;
const MAX_RESULTS: u32 = 500;

/// Finds declarations.
pub(super) struct CodeSymbols {
    pub(super) workspace: Arc<Workspace>,
}

/// Which symbols, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SymbolsInput {
    /// The name or a part of it, in any case.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Only symbols of this kind.
    kind: Option<KindWanted>,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

/// Kinds that can be asked for; close ones go together.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindWanted {
    /// Methods, too.
    Function,
    Method,
    /// Classes, structs, enums, interfaces and what is implemented for them.
    Type,
    Class,
    Struct,
    Enum,
    Interface,
    Module,
    Constant,
    Macro,
}

impl KindWanted {
    fn takes(self, kind: SymbolKind) -> bool {
        match kind {
            SymbolKind::Function => matches!(self, Self::Function),
            SymbolKind::Method => matches!(self, Self::Function | Self::Method),
            SymbolKind::Class => matches!(self, Self::Type | Self::Class),
            SymbolKind::Struct => matches!(self, Self::Type | Self::Struct),
            SymbolKind::Enum => matches!(self, Self::Type | Self::Enum),
            SymbolKind::Interface => matches!(self, Self::Type | Self::Interface),
            SymbolKind::Implementation | SymbolKind::Type => matches!(self, Self::Type),
            SymbolKind::Module => matches!(self, Self::Module),
            SymbolKind::Constant => matches!(self, Self::Constant),
            SymbolKind::Macro => matches!(self, Self::Macro),
        }
    }
}

impl Tool for CodeSymbols {
    type Input = SymbolsInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "code_symbols",
        toolkit: super::TOOLKIT,
        category: Category::Search,
        description: "Finds where functions and types are declared, by name, over all files whose language is known.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, input: &SymbolsInput) -> Result<Footprint, ToolError> {
        reading_below(&self.workspace, input.under.as_deref())
    }

    async fn run(&self, input: SymbolsInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| find(&workspace, &input, cancel)).await
    }
}

fn find(workspace: &Workspace, input: &SymbolsInput, cancel: &Cancel) -> Result<Output, ToolError> {
    let wanted = input.name.to_lowercase();
    let is_wanted = |symbol: &Symbol| {
        symbol.name.to_lowercase().contains(&wanted)
            && input.kind.is_none_or(|kind| kind.takes(symbol.kind))
    };
    let max_results = input.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize;
    let (mut shown, mut found) = (String::new(), Vec::new());
    let mut is_full = false;
    super::each_text(workspace, input.under.as_deref(), cancel, &mut |path, text, language| {
        // A text without the word declares nothing of that name.
        if !text.to_lowercase().contains(&wanted) {
            return ControlFlow::Continue(());
        }
        let symbols = outline(text, language).unwrap_or_default();
        for symbol in symbols.iter().filter(|symbol| is_wanted(symbol)) {
            if max_results <= found.len() {
                is_full = true;
                return ControlFlow::Break(());
            }
            let (line, kind) = (symbol.first_line, symbol.kind.as_str());
            // `class Shell`, which says its kind itself.
            let kind = if symbol.signature.split(' ').any(|word| word == kind) { "" } else { kind };
            let sign = if kind.is_empty() { "" } else { " " };
            shown += &format!("{path}:{line}: {kind}{sign}{}\n", symbol.signature);
            found.push(json!({ "path": path.as_str(), "symbol": symbol }));
        }
        ControlFlow::Continue(())
    })?;
    if found.is_empty() {
        shown = format!("Nothing named like `{}` is declared here.", input.name);
    }
    if is_full {
        shown += "[There are more; give more of the name.]\n";
    }
    Ok(Output { text: shown, value: json!({ "symbols": found }), changed: Vec::new() })
}
