//! `code_search`: code that has the same structure as a pattern.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_core::safefs::RelPath;
use nacre_map::languages::{CodeMatch, CodePattern, Language, enclosing, outline};
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

const DEFAULT_RESULTS: u32 = 50;

/// Lines of a match that are shown.
const SHOWN_LINES: usize = 4;

/// Searches code by structure.
pub(super) struct CodeSearch {
    pub(super) workspace: Arc<Workspace>,
}

/// What to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeSearchInput {
    /// Code with holes: `$NAME` for one part, `$$$` for any number. For example `$X.unwrap()`.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The language of the pattern, such as `rust`.
    #[schemars(length(min = 1, max = 40))]
    language: String,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    #[schemars(range(min = 1, max = 500))]
    max_results: Option<u32>,
}

impl Tool for CodeSearch {
    type Input = CodeSearchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "code_search",
        toolkit: super::TOOLKIT,
        category: Category::Search,
        description: "Finds code by structure: a pattern is code with holes and matches however the code is laid out. Not \
                      fooled by comments and strings. Says in which function each match lies.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, input: &CodeSearchInput) -> Result<Footprint, ToolError> {
        reading_below(&self.workspace, input.under.as_deref())
    }

    async fn run(&self, input: CodeSearchInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| search(&workspace, &input, cancel)).await
    }
}

/// Compiles the pattern for the language and for those whose code looks the same.
fn patterns(input: &CodeSearchInput) -> Result<BTreeMap<Language, CodePattern>, ToolError> {
    let language: Language = input.language.parse().map_err(|_| {
        let what = format!("`{}` is no language that is parsed", input.language);
        let hint = format!("Known are {}.", super::language_names());
        ToolError::new(Fault::Unsupported, what, hint)
    })?;
    let first = CodePattern::new(&input.pattern, language).map_err(|error| {
        let hint =
            "Write a whole expression, statement or declaration, with `$NAME` for its holes.";
        ToolError::new(Fault::Arguments, error.to_string(), hint)
    })?;
    let mut patterns = BTreeMap::from([(language, first)]);
    let relatives: &[Language] = match language {
        Language::TypeScript => &[Language::Tsx],
        Language::Tsx => &[Language::TypeScript],
        Language::Bash
        | Language::C
        | Language::Cpp
        | Language::CSharp
        | Language::Elixir
        | Language::Go
        | Language::Java
        | Language::JavaScript
        | Language::Kotlin
        | Language::Lua
        | Language::Php
        | Language::Python
        | Language::Ruby
        | Language::Rust
        | Language::Scala
        | Language::Swift => &[],
    };
    for relative in relatives {
        if let Ok(pattern) = CodePattern::new(&input.pattern, *relative) {
            patterns.insert(*relative, pattern);
        }
    }
    Ok(patterns)
}

fn search(
    workspace: &Workspace,
    input: &CodeSearchInput,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let patterns = patterns(input)?;
    let max_results = input.max_results.unwrap_or(DEFAULT_RESULTS) as usize;
    let (mut shown, mut found, mut n_searched) = (String::new(), Vec::<Value>::new(), 0_usize);
    let mut is_full = false;
    super::each_text(workspace, input.under.as_deref(), cancel, &mut |path, text, language| {
        let Some(pattern) = patterns.get(&language) else { return ControlFlow::Continue(()) };
        n_searched += 1;
        let left = max_results - found.len();
        let mut matches = pattern.find(text, left + 1).unwrap_or_default();
        is_full = left < matches.len();
        matches.truncate(left);
        if !matches.is_empty() {
            shown += &show(path, text, language, &matches);
        }
        found.extend(matches.iter().map(|found| json!({ "path": path.as_str(), "match": found })));
        if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if found.is_empty() {
        shown = format!("No {} code matches ({n_searched} files searched).", input.language);
    }
    if is_full {
        shown += "[There are more matches; narrow the search.]\n";
    }
    Ok(Output { text: shown, value: json!({ "matches": found }), changed: Vec::new() })
}

fn show(path: &RelPath, text: &str, language: Language, matches: &[CodeMatch]) -> String {
    let symbols = outline(text, language).unwrap_or_default();
    let mut shown = String::new();
    for found in matches {
        let line = found.first_line;
        let place = enclosing(&symbols, line)
            .map(|symbol| format!(" (in {} {})", symbol.kind.as_str(), symbol.name))
            .unwrap_or_default();
        let code: Vec<&str> = found.text.lines().take(SHOWN_LINES).collect();
        let more = if SHOWN_LINES < found.text.lines().count() { "\n    …" } else { "" };
        shown += &format!("{path}:{line}:{place} {}{more}\n", code.join("\n    "));
    }
    shown
}
