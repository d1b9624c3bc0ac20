//! Formats overviews and slices as text.

use std::fmt::Write as _;

use nacre_types::{CodeApart, ContextSlice, HotPath, Listed, ModuleGraph, Overview, SymbolForm};
use serde::Serialize;

pub fn overview_text(overview: &Overview) -> String {
    let mut text = String::new();
    let languages: Vec<String> = overview
        .languages
        .iter()
        .map(|one| format!("{} {} files {} lines", one.language, one.files, one.lines))
        .collect();
    if let Some(about) = &overview.about {
        line(&mut text, format_args!("about {about}"));
    }
    list(&mut text, "commands", &overview.commands, |one| {
        format!("{} {} ({})", name_of(&one.purpose), one.command, one.from)
    });
    line(&mut text, format_args!("languages {}", languages.join(", ")));
    areas_text(overview, &mut text);
    list(&mut text, "entry_points", &overview.entry_points, |entry| {
        let name = entry.name.as_ref().map(|name| format!(" ({name})"));
        format!("{} {}{}", name_of(&entry.kind), entry.path, name.unwrap_or_default())
    });
    list(&mut text, "hot_paths", &overview.hot_paths, |hot| {
        let HotPath { path, heat, importers, commits } = hot;
        format!("{path} heat {heat} importers {importers} commits {commits}")
    });
    list(&mut text, "top_imports", &overview.top_imports, |import| {
        format!("{} {}", import.module, import.files)
    });
    let ModuleGraph { nodes, edges, unresolved, modules } = &overview.module_graph;
    line(&mut text, format_args!("graph nodes {nodes} edges {edges} unresolved {unresolved}"));
    list(&mut text, "modules", modules, |node| {
        let name = if node.module.is_empty() { "." } else { &node.module };
        let imports = if node.imports.is_empty() {
            String::new()
        } else {
            format!(" -> {}", node.imports.join(" "))
        };
        format!("{name} {}{imports}", node.files)
    });
    surface_text(overview, &mut text);
    list(&mut text, "tests", &overview.tests, String::clone);
    for (problem, n_files) in &overview.problems {
        line(&mut text, format_args!("problem {} {n_files}", name_of(problem)));
    }
    text
}

fn areas_text(overview: &Overview, text: &mut String) {
    list(text, "areas", &overview.areas, |area| {
        let name = if area.path.is_empty() { "." } else { &area.path };
        let about = area.about.as_ref().map(|about| format!(": {about}"));
        format!("{name} {} files {} lines{}", area.files, area.lines, about.unwrap_or_default())
    });
    let CodeApart { tests, aside, vendored, generated } = overview.apart;
    let counts =
        [("tests", tests), ("aside", aside), ("vendored", vendored), ("generated", generated)];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| 0 < *count)
        .map(|(name, count)| format!("{name} {count} files"))
        .collect();
    if !counts.is_empty() {
        line(text, format_args!("apart {}", counts.join(", ")));
    }
}

fn surface_text(overview: &Overview, text: &mut String) {
    let surface = &overview.public_surface;
    line(text, format_args!("public_surface {}", count(surface)));
    for file in &surface.items {
        line(text, format_args!("  {} {}", file.path, count(&file.symbols)));
        for symbol in &file.symbols.items {
            line(text, format_args!("    {} {}", symbol.line, symbol.signature));
        }
    }
}

pub fn context_text(slice: &ContextSlice) -> String {
    let mut text = String::new();
    for file in &slice.files {
        match file.words.is_empty() {
            true => line(&mut text, format_args!("{}", file.path)),
            false => line(&mut text, format_args!("{}  {}", file.path, file.words.join(" "))),
        }
        for symbol in &file.symbols {
            let (first, last) = (symbol.first_line, symbol.last_line);
            let shown = match symbol.form {
                SymbolForm::Name => format!(" {} {}", symbol.kind.as_str(), symbol.name),
                SymbolForm::Signature => format!(" {}", symbol.text),
                SymbolForm::Body => format!("\n{}", symbol.text),
            };
            line(&mut text, format_args!("  {first}-{last}{shown}"));
        }
    }
    let left_out = &slice.left_out;
    line(&mut text, format_args!("left_out symbols {} files {}", left_out.symbols, left_out.files));
    for (path, n_symbols) in &left_out.listed {
        line(&mut text, format_args!("  {path} {n_symbols}"));
    }
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{words}");
}

/// Returns a list's length and how many items are shown.
fn count<T>(list: &Listed<T>) -> String {
    match list.items.len() == list.total {
        true => list.total.to_string(),
        false => format!("{} of {}", list.items.len(), list.total),
    }
}

fn list<T>(text: &mut String, name: &str, list: &Listed<T>, shown: impl Fn(&T) -> String) {
    line(text, format_args!("{name} {}", count(list)));
    for item in &list.items {
        line(text, format_args!("  {}", shown(item)));
    }
}

/// Returns a unit variant's name as serialized in JSON.
fn name_of(value: &impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
