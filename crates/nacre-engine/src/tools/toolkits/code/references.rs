//! `code_references`: where a name is used, and in which function or type.
//!
//! A name is found as a whole word, and where it is declared is told apart from where it is used. Two things of one name
//! are not told apart: that would need the compiler of each language.

use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_map::languages::{Symbol, outline};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::Workspace;
use super::super::file::reading_below;
use super::super::off_thread;
use crate::model::Cancel;
use crate::record::{Category, Fault};

const DEFAULT_RESULTS: u32 = 60;
const MAX_RESULTS: u32 = 500;

/// A line is shown as far as this.
const SHOWN_LINE_BYTES: usize = 200;

/// Finds uses.
pub(super) struct CodeReferences {
    pub(super) workspace: Arc<Workspace>,
}

/// Which name, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferencesInput {
    /// The whole name, as it is written in the code.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// How many uses at most.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl Tool for CodeReferences {
    type Input = ReferencesInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "code_references",
        toolkit: super::TOOLKIT,
        category: Category::Search,
        description: "Finds where a function, type or other name is used, over all files whose language is known: \
                      each use with the function or type that it stands in. Declarations of the name are listed first.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, input: &ReferencesInput) -> Result<Footprint, ToolError> {
        reading_below(&self.workspace, input.under.as_deref())
    }

    async fn run(&self, input: ReferencesInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| find(&workspace, &input, cancel)).await
    }
}

fn find(
    workspace: &Workspace,
    input: &ReferencesInput,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let name = input.name.trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_$!?".contains(c));
    let word = Regex::new(&format!(r"(^|[^\w$]){}($|[^\w$])", regex::escape(name)));
    let word = word.ok().filter(|_| is_name && !name.is_empty()).ok_or_else(|| {
        let what = format!("`{}` is not one name", name.escape_debug());
        ToolError::new(Fault::Arguments, what, "Give the last part of a path, such as `run`.")
    })?;
    let max_results = input.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize;
    let (mut declared, mut used) = (Vec::new(), Vec::new());
    let mut is_full = false;
    super::each_text(workspace, input.under.as_deref(), cancel, &mut |path, text, language| {
        if !text.contains(name) {
            return ControlFlow::Continue(());
        }
        let symbols = outline(text, language).unwrap_or_default();
        for (idx, line) in text.lines().enumerate().filter(|(_, line)| word.is_match(line)) {
            let number = idx + 1;
            let place = Place { path: path.as_str().to_owned(), number, text: shown(line) };
            if is_declaration(&symbols, name, number, line) {
                declared.push((place, None));
            } else if used.len() < max_results {
                used.push((place, enclosing(&symbols, number).map(|symbol| symbol.name.clone())));
            } else {
                is_full = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(output(name, &declared, &used, is_full))
}

/// A line of a file.
struct Place {
    path: String,
    number: usize,
    text: String,
}

/// Whether a symbol of that name begins here: its name stands in the line of its signature.
fn is_declaration(symbols: &[Symbol], name: &str, number: usize, line: &str) -> bool {
    symbols.iter().any(|symbol| {
        symbol.name == name
            && symbol.first_line <= number
            && number <= symbol.last_line
            && line.trim() == symbol.signature
    })
}

/// The innermost symbol around a line.
fn enclosing(symbols: &[Symbol], number: usize) -> Option<&Symbol> {
    let around =
        symbols.iter().filter(|symbol| (symbol.first_line..=symbol.last_line).contains(&number));
    around.max_by_key(|symbol| symbol.depth)
}

fn shown(line: &str) -> String {
    let line = line.trim();
    let end = line.floor_char_boundary(SHOWN_LINE_BYTES);
    if end < line.len() { format!("{}…", &line[..end]) } else { line.to_owned() }
}

type Found = (Place, Option<String>);

fn output(name: &str, declared: &[Found], used: &[Found], is_full: bool) -> Output {
    let mut text = String::new();
    for (place, _) in declared {
        text += &format!("declared {}:{}: {}\n", place.path, place.number, place.text);
    }
    for (place, within) in used {
        let within = within.as_deref().map(|within| format!(" in {within}")).unwrap_or_default();
        text += &format!("{}:{}{within}: {}\n", place.path, place.number, place.text);
    }
    if used.is_empty() {
        text += &format!("`{name}` is used nowhere here.\n");
    }
    if is_full {
        text += "[There are more uses; name a folder.]\n";
    }
    let value = |found: &Found| -> Value {
        json!({ "path": found.0.path, "line": found.0.number, "in": found.1 })
    };
    let value = json!({
        "declared": declared.iter().map(value).collect::<Vec<_>>(),
        "used": used.iter().map(value).collect::<Vec<_>>(),
    });
    Output { text, value, changed: Vec::new() }
}
