//! `code_references`: where a name is used, and in which function or type.
//!
//! A name is found as a whole word, and where it is declared is told apart from where it is used. Two things of one name
//! are not told apart: that would need the compiler of each language.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_map::languages::{Symbol, SymbolKind, enclosing, outline};
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

const MAX_DECLARED: usize = 40;

/// So many files are named of those whose uses are not listed.
const MAX_LEFT_OUT: usize = 30;

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
    let mut uses = Uses { max_results, ..Uses::default() };
    super::each_text(workspace, input.under.as_deref(), cancel, &mut |path, text, language| {
        if !text.contains(name) {
            return ControlFlow::Continue(());
        }
        let symbols = outline(text, language).unwrap_or_default();
        for (idx, line) in text.lines().enumerate().filter(|(_, line)| word.is_match(line)) {
            let number = idx + 1;
            let place = Place { path: path.as_str().to_owned(), number, text: shown(line) };
            match is_declaration(&symbols, name, number, line) {
                true => uses.declare(place),
                false => uses.add(place, enclosing(&symbols, number)),
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(output(name, &uses))
}

/// What was found. All files are gone through, also when the list is full: where the name is declared is what is asked
/// for most, and how often the others use it says where to look on.
#[derive(Default)]
struct Uses {
    max_results: usize,
    declared: Vec<Found>,
    used: Vec<Found>,
    /// Uses that are not listed, by file.
    left_out: BTreeMap<String, usize>,
}

impl Uses {
    fn declare(&mut self, place: Place) {
        match self.declared.len() < MAX_DECLARED {
            true => self.declared.push((place, None)),
            false => *self.left_out.entry(place.path).or_default() += 1,
        }
    }

    fn add(&mut self, place: Place, around: Option<&Symbol>) {
        match self.used.len() < self.max_results {
            true => self.used.push((place, around.map(|symbol| symbol.name.clone()))),
            false => *self.left_out.entry(place.path).or_default() += 1,
        }
    }
}

/// A line of a file.
struct Place {
    path: String,
    number: usize,
    text: String,
}

/// Whether a symbol of that name begins here: its name stands in the line of its signature, which is without what opens a
/// body. What is implemented for a type does not declare it.
fn is_declaration(symbols: &[Symbol], name: &str, number: usize, line: &str) -> bool {
    symbols.iter().any(|symbol| {
        symbol.name == name
            && symbol.kind != SymbolKind::Implementation
            && (symbol.first_line..=symbol.last_line).contains(&number)
            && line.trim().starts_with(&symbol.signature)
    })
}

fn shown(line: &str) -> String {
    let line = line.trim();
    let end = line.floor_char_boundary(SHOWN_LINE_BYTES);
    if end < line.len() { format!("{}…", &line[..end]) } else { line.to_owned() }
}

type Found = (Place, Option<String>);

fn output(name: &str, uses: &Uses) -> Output {
    let Uses { declared, used, left_out, .. } = uses;
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
    if !left_out.is_empty() {
        text += &more(left_out);
    }
    let value = |found: &Found| -> Value {
        json!({ "path": found.0.path, "line": found.0.number, "in": found.1 })
    };
    let value = json!({
        "declared": declared.iter().map(value).collect::<Vec<_>>(),
        "used": used.iter().map(value).collect::<Vec<_>>(),
        "left_out": left_out.values().sum::<usize>(),
    });
    Output { text, value, changed: Vec::new() }
}

/// Where the uses are that are not listed; those with the most first.
fn more(left_out: &BTreeMap<String, usize>) -> String {
    let n_uses: usize = left_out.values().sum();
    let mut files: Vec<(&String, &usize)> = left_out.iter().collect();
    files.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let n_more = files.len().saturating_sub(MAX_LEFT_OUT);
    files.truncate(MAX_LEFT_OUT);
    let mut named: Vec<String> = files.iter().map(|(path, n)| format!("{path} {n}")).collect();
    if n_more > 0 {
        named.push(format!("{n_more} more files"));
    }
    format!("[{n_uses} more: {}. Name one with `under`.]\n", named.join(", "))
}
