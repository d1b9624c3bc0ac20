//! `file_edit`: exact replacements in one file, all of them or none.
//!
//! Every edit is located in the text as it was before, and only then are all of them made. A text to replace must occur
//! exactly once; line numbers are taken only together with the version that they were read in.

use std::ops::Range;
use std::sync::Arc;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{MAX_FILE_BYTES, Workspace, not_text, place, version_of};
use super::super::{check_running, off_thread};
use super::lines::{line_at, line_end, range_of_lines, small_diff, with_line_ends};
use crate::model::Cancel;
use crate::record::{Category, Change, ChangeKind, Fault};

/// So many lines at the end of a replacement, when they also follow it, were copied by mistake.
const REPEATED_LINES: usize = 3;

/// Edits files.
pub(super) struct FileEdit {
    pub(super) workspace: Arc<Workspace>,
}

/// What to change in which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditInput {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Made together, or not at all; they may not overlap.
    #[schemars(length(min = 1, max = 50))]
    edits: Vec<Edit>,
    /// The version that was read, as `file_read` says it; needed for edits by line.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Edit {
    Text(TextEdit),
    Lines(LinesEdit),
}

/// Replaces a text that occurs exactly once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TextEdit {
    /// The text as it stands in the file, with its white space; add lines around it until it occurs once.
    #[schemars(length(min = 1, max = 20000))]
    find: String,
    #[schemars(length(max = 100000))]
    replace: String,
}

/// Replaces whole lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinesEdit {
    #[schemars(range(min = 1))]
    first_line: u32,
    #[schemars(range(min = 1))]
    last_line: u32,
    #[schemars(length(max = 100000))]
    replace: String,
}

impl Tool for FileEdit {
    type Input = EditInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_edit",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Changes a file by exact replacements. Each `find` must occur exactly once in the file; all edits are \
                      made, or none. Shows what changed and the new version.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 6_000,
    };

    fn footprint(&self, input: &EditInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::changing([Area::File(place(&input.path)?)]))
    }

    fn preview(&self, input: &EditInput) -> Result<Preview, ToolError> {
        let edited = edited(&self.workspace, input)?;
        let files = vec![(edited.path, Some(edited.after))];
        Ok(Preview { files, program: None })
    }

    async fn run(&self, input: EditInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| edit(&workspace, &input, cancel)).await
    }
}

fn edit(workspace: &Workspace, input: &EditInput, cancel: &Cancel) -> Result<Output, ToolError> {
    let edited = edited(workspace, input)?;
    check_running(cancel)?;
    workspace.replace(&edited.path, edited.version, edited.after.as_bytes())?;
    Ok(report(&edited.path, &edited.before, &edited.after, &edited.spots))
}

/// A file with the edits made, not written yet.
struct Edited {
    path: RelPath,
    before: String,
    version: ContentHash,
    spots: Vec<Spot>,
    after: String,
}

/// Makes the edits in the text of the file, all of them or none.
fn edited(workspace: &Workspace, input: &EditInput) -> Result<Edited, ToolError> {
    let path = place(&input.path)?;
    let has_lines = input.edits.iter().any(|edit| matches!(edit, Edit::Lines(_)));
    if has_lines && input.version.is_none() {
        let what = "An edit by line needs the version that the lines were counted in";
        return Err(ToolError::new(Fault::Arguments, what, "Take it from `file_read`."));
    }
    let (bytes, version) = super::read_version(workspace, &path, input.version.as_deref())?;
    let text = String::from_utf8(bytes).map_err(|_| not_text(&path))?;
    let mut spots = Vec::with_capacity(input.edits.len());
    for edit in &input.edits {
        spots.push(locate(&path, &text, edit)?);
    }
    check_overlap(&text, &mut spots)?;
    let after = apply(&text, &spots);
    if after == text {
        let what = format!("The edits leave `{path}` as it is");
        return Err(ToolError::new(Fault::Arguments, what, "Say what should be different."));
    }
    if MAX_FILE_BYTES < after.len() as u64 {
        let what = format!("`{path}` would have {} bytes", after.len());
        return Err(ToolError::new(Fault::TooLarge, what, "Write less."));
    }
    Ok(Edited { path, before: text, version, spots, after })
}

/// A part of the text, and what comes in its place.
struct Spot {
    range: Range<usize>,
    replacement: String,
}

fn locate(path: &RelPath, text: &str, edit: &Edit) -> Result<Spot, ToolError> {
    match edit {
        Edit::Text(edit) => locate_text(path, text, edit),
        Edit::Lines(edit) => locate_lines(path, text, edit),
    }
}

fn locate_text(path: &RelPath, text: &str, edit: &TextEdit) -> Result<Spot, ToolError> {
    let end = line_end(text);
    let find = with_line_ends(&edit.find, end);
    let mut found = text.match_indices(find.as_str());
    let Some((start, _)) = found.next() else {
        return Err(no_match(path, text, &edit.find));
    };
    let others: Vec<usize> = found.map(|(at, _)| line_at(text, at)).take(10).collect();
    // Also one that overlaps the first, which a plain count passes over.
    let next_char = text[start..].chars().next().map_or(1, char::len_utf8);
    let overlapping = text[start + next_char..].find(find.as_str());
    if !others.is_empty() || overlapping.is_some() {
        let mut lines = vec![line_at(text, start)];
        lines.extend(others);
        let list: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let what = format!("The text occurs more than once in `{path}`: lines {}", list.join(", "));
        let hint = "Add lines around it until it occurs once.";
        return Err(ToolError::new(Fault::ManyMatches, what, hint));
    }
    let replacement = with_line_ends(&edit.replace, end);
    Ok(Spot { range: start..start + find.len(), replacement })
}

/// Says where something like the text stands, if it does.
fn no_match(path: &RelPath, text: &str, find: &str) -> ToolError {
    let first = find.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let is_like = |line: &str| !first.is_empty() && line.trim() == first;
    let near = text.lines().position(is_like).map(|idx| idx + 1);
    let hint = match near {
        Some(line) => format!(
            "Its first line stands at line {line}; compare what follows and the white space."
        ),
        None => "Read the file again; the text must be exactly as it stands there.".to_owned(),
    };
    ToolError::new(Fault::NoMatch, format!("The text does not occur in `{path}`"), hint)
}

fn locate_lines(path: &RelPath, text: &str, edit: &LinesEdit) -> Result<Spot, ToolError> {
    let (first, last) = (edit.first_line as usize, edit.last_line as usize);
    let Some(range) = range_of_lines(text, first, last).filter(|_| first <= last) else {
        let what = format!("`{path}` has no lines {first}-{last}");
        return Err(ToolError::new(Fault::Arguments, what, "Read the file again."));
    };
    if edit.replace.is_empty() && range.len() == text.len() {
        let what = format!("The edit would leave nothing of `{path}`");
        return Err(ToolError::new(Fault::TooLarge, what, "Use `file_delete` to remove it."));
    }
    let mut replacement = with_line_ends(&edit.replace, line_end(text));
    let ends_open = !replacement.is_empty() && !replacement.ends_with('\n');
    if ends_open && text[range.clone()].ends_with('\n') {
        replacement += line_end(text);
    }
    if repeats_what_follows(&replacement, &text[range.end..]) {
        let what = "The last lines of the replacement also follow it";
        let hint = "Leave them out, or replace them too.";
        return Err(ToolError::new(Fault::Overlap, what, hint));
    }
    Ok(Spot { range, replacement })
}

fn repeats_what_follows(replacement: &str, following: &str) -> bool {
    let last: Vec<&str> = replacement.lines().rev().take(REPEATED_LINES).collect();
    let next: Vec<&str> = following.lines().take(REPEATED_LINES).collect();
    last.len() == REPEATED_LINES && last.iter().rev().eq(next.iter())
}

fn check_overlap(text: &str, spots: &mut [Spot]) -> Result<(), ToolError> {
    spots.sort_by_key(|spot| (spot.range.start, spot.range.end));
    for pair in spots.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            let line = line_at(text, pair[1].range.start);
            let what = format!("Two edits overlap at line {line}");
            return Err(ToolError::new(Fault::Overlap, what, "Make one edit of them."));
        }
    }
    Ok(())
}

/// Makes the edits from the last to the first, so that no place moves.
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
    Output {
        text: shown,
        value: json!({ "path": path.as_str(), "added": added, "removed": removed, "version": version }),
        changed: vec![Change::new(path, ChangeKind::Edited)],
    }
}
