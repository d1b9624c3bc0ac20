//! `file_find`: paths by glob or by a part of their name.

use std::ops::ControlFlow;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{Walk, WalkEnd, WalkedFile, Workspace};
use super::super::off_thread;
use crate::model::Cancel;
use crate::record::{Category, Fault};

const DEFAULT_RESULTS: u32 = 100;
const MAX_RESULTS: u32 = 1000;

/// So many near names are told.
const MAX_NEAR: usize = 5;

/// Finds files by name.
pub(super) struct FileFind {
    pub(super) workspace: Arc<Workspace>,
}

/// Which names, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindInput {
    /// A glob such as `src/**/*.rs` or `*.md`; without `*?[{` a part of the path, in any case.
    #[schemars(length(min = 1, max = 256))]
    pattern: String,
    /// The folder or file to look in; the whole workspace if left out.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// How many paths at most.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl Tool for FileFind {
    type Input = FindInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_find",
        toolkit: super::TOOLKIT,
        category: Category::Search,
        description: "Lists files whose path matches a glob, in order of their names. Files that git ignores are left out.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, input: &FindInput) -> Result<Footprint, ToolError> {
        super::reading_below(&self.workspace, input.under.as_deref())
    }

    async fn run(&self, input: FindInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| find(&workspace, &input, cancel)).await
    }
}

/// How a path is looked at.
pub(super) enum Names {
    Glob(GlobMatcher),
    Part(String),
}

impl Names {
    pub(super) fn new(pattern: &str) -> Result<Self, ToolError> {
        if !pattern.contains(['*', '?', '[', '{']) {
            return Ok(Self::Part(pattern.to_lowercase()));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
            let what = format!("`{pattern}` is no glob: {}", error.kind());
            ToolError::new(Fault::Arguments, what, "Write one such as `src/**/*.rs`.")
        })?;
        Ok(Self::Glob(glob.compile_matcher()))
    }

    /// A glob without a slash means the name, wherever it lies.
    pub(super) fn matches(&self, path: &RelPath) -> bool {
        match self {
            Self::Glob(glob) if glob.glob().glob().contains('/') => glob.is_match(path.as_str()),
            Self::Glob(glob) => glob.is_match(path.name()),
            Self::Part(part) => path.as_str().to_lowercase().contains(part),
        }
    }
}

fn find(workspace: &Workspace, input: &FindInput, cancel: &Cancel) -> Result<Output, ToolError> {
    let names = Names::new(&input.pattern)?;
    let under = workspace.folder(input.under.as_deref())?;
    let max_results = input.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize;
    let mut near = Near::new(&input.pattern);
    let mut paths: Vec<String> = Vec::new();
    let mut n_found = 0;
    let end = Walk::new(workspace, cancel).run(under.as_ref(), &mut |found| {
        if let WalkedFile::File { path, .. } = found {
            if names.matches(path) {
                n_found += 1;
                if paths.len() < max_results {
                    paths.push(path.as_str().to_owned());
                }
            } else {
                near.look(path);
            }
        }
        ControlFlow::Continue(())
    })?;
    super::super::check_running(cancel)?;
    let mut text = paths.join("\n");
    text += &summary(&input.pattern, n_found, paths.len(), end);
    if n_found == 0 {
        text += &near.hint();
    }
    let value = json!({ "paths": paths, "n_found": n_found });
    Ok(Output { text, value, changed: Vec::new() })
}

fn summary(pattern: &str, n_found: usize, n_shown: usize, end: WalkEnd) -> String {
    let more = if end.is_cut { "; there are more files than one search looks at" } else { "" };
    match n_found {
        0 => format!("No file matches `{pattern}` ({} files looked at{more}).", end.n_files),
        _ if n_shown < n_found => {
            format!("\n[{n_shown} of {n_found} paths; name a folder or a longer pattern{more}]")
        }
        _ if end.is_cut => format!("\n[{n_found} paths{more}]"),
        _ => String::new(),
    }
}

/// Files whose names are like one that was not found.
struct Near {
    wanted: String,
    found: Vec<String>,
}

impl Near {
    fn new(pattern: &str) -> Self {
        let name = pattern.rsplit('/').next().unwrap_or(pattern);
        let wanted: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
        Self { wanted: wanted.to_lowercase(), found: Vec::new() }
    }

    fn look(&mut self, path: &RelPath) {
        if self.wanted.len() < 3 || MAX_NEAR <= self.found.len() {
            return;
        }
        let name: String = path.name().chars().filter(|c| c.is_alphanumeric()).collect();
        let name = name.to_lowercase();
        let stem = path.name().split('.').next().unwrap_or_default().to_lowercase();
        let is_part = 4 <= stem.len() && self.wanted.contains(&stem);
        if is_part || is_close(&name, &self.wanted) {
            self.found.push(path.to_string());
        }
    }

    fn hint(&self) -> String {
        match self.found.is_empty() {
            true => String::new(),
            false => format!(" Files with a similar name: {}.", self.found.join(", ")),
        }
    }
}

/// Whether at most two characters have to be changed, added or left out to make one of the other.
fn is_close(one: &str, other: &str) -> bool {
    const MOST: usize = 2;
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if MOST < one.len().abs_diff(other.len()) || 80 < one.len() {
        return false;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()] <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_differ_by_two_characters_at_most() {
        for (one, other, expected) in [
            ("mainrs", "mainrs", true),
            ("mianrs", "mainrs", true),
            ("mainr", "mainrs", true),
            ("libary", "library", true),
            ("parser", "printer", false),
            ("", "abc", false),
        ] {
            assert_eq!(is_close(one, other), expected, "{one} {other}");
        }
    }
}
