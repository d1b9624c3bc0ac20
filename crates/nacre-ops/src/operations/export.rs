//! Keeps a block with the project's decisions and conventions in the instruction file that its agents read.
//!
//! What may be in it is what a brief may tell unasked. Only the project's own memories are in it, since others read the file,
//! and the same memories give the same block whatever the time.

use std::path::Path;

use nacre_api::wire::{ErrorCode, ExportReport, ExportRequest, ExportState};
use nacre_core::base::{ContentHash, unified_diff};
use nacre_core::instructions;
use nacre_core::memory::MemoryId;
use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};
use nacre_core::search::{Interest, MemoryIndex, Mode, TokenCounter};
use nacre_core::transcript::injected::{MEMORY_TAG, marked};
use nacre_engine::flows::brief::{Brief, Source, Topic, Wish, brief_about};
use nacre_engine::flows::change::{Reversal, TextRoot};
use nacre_engine::flows::run::RunMode;

use super::recording::{OutsideChange, record_outside, text_record};
use crate::error::OpError;
use crate::host::{Host, ScopedStore, note_offered};

/// Every session of every agent pays for it.
const DEFAULT_BUDGET: usize = 1500;
const MAX_BUDGET: usize = 100_000;

/// The files that agents read, in the order in which one is chosen.
const USUAL_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What a block tells of.
const TOPICS: [Topic; 2] = [Topic::Decisions, Topic::Preferences];

/// A larger file is not an instruction.
const MAX_BYTES: u64 = 4 << 20;

pub fn export(host: &Host, request: &ExportRequest) -> Result<ExportReport, OpError> {
    let budget = request.budget.unwrap_or(DEFAULT_BUDGET);
    if budget > MAX_BUDGET {
        return Err(OpError::usage(format!("`--budget` is at most {MAX_BUDGET}")));
    }
    let scoped = host.project_store()?.ok_or_else(|| host.no_project())?;
    let root = scoped.store.path().parent().ok_or_else(|| host.no_project())?;
    let scope = WriteScope::open(root, Access::Shared)?;
    let file = target(&scope, root, request.file.as_deref())?;
    let before = scope.read_optional(&file, MAX_BYTES).map_err(|error| unusable(&file, error))?;
    let selection = match request.remove {
        true => Selection::default(),
        false => select(host, &scoped, budget)?,
    };
    if selection.is_too_long && !request.remove {
        let message = format!("A budget of {budget} tokens has no room for a memory");
        return Err(OpError::usage(message).hint(format!("--budget {DEFAULT_BUDGET}")));
    }
    let plan = plan(&file, before.as_deref(), &selection.text)?;
    let is_changed = before != plan.after;
    if is_changed && plan.edited && !request.force && !request.dry_run {
        return Err(edited(&file));
    }
    if is_changed && !request.dry_run {
        write(&scope, &file, before.as_deref(), plan.after.as_deref())?;
    }
    let mut change = None;
    if is_changed && !request.dry_run {
        change = Some(record(host, &scoped, request, (&file, before.as_deref(), &plan))?);
    }
    if !request.dry_run {
        note_offered(&scoped.store, &host.owner("export"), &selection.ids, host.now());
    }
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (before.as_deref().map(lossy), plan.after.as_deref().map(lossy));
    let diff = || unified_diff(file.as_str(), old.as_deref(), new.as_deref());
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

/// Writes down what undoes it.
fn record(
    host: &Host,
    scoped: &ScopedStore,
    request: &ExportRequest,
    (file, before, plan): (&RelPath, Option<&[u8]>, &Plan),
) -> Result<String, OpError> {
    let command = if request.remove { "export --remove" } else { "export" };
    let text = text_record(TextRoot::Project, file.as_str(), before, plan.after.as_deref())?;
    let (mode, reversal) = (RunMode::Export, Reversal::Text { text });
    record_outside(host, scoped, OutsideChange { mode, command, undoes: None, reversal, before })
}

/// The file that is asked for, or the one that agents of this project read already.
fn target(scope: &WriteScope, root: &Path, file: Option<&str>) -> Result<RelPath, OpError> {
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
            .hint("Name a Markdown file of the project, such as AGENTS.md or CLAUDE.md"));
    }
    Ok(path)
}

/// Whether a file of a project may hold instructions.
pub(super) fn is_instructions(path: &RelPath) -> bool {
    let is_inner = path.components().next().is_some_and(|name| matches!(name, ".git" | ".nacre"));
    let is_text = [".md", ".mdc"].iter().any(|end| path.as_str().ends_with(end));
    is_text && !is_inner
}

fn unusable(file: &RelPath, error: FsError) -> OpError {
    if !matches!(error, FsError::NotAFile { .. } | FsError::NotAFolder { .. }) {
        return error.into();
    }
    let message = format!("`{file}` is, or lies behind, a link or something else than a file");
    OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
        .hint("Name the file itself, below the project: --file PATH")
}

fn edited(file: &RelPath) -> OpError {
    let message = format!("Somebody changed the text inside the block of `{file}`");
    OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
        .hint("See what would be lost: nacre export --agents-md --dry-run")
        .hint("Keep it as a memory, `nacre memory add`, or write over it: --force")
}

/// What the block says, and what is left out of it.
#[derive(Debug, Default)]
struct Selection {
    /// Empty where there is nothing to tell.
    text: String,
    ids: Vec<MemoryId>,
    n_left_out: usize,
    unproven: Vec<String>,
    tokens: usize,
    /// There is something to tell, and no room for it.
    is_too_long: bool,
}

fn select(host: &Host, scoped: &ScopedStore, budget: usize) -> Result<Selection, OpError> {
    let embedder = host.embedder(&scoped.settings)?;
    let index = MemoryIndex::open(&scoped.store, &*embedder, &host.owner("export"), host.now())?;
    let source = Source { store: &scoped.store, index: &index, scope: scoped.scope.as_str() };
    let counter = TokenCounter::shipped()?;
    let marks = block(" ")?;
    // What is fresh is told by the newest memory and not by the clock: the block changes only with the memories.
    let interest = Interest { task: None, files: &[], mode: Mode::Lexical };
    let newest = index.outline(&interest)?.map(|listed| listed.updated).max();
    let wish = Wish {
        budget: budget.saturating_sub(counter.count(&marks) + 1),
        task: None,
        files: &[],
        known: &[],
        mode: Mode::Lexical,
        names_unproven: true,
        now: newest.unwrap_or_else(|| host.now()),
    };
    let mut made = brief_about(&[source], &wish, &TOPICS, &counter)?;
    // In the order of their ids, so that a memory that is said again moves no line.
    for section in &mut made.sections {
        section.items.sort_by(|a, b| a.id.cmp(&b.id));
    }
    let text = made.text();
    let Brief { sections, n_left_out, unproven, .. } = made;
    let items = sections.iter().flat_map(|section| &section.items);
    let ids = items.filter_map(|item| item.id.parse().ok()).collect();
    let tokens = if text.is_empty() { 0 } else { counter.count(&block(&text)?) };
    let text = if text.is_empty() { text } else { marked(MEMORY_TAG, &text) };
    let is_too_long = text.is_empty() && unproven.len() < n_left_out;
    let n_left_out = n_left_out + index.n_postponed();
    Ok(Selection { text, ids, n_left_out, unproven, tokens, is_too_long })
}

/// A block with a text, as a file of its own.
fn block(text: &str) -> Result<String, OpError> {
    let bytes = instructions::put(None, &marked(MEMORY_TAG, text)).map_err(OpError::from)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What becomes of a file.
struct Plan {
    /// `None` where no file is left.
    after: Option<Vec<u8>>,
    state: ExportState,
    edited: bool,
}

fn plan(file: &RelPath, before: Option<&[u8]>, text: &str) -> Result<Plan, OpError> {
    let broken = |fault: instructions::BlockFault| {
        let error = OpError::from(fault);
        OpError { message: format!("Cannot change `{file}`"), causes: vec![error.message], ..error }
            .hint("Put the marks right, or delete them with what is between them")
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

/// Brings the file from one state to the other, unless somebody changed it meanwhile.
pub(super) fn write(
    scope: &WriteScope,
    file: &RelPath,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<(), OpError> {
    match (before, after) {
        (None, Some(after)) => scope.create_file(file, after)?,
        (Some(before), Some(after)) => {
            scope.replace_file(file, ContentHash::of(before), after)?;
        }
        (Some(before), None) => scope.remove_file(file, ContentHash::of(before))?,
        (None, None) => {}
    }
    Ok(())
}

impl From<instructions::BlockFault> for OpError {
    fn from(fault: instructions::BlockFault) -> Self {
        Self::from_error(ErrorCode::Invalid, &fault, None)
    }
}
