//! `nacre context`

use std::collections::BTreeMap;

use clap::Args;
use nacre_core::search::{MemoryIndex, MemoryOptions, Mode, Query};
use nacre_map::artifact::{FileFacts, RelativePath};
use nacre_map::indexer::Keeping;
use nacre_map::slices::{ContextRequest, ContextSlice, Evidence, Ranked, Sketch, context, rank};

use super::exit::Exit;
use super::map::{ClientArgs, Map, MapArgs};
use super::payload::{self, payload, relative};
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Memories that may speak of files.
const MAX_MEMORIES: usize = 20;

/// What an answer may cost when nobody says.
pub(crate) const DEFAULT_BUDGET: usize = 4_000;

/// Collect the code that a task needs, within a budget of tokens
///
/// Files are ranked by words and meaning in common with the task, by their distance in the graph of imports, and by what
/// memory knows of them. Symbols come whole where there is room, else by signature, else by name; what did not fit is counted
/// and listed. Text that looks like a secret is replaced.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    question: ContextQuestion,
}

/// What is asked of a map that is open.
#[derive(Debug, Args)]
pub(crate) struct ContextQuestion {
    #[command(flatten)]
    client: ClientArgs,
    /// What is to be done, in words
    #[arg(long = "for", value_name = "TASK", required_unless_present = "files")]
    pub(crate) task: Option<String>,
    /// A file that is surely meant; may be given again, or several with commas
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    files: Vec<String>,
    /// Tokens that the answer may have
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
}

/// What a context is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    pub(crate) words: String,
    pub(crate) files: Vec<String>,
    pub(crate) budget: usize,
}

pub(crate) fn cmd_context(ui: &mut Ui, host: &Host, args: &ContextArgs) -> Result<Exit, OpError> {
    let ContextArgs { map: map_args, question } = args;
    let mut map = Map::open(ui, host, map_args, "context")?;
    let payload = answered(ui, host, &mut map, question)?;
    payload::print(ui, &payload)?;
    Ok(Exit::Done)
}

/// The answer to a question, as it is printed; who asks has seen it.
pub(crate) fn answered(
    ui: &mut Ui,
    host: &Host,
    map: &mut Map,
    question: &ContextQuestion,
) -> Result<String, OpError> {
    let ContextQuestion { client, task, files, budget } = question;
    let root = map.current.project.root.clone();
    let folder = &host.environment.folder;
    let task = Task {
        words: task.clone().unwrap_or_default(),
        files: files
            .iter()
            .map(|typed| known(map, relative(&root, folder, typed), typed))
            .collect(),
        budget: *budget,
    };
    if let Some(path) = task.files.iter().find(|path| map.current.artifact.find(path).is_none()) {
        return Err(OpError::failed(format!("`{path}` is not in the map"))
            .hint(format!("nacre explain {path}")));
    }
    let mut sketch = sketched(map);
    let payload = collected(host, map, &mut sketch, ui.is_json(), &task)?;
    if let Some(client) = &client.client {
        map.seen_by(ui, client)?;
    }
    Ok(payload)
}

/// A path from where the person stands, or from the root where only that is known.
fn known(map: &Map, from_here: String, typed: &str) -> String {
    let is_known = |path: &str| map.current.artifact.find(path).is_some();
    if is_known(typed) && !is_known(&from_here) { typed.to_owned() } else { from_here }
}

/// The answer as it is printed.
pub(crate) fn collected(
    host: &Host,
    map: &mut Map,
    sketch: &mut Sketch,
    is_json: bool,
    task: &Task,
) -> Result<String, OpError> {
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let settings = host.settings_now(project);
    let embedder = host.embedder(settings.as_ref().unwrap_or(host.settings())).ok();
    let memory = remembered(host, map, &task.words);
    let evidence = Evidence {
        task: &task.words,
        files: &task.files,
        memory: &memory,
        embedder: embedder.as_deref(),
    };
    let mut ranked = rank(sketch, &evidence);
    // A closer look finds more names to rank by.
    if refined(map, sketch, &ranked) {
        ranked = rank(sketch, &evidence);
    }
    let map = &*map;
    let shown =
        |slice: &ContextSlice| payload(map, "context", is_json, slice, ContextSlice::to_text);
    let facts: Vec<FileFacts> =
        ranked.paths().filter_map(|path| map.current.facts_at(path.as_str())).collect();
    let text = |path: &RelativePath| map.current.text(path.as_str());
    let cost = |slice: &ContextSlice| payload::cost(&shown(slice));
    let (task, budget) = (task.words.as_str(), task.budget);
    let request = ContextRequest { task, budget, text: &text, cost: &cost };
    Ok(shown(&context(&ranked, &facts, &request)?))
}

/// As much of a project as a ranking needs.
pub(crate) fn sketched(map: &Map) -> Sketch {
    Sketch::new(map.current.names(), map.current.imported(&map.cache, map.keeping()))
}

/// Looks at ranked files by their grammars that were only glanced at; tells whether there were any.
fn refined(map: &mut Map, sketch: &mut Sketch, ranked: &Ranked) -> bool {
    let paths: Vec<&str> = ranked.paths().map(RelativePath::as_str).collect();
    if !payload::deepened(map, &paths) {
        return false;
    }
    for (path, names) in paths.iter().filter_map(|path| map.current.names_at(path)) {
        sketch.rename(&path, names);
    }
    true
}

/// How much the memories about a task have to say of each file. Without a store, or with a broken one, nothing.
fn remembered(host: &Host, map: &Map, task: &str) -> BTreeMap<String, f64> {
    let mut known = BTreeMap::new();
    let query = Query::parse(task, host.now());
    if query.is_empty() {
        return known;
    }
    if map.options.keeping == Keeping::Dropped && host.has_unsettled_store() {
        return known;
    }
    let owner = host.owner("context");
    for scoped in host.stores_to_read(None).unwrap_or_default() {
        let Ok(embedder) = host.embedder(&scoped.settings) else { continue };
        let opened = match map.options.keeping {
            Keeping::Kept => MemoryIndex::open(&scoped.store, &*embedder, &owner, host.now()),
            Keeping::Dropped => MemoryIndex::peek(&scoped.store, &*embedder, host.now()),
        };
        let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_MEMORIES, archived: false };
        let Some(found) = opened.ok().and_then(|index| index.search(&query, &options).ok()) else {
            continue;
        };
        for hit in &found.hits {
            let weight = f64::from(hit.score.clamp(0.0, 1.0));
            note(map, hit.memory.document.body(), weight, &mut known);
        }
    }
    known
}

/// Notes the files that a memory speaks of by their paths.
fn note(map: &Map, memory: &str, weight: f64, known: &mut BTreeMap<String, f64>) {
    let words = memory
        .split(|c: char| {
            c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ':' | '[' | ']')
        })
        .map(|word| word.trim_matches(['.', ';']).trim_start_matches("./"));
    for path in words.filter(|word| word.contains(['.', '/'])) {
        if map.current.artifact.find(path).is_some() {
            let most = known.entry(path.to_owned()).or_default();
            *most = most.max(weight);
        }
    }
}
