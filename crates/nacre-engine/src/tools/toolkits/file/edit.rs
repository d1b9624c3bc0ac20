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
use super::super::super::workspace::{MAX_FILE_BYTES, Workspace, not_text, version_of};
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

/// One edit, of one of three kinds: `find` with `replace`; `first_line`, `last_line` with `replace`; or `after_line` with
/// `insert`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The text as it stands in the file, with its white space; add lines around it until it occurs once.
    #[schemars(length(min = 1, max = 20000))]
    find: Option<String>,
    /// Replace every place where `find` occurs, instead of the only one.
    #[serde(default)]
    replace_all: bool,
    /// What comes in the place of the text or the lines.
    #[schemars(length(max = 100000))]
    replace: Option<String>,
    /// The first line to replace, from 1.
    #[schemars(range(min = 1))]
    first_line: Option<u32>,
    /// The last line to replace.
    #[schemars(range(min = 1))]
    last_line: Option<u32>,
    /// The line behind which lines are inserted; 0 is before the first.
    after_line: Option<u32>,
    /// The lines to insert.
    #[schemars(length(min = 1, max = 100000))]
    insert: Option<String>,
}

/// What an edit says.
enum EditKind<'e> {
    Text { find: &'e str, replace: &'e str, everywhere: bool },
    Lines { first: usize, last: usize, replace: &'e str },
    Insert { after: usize, text: &'e str },
}

impl Edit {
    /// Reads which kind it is; what is missing or too much is named by its field.
    fn kind(&self, idx: usize) -> Result<EditKind<'_>, ToolError> {
        let refuse = |what: String| {
            let hint = "Give `find` and `replace`, or `first_line`, `last_line` and `replace`, or `after_line` and \
                        `insert`.";
            ToolError::new(Fault::Arguments, what, hint)
        };
        let missing = |field: &str| refuse(format!("`edits[{idx}]` has no `{field}`"));
        let has_lines = self.first_line.is_some() || self.last_line.is_some();
        let has_insert = self.after_line.is_some() || self.insert.is_some();
        let n_kinds =
            usize::from(self.find.is_some()) + usize::from(has_lines) + usize::from(has_insert);
        if 1 < n_kinds || (has_insert && self.replace.is_some()) {
            return Err(refuse(format!("`edits[{idx}]` says more than one thing")));
        }
        if self.replace_all && self.find.is_none() {
            return Err(refuse(format!("`edits[{idx}].replace_all` needs `find`")));
        }
        if has_insert {
            let after = self.after_line.ok_or_else(|| missing("after_line"))? as usize;
            let text = self.insert.as_deref().ok_or_else(|| missing("insert"))?;
            return Ok(EditKind::Insert { after, text });
        }
        let replace = self.replace.as_deref();
        if let Some(find) = self.find.as_deref() {
            let replace = replace.ok_or_else(|| missing("replace"))?;
            return Ok(EditKind::Text { find, replace, everywhere: self.replace_all });
        }
        if !has_lines {
            return Err(missing("find"));
        }
        let first = self.first_line.ok_or_else(|| missing("first_line"))? as usize;
        let last = self.last_line.ok_or_else(|| missing("last_line"))? as usize;
        let replace = replace.ok_or_else(|| missing("replace"))?;
        Ok(EditKind::Lines { first, last, replace })
    }
}

impl Tool for FileEdit {
    type Input = EditInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_edit",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Changes a file by exact replacements. Each `find` must occur exactly once in the file, unless \
                      `replace_all` is set; lines can be replaced or inserted by number. All edits are made, or none. Shows what changed and the new version.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 6_000,
    };

    fn footprint(&self, input: &EditInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::changing([Area::File(self.workspace.place(&input.path)?)]))
    }

    fn preview(&self, input: &EditInput) -> Result<Preview, ToolError> {
        let edited = edited(&self.workspace, input)?;
        let files = vec![(edited.path, Some(edited.after))];
        Ok(Preview { files, ..Preview::default() })
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
    let path = workspace.place(&input.path)?;
    let mut edits = Vec::with_capacity(input.edits.len());
    for (idx, edit) in input.edits.iter().enumerate() {
        edits.push(edit.kind(idx)?);
    }
    let has_lines = edits.iter().any(|edit| !matches!(edit, EditKind::Text { .. }));
    if has_lines && input.version.is_none() {
        let what = "An edit by line needs the version that the lines were counted in";
        return Err(ToolError::new(Fault::Arguments, what, "Take it from `file_read`."));
    }
    let (bytes, version) = super::read_version(workspace, &path, input.version.as_deref())?;
    let text = String::from_utf8(bytes).map_err(|_| not_text(&path))?;
    let mut spots = Vec::with_capacity(edits.len());
    for edit in &edits {
        spots.extend(locate(&path, &text, edit)?);
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

fn locate(path: &RelPath, text: &str, edit: &EditKind<'_>) -> Result<Vec<Spot>, ToolError> {
    match *edit {
        EditKind::Text { find, replace, everywhere: false } => {
            locate_text(path, text, find, replace).map(|spot| vec![spot])
        }
        EditKind::Text { find, replace, everywhere: true } => {
            locate_everywhere(path, text, find, replace)
        }
        EditKind::Lines { first, last, replace } => {
            locate_lines(path, text, first, last, replace).map(|spot| vec![spot])
        }
        EditKind::Insert { after, text: inserted } => {
            locate_insert(path, text, after, inserted).map(|spot| vec![spot])
        }
    }
}

fn locate_everywhere(
    path: &RelPath,
    text: &str,
    find: &str,
    replace: &str,
) -> Result<Vec<Spot>, ToolError> {
    let end = line_end(text);
    let (wanted, replacement) = (with_line_ends(find, end), with_line_ends(replace, end));
    let spots: Vec<Spot> = text
        .match_indices(wanted.as_str())
        .map(|(at, found)| Spot { range: at..at + found.len(), replacement: replacement.clone() })
        .collect();
    if spots.is_empty() { Err(no_match(path, text, find)) } else { Ok(spots) }
}

fn locate_insert(
    path: &RelPath,
    text: &str,
    after: usize,
    inserted: &str,
) -> Result<Spot, ToolError> {
    let at = match after {
        0 => Some(0),
        line => range_of_lines(text, line, line).map(|range| range.end),
    };
    let Some(at) = at else {
        let what = format!("`{path}` has no line {after}");
        return Err(ToolError::new(Fault::Arguments, what, "Read the file again."));
    };
    let end = line_end(text);
    let mut replacement = with_line_ends(inserted, end);
    if !replacement.ends_with('\n') && at != text.len() {
        replacement += end;
    }
    // The last line of a file need not end.
    if at == text.len() && !text.is_empty() && !text.ends_with('\n') {
        replacement.insert_str(0, end);
    }
    Ok(Spot { range: at..at, replacement })
}

fn locate_text(path: &RelPath, text: &str, find: &str, replace: &str) -> Result<Spot, ToolError> {
    let end = line_end(text);
    let wanted = with_line_ends(find, end);
    let mut found = text.match_indices(wanted.as_str());
    let Some((start, _)) = found.next() else {
        return Err(no_match(path, text, find));
    };
    let others: Vec<usize> = found.map(|(at, _)| line_at(text, at)).take(10).collect();
    // Also one that overlaps the first, which a plain count passes over.
    let next_char = text[start..].chars().next().map_or(1, char::len_utf8);
    let overlapping = text[start + next_char..].find(wanted.as_str());
    if !others.is_empty() || overlapping.is_some() {
        let mut lines = vec![line_at(text, start)];
        lines.extend(others);
        let list: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let what = format!("The text occurs more than once in `{path}`: lines {}", list.join(", "));
        let hint = "Add lines around it until it occurs once, or set `replace_all`.";
        return Err(ToolError::new(Fault::ManyMatches, what, hint));
    }
    let replacement = with_line_ends(replace, end);
    Ok(Spot { range: start..start + wanted.len(), replacement })
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

fn locate_lines(
    path: &RelPath,
    text: &str,
    first: usize,
    last: usize,
    replace: &str,
) -> Result<Spot, ToolError> {
    let Some(range) = range_of_lines(text, first, last).filter(|_| first <= last) else {
        let what = format!("`{path}` has no lines {first}-{last}");
        return Err(ToolError::new(Fault::Arguments, what, "Read the file again."));
    };
    if replace.is_empty() && range.len() == text.len() {
        let what = format!("The edit would leave nothing of `{path}`");
        return Err(ToolError::new(Fault::TooLarge, what, "Use `file_delete` to remove it."));
    }
    let mut replacement = with_line_ends(replace, line_end(text));
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
