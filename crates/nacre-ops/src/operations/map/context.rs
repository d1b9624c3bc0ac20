//! Collects the code that a task needs, within a budget of tokens.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::Path;

use nacre_api::wire::{
    ContextQuestion, ContextReport, ContextRequest, ErrorCode, MapCommand, MapFormat, MapHeader,
};
use nacre_map::artifact::{FileFacts, RelativePath};
use nacre_map::slices::{self, ContextSlice, Evidence, Ranked, Sketch, WEIGHTS, rank};

use super::code_map::{CodeMap, MapAccess};
use super::kept_map;
use super::payload::{Answer, cost, json_payload, text_payload};
use super::recalled::recalled_paths;
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Tokens that a context may have unless the request says otherwise.
pub const DEFAULT_BUDGET: usize = 4_000;

/// Files that code is shown of, or could be; of the others only the path is told.
const MAX_TOLD: usize = 40;

/// Files that a grammar looks at before they are told: as many as code is usually shown of. The others are told by what a glance
/// found, which is what stands at the top of them.
const MAX_DEEPENED: usize = 12;

pub fn context(
    host: &Host,
    request: &ContextRequest,
    events: &Events,
) -> Result<Answer<ContextReport>, OpError> {
    let ContextRequest { project, refresh, strict, format, client, .. } = request;
    let question = ContextQuestion {
        client: client.clone(),
        task: request.task.clone(),
        files: request.files.clone(),
        budget: request.budget,
        files_only: request.files_only,
    };
    check(&question)?;
    let access = MapAccess::requested(project.as_deref(), *refresh, *strict);
    kept_map::ask(host, access, MapCommand::Context, events, |map| {
        let slice = ask(host, map, *format, &question, events)?;
        let header = map.header(MapCommand::Context);
        let payload = payload(&header, *format, &slice);
        Ok(Answer { report: report(&header, &slice), payload })
    })
}

/// Answers a question of a client about a map that is open, in JSON.
pub(super) fn answer(
    host: &Host,
    map: &mut CodeMap,
    question: &ContextQuestion,
    events: &Events,
) -> Result<ContextReport, OpError> {
    check(question)?;
    let slice = ask(host, map, MapFormat::Json, question, events)?;
    Ok(report(&map.header(MapCommand::Context), &slice))
}

fn check(question: &ContextQuestion) -> Result<(), OpError> {
    let has_task = question.task.as_ref().is_some_and(|task| !task.trim().is_empty());
    if !has_task && question.files.is_empty() {
        return Err(OpError::usage("A context needs a task (`for`), or `files`")
            .hint("Say what is to be done: `nacre context \"retry failed uploads\"`"));
    }
    Ok(())
}

fn ask(
    host: &Host,
    map: &mut CodeMap,
    format: MapFormat,
    question: &ContextQuestion,
    events: &Events,
) -> Result<ContextSlice, OpError> {
    let ContextQuestion { client, task, files, budget, files_only } = question;
    let task = Task {
        words: task.clone().unwrap_or_default(),
        files: files.iter().map(|typed| known_path(host, map, typed)).collect(),
        budget: budget.unwrap_or(DEFAULT_BUDGET),
        is_files_only: *files_only,
        format,
        without_memory: false,
    };
    if let Some(path) = task.files.iter().find(|path| map.current.artifact.find(path).is_none()) {
        let error = OpError::failed(format!("`{path}` is not in the map"));
        let error = OpError { code: ErrorCode::NotFound, ..error };
        return Err(error.hint(format!("nacre explain {path}")));
    }
    let slice = collect(host, map, &task)?;
    if let Some(client) = client {
        map.mark_seen(client, events)?;
    }
    Ok(slice)
}

/// A path from where the person stands, or from the root where only that is known.
fn known_path(host: &Host, map: &CodeMap, typed: &str) -> String {
    let is_known = |path: &str| map.current.artifact.find(path).is_some();
    let full = host.environment.folder.join(typed);
    let inside = full.strip_prefix(&map.current.project.root).ok().and_then(Path::to_str);
    let from_here = inside.unwrap_or(typed).trim_start_matches("./");
    let path = if is_known(typed) && !is_known(from_here) { typed } else { from_here };
    path.to_owned()
}

/// What a context is about, and how it is printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub(super) words: String,
    pub(super) files: Vec<String>,
    pub(super) budget: usize,
    pub(super) is_files_only: bool,
    pub(super) format: MapFormat,
    /// Leaves out what memory knows: for a state that is older than it.
    pub(super) without_memory: bool,
}

/// Ranks the files by what a task says, and fills its budget with them and their symbols.
pub(super) fn collect(
    host: &Host,
    map: &mut CodeMap,
    task: &Task,
) -> Result<ContextSlice, OpError> {
    let ranked = rank_files(host, map, task);
    let told: Vec<String> =
        ranked.paths().take(MAX_TOLD).map(|path| path.as_str().to_owned()).collect();
    if !task.is_files_only {
        // A first look at much code is only a glance.
        map.deepen(&told.iter().map(String::as_str).take(MAX_DEEPENED).collect::<Vec<_>>());
    }
    let map = &*map;
    let header = map.header(MapCommand::Context);
    let facts: Vec<FileFacts> = told.iter().filter_map(|path| map.current.facts_at(path)).collect();
    let text = |path: &RelativePath| map.current.text(path.as_str());
    let cost = |slice: &ContextSlice| cost(&payload(&header, task.format, slice));
    let request = slices::ContextRequest {
        task: &task.words,
        budget: task.budget,
        is_files_only: task.is_files_only,
        text: &text,
        cost: &cost,
    };
    Ok(slices::context(&ranked, &facts, &request)?)
}

fn rank_files(host: &Host, map: &CodeMap, task: &Task) -> Ranked {
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let settings = host.settings_now(project);
    let embedder = host.embedder(settings.as_ref().unwrap_or(host.settings())).ok();
    let memory = match task.without_memory {
        true => BTreeMap::new(),
        false => recalled_paths(host, map, &task.words),
    };
    let files = map.current.artifact.files();
    let (bags, imported) = std::thread::scope(|scope| {
        // Each takes a moment at 60,000 files, and neither needs the other.
        let imported = scope.spawn(|| map.current.imported(&map.cache, map.keeping(), &files));
        let bags = map.bags(&files);
        (bags, imported.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let bag = |idx: usize| bags.words_of(idx);
    let paths = files.iter().map(|(path, _)| *path).collect();
    let made = map.made_paths();
    let sketch = Sketch::new(paths, &bag, &made, imported);
    let names = |path: &str| map.current.names_at(path);
    let evidence = Evidence {
        task: &task.words,
        files: &task.files,
        memory: &memory,
        embedder: embedder.as_deref(),
        names: &names,
        weights: &WEIGHTS,
        n_threads: map.options.n_threads,
    };
    rank(&sketch, &evidence)
}

fn report(header: &MapHeader, slice: &ContextSlice) -> ContextReport {
    ContextReport { map: header.clone(), slice: wire::context(slice) }
}

/// A context as it is printed.
pub(super) fn payload(header: &MapHeader, format: MapFormat, slice: &ContextSlice) -> String {
    match format {
        MapFormat::Json => json_payload(&report(header, slice)),
        MapFormat::Text => text_payload(header, &slice.to_text()),
    }
}
