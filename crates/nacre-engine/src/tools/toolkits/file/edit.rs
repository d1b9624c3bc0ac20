//! Exact text replacements in one file. Either all edits are applied or none.
//!
//! Every edit is located in the original text before any edit is applied. Unless `replace_all` is
//! set, the text to replace must occur exactly once.

use std::ops::Range;

use nacre_base::ContentHash;

use crate::record::{ChangeKind, FileChange};
use crate::tools::toolkits::prelude::*;
use crate::tools::workspace::{MAX_FILE_BYTES, not_text, version_of};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEdit {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Either all of the edits are applied or none; they must not overlap.
    #[schemars(length(min = 1, max = 50))]
    edits: Vec<Edit>,
    /// The version of the file that you read, as shown by `file_read`.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

/// One edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The exact text in the file, including whitespace; add surrounding lines until the text is
    /// unique.
    #[schemars(length(min = 1, max = 20000))]
    find: String,
    /// Replace every occurrence of `find` instead of requiring that there be only one.
    #[serde(default)]
    replace_all: bool,
    /// The text in its place.
    #[schemars(length(max = 100000))]
    replace: String,
}

impl WorkspaceTool for FileEdit {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_edit",
        category: Category::Write,
        description: "Changes a file by exact replacements. Each `find` must occur exactly once in \
                      the file, unless `replace_all` is set. All edits are made, or none. Shows \
                      what changed and the new version.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 6_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        Ok(Footprint::changing([Area::File(workspace.place(&self.path)?)]))
    }

    fn preview(&self, workspace: &Workspace) -> Result<Preview> {
        let edited = apply_edits(workspace, self)?;
        let files = vec![(edited.path, Some(edited.after))];
        Ok(Preview { files, ..Preview::default() })
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let edited = apply_edits(workspace, self)?;
        check_running(&ctx.cancel)?;
        workspace.replace(&edited.path, edited.version, edited.after.as_bytes(), None)?;
        Ok(report(&edited.path, &edited.before, &edited.after, &edited.spots))
    }
}

struct Edited {
    path: RelPath,
    before: String,
    version: ContentHash,
    spots: Vec<Spot>,
    after: String,
}

fn apply_edits(workspace: &Workspace, input: &FileEdit) -> Result<Edited> {
    let path = workspace.place(&input.path)?;
    let (bytes, version) = super::read_version(workspace, &path, input.version.as_deref())?;
    let text = String::from_utf8(bytes).map_err(|_| not_text(&path))?;
    let mut spots = Vec::with_capacity(input.edits.len());
    for edit in &input.edits {
        spots.extend(locate(&path, &text, edit)?);
    }
    check_overlap(&text, &mut spots)?;
    let after = apply(&text, &spots);
    if after == text {
        let what = format!("The edits do not change `{path}`");
        return Err(ToolError::new(Fault::Arguments, what, "Describe a change."));
    }
    if MAX_FILE_BYTES < after.len() as u64 {
        let what = format!("`{path}` would become {} bytes long", after.len());
        return Err(ToolError::new(Fault::TooLarge, what, "Write less."));
    }
    Ok(Edited { path, before: text, version, spots, after })
}

struct Spot {
    range: Range<usize>,
    replacement: String,
}

fn locate(path: &RelPath, text: &str, edit: &Edit) -> Result<Vec<Spot>> {
    let Edit { find, replace, replace_all } = edit;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (wanted, replacement) = (with_line_ends(find, end), with_line_ends(replace, end));
    let spots: Vec<Spot> = text
        .match_indices(wanted.as_str())
        .map(|(at, found)| Spot { range: at..at + found.len(), replacement: replacement.clone() })
        .collect();
    let Some(first) = spots.first() else { return Err(no_match(path, text, find)) };
    if *replace_all {
        return Ok(spots);
    }
    let start = first.range.start;
    // `match_indices` does not find an occurrence that overlaps the first one.
    let next_char = text[start..].chars().next().map_or(1, char::len_utf8);
    if 1 < spots.len() || text[start + next_char..].contains(wanted.as_str()) {
        let lines = spots.iter().map(|spot| line_at(text, spot.range.start).to_string());
        let list = lines.take(11).collect::<Vec<_>>().join(", ");
        let what = format!("The text occurs more than once in `{path}`: lines {list}");
        let hint = "Add lines around it until it occurs once, or set `replace_all`.";
        return Err(ToolError::new(Fault::ManyMatches, what, hint));
    }
    Ok(spots)
}

fn no_match(path: &RelPath, text: &str, find: &str) -> ToolError {
    let first = find.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let is_like = |line: &str| !first.is_empty() && line.trim() == first;
    let near = text.lines().position(is_like).map(|idx| idx + 1);
    let hint = match near {
        Some(line) => {
            format!(
                "Its first line matches line {line}; compare the lines after it and the white \
             space."
            )
        }
        None => "Read the file again; the text must match exactly.".to_owned(),
    };
    ToolError::new(Fault::NoMatch, format!("The text does not occur in `{path}`"), hint)
}

fn check_overlap(text: &str, spots: &mut [Spot]) -> Result<()> {
    spots.sort_by_key(|spot| (spot.range.start, spot.range.end));
    for pair in spots.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            let line = line_at(text, pair[1].range.start);
            let what = format!("Two edits overlap at line {line}");
            return Err(ToolError::new(Fault::Overlap, what, "Combine them into one edit."));
        }
    }
    Ok(())
}

/// Replaces from the end to the start, so that earlier positions stay valid.
fn apply(text: &str, spots: &[Spot]) -> String {
    let mut edited = text.to_owned();
    for spot in spots.iter().rev() {
        edited.replace_range(spot.range.clone(), &spot.replacement);
    }
    edited
}

fn report(path: &RelPath, text: &str, edited: &str, spots: &[Spot]) -> Output {
    let version = version_of(edited.as_bytes());
    let removed: usize = spots.iter().map(|spot| text[spot.range.clone()].lines().count()).sum();
    let added: usize = spots.iter().map(|spot| spot.replacement.lines().count()).sum();
    let mut shown = format!("Edited {path}: +{added} -{removed} lines, version {version}\n");
    for spot in spots {
        let line = line_at(text, spot.range.start);
        shown += &small_diff(&text[spot.range.clone()], &spot.replacement, line);
    }
    Output { text: shown, changed: vec![FileChange::new(path, ChangeKind::Edited)] }
}

fn with_line_ends(text: &str, end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if end == "\n" { plain } else { plain.replace('\n', end) }
}

fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn small_diff(before: &str, after: &str, first_line: usize) -> String {
    let mut diff = format!("@@ line {first_line} @@\n");
    for line in before.lines() {
        diff += &format!("-{line}\n");
    }
    for line in after.lines() {
        diff += &format!("+{line}\n");
    }
    diff
}
