//! Maintains a block in the agents' instruction file that lists the project's decisions and
//! conventions.
//!
//! Other people read this file, so it contains only project memories that a brief may include. The
//! block depends only on the memories.

use nacre_base::format_unified_diff;
use nacre_base::text::collapse_whitespace;
use nacre_memory::ShortIds;
use nacre_memory::recall::{Source, Wish, brief_about, brief_text, count_tokens};
use nacre_memory::search::{Interest, MemoryIndex};
use nacre_traces::instructions;
use nacre_traces::transcript::injected::{MEMORY_TAG, wrap_in_tag};
use nacre_types::{BriefReport, BriefTopic, ExportReport, ExportRequest, ExportState, RunMode};

use super::recording::{CommandChange, is_instructions, replace_text, text_record};
use crate::host::note_offered;
use crate::prelude::*;
use crate::run::change::{Reversal, TextRoot};

/// In tokens. Kept small, because every agent session loads this text.
const DEFAULT_BUDGET: usize = 1500;
const MAX_BUDGET: usize = 100_000;

const USUAL_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

const TOPICS: [BriefTopic; 2] = [BriefTopic::Decisions, BriefTopic::Preferences];

const MAX_BYTES: u64 = 4 << 20;

pub fn export(host: &Host, request: &ExportRequest) -> Result<ExportReport> {
    let budget = request.budget.unwrap_or(DEFAULT_BUDGET);
    if budget > MAX_BUDGET {
        return Err(OpError::usage(format!("`--budget` must be at most {MAX_BUDGET}")));
    }
    let scoped = host.project_store()?.ok_or_else(|| host.no_project())?;
    let root = scoped.store.path().parent().ok_or_else(|| host.no_project())?;
    let scope = WriteScope::open(root, Access::Shared)?;
    let file = target(&scope, root, request.file.as_deref())?;
    let before = scope.read_optional(&file, MAX_BYTES).map_err(|error| unusable(&file, error))?;
    let selection = match request.remove {
        true => Selection::default(),
        false => select(host, &scoped, before.as_deref().unwrap_or_default(), budget)?,
    };
    if selection.is_too_long && !request.remove {
        let message = format!("A budget of {budget} tokens is too small for any memory");
        return Err(OpError::usage(message).hint(format!("--budget {DEFAULT_BUDGET}")));
    }
    let plan = plan(&file, before.as_deref(), &selection.text)?;
    let is_changed = before != plan.after;
    if is_changed && plan.edited && !request.force && !request.dry_run {
        let message = format!("The text inside the block of `{file}` was edited by hand");
        return Err(OpError::new(ErrorCode::Conflict, message)
            .hint("Preview what would be lost: nacre export --agents-md --dry-run")
            .hint(
                "Save the edit as a memory with `nacre memory add`, or overwrite it with --force",
            ));
    }
    let mut change = None;
    if is_changed && !request.dry_run {
        let (before, after) = (before.as_deref(), plan.after.as_deref());
        replace_text(&scope, &file, before, after)?;
        let typed = if request.remove { "export --remove" } else { "export" };
        let text = text_record(TextRoot::Project, file.as_str(), before, after)?;
        let command = CommandChange::new(RunMode::Export, typed);
        change = Some(command.record(host, &scoped, Reversal::Text { text }, before)?);
    }
    if !request.dry_run {
        note_offered(&scoped.store, &host.owner("export"), &selection.ids, host.now());
    }
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (before.as_deref().map(lossy), plan.after.as_deref().map(lossy));
    let diff = || format_unified_diff(file.as_str(), old.as_deref(), new.as_deref());
    Ok(ExportReport {
        file: file.to_string(),
        state: plan.state,
        dry_run: request.dry_run,
        edited: plan.edited,
        memories: selection.ids.iter().map(ToString::to_string).collect(),
        left_out: selection.n_left_out,
        unproven: selection.unproven,
        budget,
        tokens: selection.tokens,
        diff: if is_changed { diff() } else { String::new() },
        change,
    })
}

/// Returns the requested file, or by default the one that the project's agents already read.
fn target(scope: &WriteScope, root: &Path, file: Option<&str>) -> Result<RelPath> {
    let Some(file) = file else {
        let usual = USUAL_FILES.iter().map(|name| RelPath::new(name));
        let usual: Vec<RelPath> = usual.collect::<Result<_, _>>()?;
        let is_there = |file: &&RelPath| scope.stamp(file).ok().flatten().is_some();
        return Ok(usual.iter().find(is_there).unwrap_or(&usual[0]).clone());
    };
    let below = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str);
    let path = RelPath::new(below.unwrap_or(file))?;
    if !is_instructions(&path) {
        return Err(OpError::usage(format!("`{path}` is not an instruction file"))
            .hint("Name a Markdown file in the project, such as AGENTS.md or CLAUDE.md"));
    }
    Ok(path)
}

fn unusable(file: &RelPath, error: FsError) -> OpError {
    if !matches!(error, FsError::NotAFile { .. } | FsError::NotAFolder { .. }) {
        return error.into();
    }
    let message = format!("`{file}` is not a regular file, or its path contains a link");
    OpError::new(ErrorCode::Refused, message)
        .hint("Name a regular file in the project: --file PATH")
}

#[derive(Debug, Default)]
struct Selection {
    /// The block's text, empty if no memories are eligible.
    text: String,
    ids: Vec<MemoryId>,
    n_left_out: usize,
    unproven: Vec<String>,
    tokens: usize,
    /// Whether memories are eligible but none of them fits within the budget.
    is_too_long: bool,
}

/// Selects the memories for a file, except those that were imported from its own text, `before`.
fn select(host: &Host, scoped: &ScopedStore, before: &[u8], budget: usize) -> Result<Selection> {
    let index = MemoryIndex::open(&scoped.store, &host.owner("export"), host.now())?;
    let source = Source { index: &index, scope: scoped.scope };
    let marks = block(" ")?;
    // Age is measured relative to the newest memory instead of the current time, so that the block
    // changes only if the memories change.
    let interest = Interest { task: None, files: &[] };
    let newest = index.outline(&interest).map(|listed| listed.updated).max();
    let (own_text, _) = instructions::blank_out(&String::from_utf8_lossy(before));
    let wish = Wish {
        loaded: &collapse_whitespace(&own_text),
        budget: budget.saturating_sub(count_tokens(&marks) + 1),
        names_unproven: true,
        now: newest.unwrap_or_else(|| host.now()),
        ..Wish::default()
    };
    // Use full ids, so that other memories cannot affect the block.
    let ids = ShortIds::default();
    let mut made = brief_about(&[source], &wish, &TOPICS, &ids);
    // Sorted by id, so that an updated memory keeps its position.
    for section in &mut made.sections {
        section.items.sort_by(|a, b| a.id.cmp(&b.id));
    }
    let BriefReport { sections, left_out: n_left_out, unproven, .. } = made;
    let text = brief_text(&sections, &ids, 0);
    let items = sections.iter().flat_map(|section| &section.items);
    let memories = items.filter_map(|item| item.id.parse().ok()).collect();
    let tokens = if text.is_empty() { 0 } else { count_tokens(&block(&text)?) };
    let text = if text.is_empty() { text } else { wrap_in_tag(MEMORY_TAG, &text) };
    let is_too_long = text.is_empty() && unproven.len() < n_left_out;
    let n_left_out = n_left_out + index.n_postponed();
    Ok(Selection { text, ids: memories, n_left_out, unproven, tokens, is_too_long })
}

fn block(text: &str) -> Result<String> {
    let bytes = instructions::put(None, &wrap_in_tag(MEMORY_TAG, text)).map_err(OpError::from)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Plan {
    after: Option<Vec<u8>>,
    state: ExportState,
    edited: bool,
}

fn plan(file: &RelPath, before: Option<&[u8]>, text: &str) -> Result<Plan> {
    let broken = |fault: instructions::BlockFault| {
        let error = OpError::from(fault);
        OpError { message: format!("Cannot change `{file}`"), causes: vec![error.message], ..error }
            .hint("Fix the markers, or delete them and the text between them")
    };
    let block = instructions::find(before.unwrap_or_default()).map_err(broken)?;
    let had_block = block.is_some();
    let edited = block.is_some_and(|block| block.is_edited());
    if text.is_empty() {
        let after = match (before, had_block) {
            (Some(before), true) => instructions::take_out(before).map_err(broken)?,
            (before, _) => before.map(<[u8]>::to_vec),
        };
        let state = if had_block { ExportState::Removed } else { ExportState::Absent };
        return Ok(Plan { after, state, edited });
    }
    let after = instructions::put(before, text).map_err(broken)?;
    let state = match had_block {
        _ if before == Some(&after) => ExportState::Unchanged,
        true => ExportState::Updated,
        false => ExportState::Added,
    };
    Ok(Plan { after: Some(after), state, edited })
}

impl From<instructions::BlockFault> for OpError {
    fn from(fault: instructions::BlockFault) -> Self {
        Self::from_error(ErrorCode::Invalid, &fault, None)
    }
}
