//! `nacre brief`: what an agent should know before it starts.

use std::path::Path;

use clap::Args;
use nacre_core::config::EmbeddingChoice;
use nacre_core::search::{MemoryIndex, Mode, TokenCounter};
use nacre_engine::flows::brief::{Brief, Section, Source, Wish, brief};
use serde_json::{Value, json};

use super::exit::Exit;
use super::memory::ScopeArg;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// What fits beside a question without pushing it aside.
const DEFAULT_BUDGET: usize = 2000;
const MAX_BUDGET: usize = 100_000;

/// Memories that a warning names.
const MAX_NAMED: usize = 3;

/// A longer task is a document, and is compared by its beginning.
const MAX_TASK_BYTES: usize = 8_000;

/// Tell what an agent should know before it starts
///
/// Decisions that hold, preferences, pitfalls, recent work and what it left open, best first and each
/// with its id. With --task and --file what fits them comes first. The text never counts more tokens
/// than the budget, and is the same for the same memories. No model is asked. What was archived,
/// overturned or redacted is not in it, nor what only a tool said, nor what has no evidence and was not
/// written on this machine.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// At most this many tokens; counted so that no model counts more
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// What is to be done, in words
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// A file that it is about; may be given more than once
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_brief(ui: &mut Ui, host: &Host, args: &BriefArgs) -> Result<Exit, OpError> {
    if args.budget > MAX_BUDGET {
        return Err(OpError::usage(format!("`--budget` is at most {MAX_BUDGET}")));
    }
    let stores = host.stores_to_read(args.scope.mode())?;
    let embedders = stores.iter().map(|scoped| host.embedder(&scoped.settings));
    let embedders = embedders.collect::<Result<Vec<_>, _>>()?;
    let owner = host.owner("brief");
    let mut indexes = Vec::new();
    for (scoped, embedder) in stores.iter().zip(&embedders) {
        indexes.push(MemoryIndex::open(&scoped.store, &**embedder, &owner, host.now())?);
    }
    let sources: Vec<Source<'_>> = stores
        .iter()
        .zip(&indexes)
        .map(|(scoped, index)| Source { store: &scoped.store, index, scope: scoped.scope.as_str() })
        .collect();
    let files: Vec<String> = args.file.iter().map(|file| below(host, file)).collect();
    let task = args.task.as_deref().map(|task| &task[..task.floor_char_boundary(MAX_TASK_BYTES)]);
    // Only the model that is part of the program is asked for the meaning of a task: others take their time.
    let mode = match host.settings().search.embedding {
        EmbeddingChoice::Builtin => Mode::Hybrid,
        EmbeddingChoice::Endpoint => Mode::Lexical,
    };
    let wish = Wish { budget: args.budget, task, files: &files, mode, now: host.now() };
    let made = brief(&sources, &wish, &TokenCounter::shipped()?)?;
    if ui.is_json() {
        ui.json(&object(&made))?;
        return Ok(Exit::Done);
    }
    if let Some(note) = unproven(&made) {
        ui.warning(note, Some("Take one over: nacre feedback ID useful, or nacre memory edit ID"));
    }
    match made.text().as_str() {
        "" if !made.unproven.is_empty() => ui.status("There is nothing to tell.")?,
        "" if made.n_left_out == 0 => ui.status("Nothing is remembered yet.")?,
        "" => ui.status(format!("A budget of {} has no room for a memory.", made.budget))?,
        text => ui.text(text)?,
    }
    Ok(Exit::Done)
}

/// Which memories are not told because nothing shows who wrote them.
fn unproven(made: &Brief) -> Option<String> {
    let named: Vec<&str> = made.unproven.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = match made.unproven.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let note = format!("Left out, because nothing shows who wrote it: {}{more}", named.join(", "));
    (!named.is_empty()).then_some(note)
}

/// A path as memories name it: below the repository.
fn below(host: &Host, file: &str) -> String {
    let absolute = host.environment.absolute(Path::new(file));
    let root = host.project.as_ref().map(|project| project.path.as_path());
    match root.and_then(|root| absolute.strip_prefix(root).ok()) {
        Some(path) => path.display().to_string(),
        None => file.to_owned(),
    }
}

fn object(made: &Brief) -> Value {
    let section = |section: &Section| {
        let items: Vec<Value> = section
            .items
            .iter()
            .map(|item| json!({ "id": item.id, "scope": item.scope, "text": item.text }))
            .collect();
        json!({ "topic": section.topic.as_str(), "items": items })
    };
    json!({
        "budget": made.budget,
        "tokens": made.tokens,
        "sections": made.sections.iter().map(section).collect::<Vec<_>>(),
        "left_out": made.n_left_out,
        "unproven": made.unproven,
        "text": made.text(),
    })
}
