//! Searches code by structure, and finds the uses of a name.
//!
//! Uses are matched as complete words. Different items with the same name are not distinguished,
//! because that would require a compiler for each language.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use nacre_map::languages::{
    CodeMatch, CodePattern, Language, Symbol, SymbolKind, enclosing, outline,
};
use regex::Regex;

use crate::tools::toolkits::file::reading_below;
use crate::tools::toolkits::prelude::*;
use crate::tools::toolkits::truncate_line;

const DEFAULT_RESULTS: u32 = 50;

const SHOWN_LINES: usize = 4;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeSearch {
    /// Code with placeholders: `$NAME` matches one part, `$$$` any number of parts. For example
    /// `$X.unwrap()`.
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

impl WorkspaceTool for CodeSearch {
    const SPEC: ToolSpec = ToolSpec {
        name: "code_search",
        category: Category::Search,
        description: "Finds code by structure: a pattern is code with holes and matches however the code is laid out. Not \
                      fooled by comments and strings. Says in which function each match lies.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        reading_below(workspace, self.under.as_deref())
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let patterns = patterns(self)?;
        let max_results = self.max_results.unwrap_or(DEFAULT_RESULTS) as usize;
        let (mut shown, mut n_found, mut n_searched) = (String::new(), 0, 0_usize);
        let mut is_full = false;
        let under = self.under.as_deref();
        super::each_text(workspace, under, &ctx.cancel, &mut |path, text, language| {
            let Some(pattern) = patterns.get(&language) else {
                return ControlFlow::Continue(());
            };
            n_searched += 1;
            let left = max_results - n_found;
            let mut matches = pattern.find(text, left + 1).unwrap_or_default();
            is_full = left < matches.len();
            matches.truncate(left);
            if !matches.is_empty() {
                shown += &show(path, text, language, &matches);
            }
            n_found += matches.len();
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if n_found == 0 {
            shown = format!("No {} code matches ({n_searched} files searched).", self.language);
        }
        if is_full {
            shown += "[There are more matches; narrow the search.]\n";
        }
        Ok(Output::text(shown))
    }
}

/// Compiles the pattern for the language and for languages with the same syntax.
fn patterns(input: &CodeSearch) -> Result<BTreeMap<Language, CodePattern>> {
    let language: Language = input.language.parse().map_err(|_| {
        let what = format!("`{}` is not a supported language", input.language);
        let hint = format!("Known are {}.", super::language_names());
        ToolError::new(Fault::Unsupported, what, hint)
    })?;
    let first = CodePattern::new(&input.pattern, language).map_err(|error| {
        let hint =
            "Write a whole expression, statement or declaration, with `$NAME` as a placeholder.";
        ToolError::new(Fault::Arguments, error.to_string(), hint)
    })?;
    let mut patterns = BTreeMap::from([(language, first)]);
    // TypeScript and TSX share most of their syntax but have different grammars, so compile the
    // pattern for both.
    let relative = if language == Language::TypeScript {
        Language::Tsx
    } else if language == Language::Tsx {
        Language::TypeScript
    } else {
        return Ok(patterns);
    };
    if let Ok(pattern) = CodePattern::new(&input.pattern, relative) {
        patterns.insert(relative, pattern);
    }
    Ok(patterns)
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

const DEFAULT_USES: u32 = 60;
const MAX_USES: u32 = 500;

const MAX_DECLARED: usize = 40;

const MAX_LEFT_OUT: usize = 30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeReferences {
    /// The full name, exactly as written in the code.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// How many uses at most.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl WorkspaceTool for CodeReferences {
    const SPEC: ToolSpec = ToolSpec {
        name: "code_references",
        category: Category::Search,
        description: "Finds where a function, type or other name is used, over all files whose language is known: \
                      each use with the function or type around it. Declarations of the name are listed first.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        reading_below(workspace, self.under.as_deref())
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let name = self.name.trim();
        let is_name = name.chars().all(|c| c.is_alphanumeric() || "_$!?".contains(c));
        let word = Regex::new(&format!(r"(^|[^\w$]){}($|[^\w$])", regex::escape(name)));
        let word = word.ok().filter(|_| is_name && !name.is_empty()).ok_or_else(|| {
            let what = format!("`{}` is not a single name", name.escape_debug());
            ToolError::new(Fault::Arguments, what, "Use the last part of a path, such as `run`.")
        })?;
        let max_results = self.max_results.unwrap_or(DEFAULT_USES).min(MAX_USES) as usize;
        let mut uses = Uses::default();
        let under = self.under.as_deref();
        super::each_text(workspace, under, &ctx.cancel, &mut |path, text, language| {
            if !text.contains(name) {
                return ControlFlow::Continue(());
            }
            let symbols = outline(text, language).unwrap_or_default();
            for (idx, line) in text.lines().enumerate().filter(|(_, line)| word.is_match(line)) {
                let number = idx + 1;
                let is_declared = is_declaration(&symbols, name, number, line);
                let (list, limit) = match is_declared {
                    true => (&mut uses.declared, MAX_DECLARED),
                    false => (&mut uses.used, max_results),
                };
                if limit <= list.len() {
                    *uses.left_out.entry(path.to_string()).or_default() += 1;
                    continue;
                }
                let around = enclosing(&symbols, number).filter(|_| !is_declared);
                let within = around.map(|symbol| format!(" in {}", symbol.name));
                let within = within.unwrap_or_default();
                list.push(format!("{path}:{number}{within}: {}\n", truncate_line(line.trim())));
            }
            ControlFlow::Continue(())
        })?;
        Ok(Output::text(uses.text(name)))
    }
}

/// The uses of a name. The search continues after the lists are full, because the number of
/// remaining uses per file shows where to look next.
#[derive(Default)]
struct Uses {
    declared: Vec<String>,
    used: Vec<String>,
    left_out: BTreeMap<String, usize>,
}

impl Uses {
    fn text(&self, name: &str) -> String {
        let mut text = String::new();
        for line in &self.declared {
            text += &format!("declared {line}");
        }
        text += &self.used.concat();
        if self.used.is_empty() {
            text += &format!("No uses of `{name}` found.\n");
        }
        if !self.left_out.is_empty() {
            text += &more(&self.left_out);
        }
        text
    }
}

/// Returns whether the line declares the name. An `impl` block is not a declaration of its type.
fn is_declaration(symbols: &[Symbol], name: &str, number: usize, line: &str) -> bool {
    symbols.iter().any(|symbol| {
        symbol.name == name
            && symbol.kind != SymbolKind::Implementation
            && (symbol.first_line..=symbol.last_line).contains(&number)
            && line.trim().starts_with(&symbol.signature)
    })
}

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
    format!("[{n_uses} more: {}. Limit the search with `under`.]\n", named.join(", "))
}
