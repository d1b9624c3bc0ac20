//! Slices as text: short lines, most relevant first, without a word that is not a fact.

use std::fmt::Write as _;

use super::areas::CodeApart;
use super::context_slice::{ContextSlice, Form};
use super::listed::Listed;
use super::overview::Overview;

impl Overview {
    /// The overview as lines.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let languages: Vec<String> = self
            .languages
            .iter()
            .map(|one| format!("{} {} files {} lines", one.language, one.files, one.lines))
            .collect();
        if let Some(about) = &self.about {
            line(&mut text, format_args!("about {about}"));
        }
        list(&mut text, "commands", &self.commands, |one| {
            format!("{} {} ({})", one.purpose.as_str(), one.command, one.from)
        });
        line(&mut text, format_args!("languages {}", languages.join(", ")));
        self.areas_text(&mut text);
        list(&mut text, "entry_points", &self.entry_points, |entry| {
            let name = entry.name.as_ref().map(|name| format!(" ({name})"));
            format!("{} {}{}", entry.kind.as_str(), entry.path, name.unwrap_or_default())
        });
        list(&mut text, "hot_paths", &self.hot_paths, |hot| {
            format!(
                "{} heat {} importers {} commits {}",
                hot.path, hot.heat, hot.importers, hot.commits
            )
        });
        list(&mut text, "top_imports", &self.top_imports, |import| {
            format!("{} {}", import.module, import.files)
        });
        let graph = &self.module_graph;
        line(
            &mut text,
            format_args!(
                "graph nodes {} edges {} unresolved {}",
                graph.nodes, graph.edges, graph.unresolved
            ),
        );
        list(&mut text, "modules", &graph.modules, |node| {
            let name = if node.module.is_empty() { "." } else { &node.module };
            let imports = if node.imports.is_empty() {
                String::new()
            } else {
                format!(" -> {}", node.imports.join(" "))
            };
            format!("{name} {}{imports}", node.files)
        });
        self.surface_text(&mut text);
        list(&mut text, "tests", &self.tests, String::clone);
        for (problem, n_files) in &self.problems {
            line(&mut text, format_args!("problem {} {n_files}", problem.as_str()));
        }
        text
    }

    fn areas_text(&self, text: &mut String) {
        list(text, "areas", &self.areas, |area| {
            let name = if area.path.is_empty() { "." } else { &area.path };
            let about = area.about.as_ref().map(|about| format!(": {about}"));
            format!("{name} {} files {} lines{}", area.files, area.lines, about.unwrap_or_default())
        });
        let CodeApart { tests, aside, vendored, generated } = self.apart;
        let counts =
            [("tests", tests), ("aside", aside), ("vendored", vendored), ("generated", generated)];
        let told: Vec<String> = counts
            .iter()
            .filter(|(_, count)| 0 < *count)
            .map(|(name, count)| format!("{name} {count} files"))
            .collect();
        if !told.is_empty() {
            line(text, format_args!("apart {}", told.join(", ")));
        }
    }

    fn surface_text(&self, text: &mut String) {
        let surface = &self.public_surface;
        line(text, format_args!("public_surface {}", count(surface)));
        for file in &surface.items {
            line(text, format_args!("  {} {}", file.path, count(&file.symbols)));
            for symbol in &file.symbols.items {
                line(text, format_args!("    {} {}", symbol.line, symbol.signature));
            }
        }
    }
}

impl ContextSlice {
    /// The slice as lines.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            match file.words.is_empty() {
                true => line(&mut text, format_args!("{}", file.path)),
                false => line(&mut text, format_args!("{}  {}", file.path, file.words.join(" "))),
            }
            for symbol in &file.symbols {
                let (first, last) = (symbol.first_line, symbol.last_line);
                match symbol.form {
                    Form::Name => line(
                        &mut text,
                        format_args!("  {first}-{last} {} {}", symbol.kind.as_str(), symbol.name),
                    ),
                    Form::Signature => {
                        line(&mut text, format_args!("  {first}-{last} {}", symbol.text));
                    }
                    Form::Body => {
                        line(&mut text, format_args!("  {first}-{last}"));
                        line(&mut text, format_args!("{}", symbol.text));
                    }
                }
            }
        }
        let left_out = &self.left_out;
        line(
            &mut text,
            format_args!("left_out symbols {} files {}", left_out.symbols, left_out.files),
        );
        for (path, n_symbols) in &left_out.listed {
            line(&mut text, format_args!("  {path} {n_symbols}"));
        }
        text
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{words}");
}

/// How much of a list is shown.
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
