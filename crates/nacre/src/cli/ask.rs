//! `nacre ask`: a question, answered from memory with proof.
//!
//! Whatever a model writes, no sentence is printed before everything that it cites was looked up.

mod model;
mod output;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use nacre_core::memory::MemoryId;
use nacre_engine::flows::ask::{MAX_QUESTION_BYTES, tell};
use nacre_engine::model::{Models, Role, RolesError};
use nacre_engine::tools::{MemoryShelf, Passage, recall};

use super::exit::Exit;
use super::memory::ScopeArg;
use super::ui::Ui;
use nacre_api::wire::StoreScope;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::{model_settings, scripted};

/// How many memories a question is answered from.
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;

/// Counting what was cited must not make an answer wait.
const COUNT_PATIENCE: Duration = Duration::from_millis(500);

/// Ask what is remembered, and get an answer with proof
///
/// With a model the answer is written from the memories that fit, and every sentence names the ids
/// that prove it. Each id is looked up before the sentence is shown; what does not hold is left out,
/// and that is said. The question and those memories go to the model that is set for `ask`. Without
/// a model the memories themselves are the answer. When nothing fits, the memory does not know.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,
    /// Answer from at most this many memories, 1 to 20
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Answer with the memories themselves, also where a model is set
    #[arg(long)]
    no_model: bool,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE", conflicts_with = "no_model")]
    scripted: Option<std::path::PathBuf>,
    #[command(flatten)]
    scope: ScopeArg,
}

/// A question, and where its answer may come from.
struct Asking<'a> {
    host: &'a Host,
    question: String,
    shelves: Arc<Vec<MemoryShelf>>,
    /// StoreScope memories each shelf holds.
    whose: Vec<StoreScope>,
    /// The best first.
    passages: Vec<Passage>,
    n_broken: usize,
}

impl Asking<'_> {
    /// The first shelf that has a memory of this id: the one that an answer means by it.
    fn shelf_of(&self, id: &MemoryId) -> Option<usize> {
        self.shelves.iter().position(|shelf| has(shelf, id))
    }

    /// StoreScope stores have the same id besides the one with this number.
    fn also_in(&self, id: &MemoryId, number: usize) -> Vec<&'static str> {
        let others = self.shelves.iter().zip(&self.whose).enumerate();
        let others = others.filter(|(other, (shelf, _))| *other != number && has(shelf, id));
        others.map(|(_, (_, whose))| whose.as_str()).collect()
    }
}

fn has(shelf: &MemoryShelf, id: &MemoryId) -> bool {
    shelf.store.places(id).is_ok_and(|places| !places.is_empty())
}

pub(crate) fn cmd_ask(ui: &mut Ui, host: &Host, args: &AskArgs) -> Result<Exit, OpError> {
    let asking = look_up(host, args)?;
    if asking.n_broken != 0 {
        let files = if asking.n_broken == 1 { "1 file is" } else { "some files are" };
        ui.warning(format!("Not everything was looked at: {files} broken"), Some("nacre doctor"));
    }
    let partial = if asking.n_broken == 0 { Exit::Done } else { Exit::Partial };
    let Some(models) = models(ui, host, args)? else {
        return without_model(ui, &asking, None).map(|()| partial);
    };
    let answered = model::answer(ui, &asking, models)?;
    match &answered.failure {
        Some(failure) if answered.answer.said.is_empty() => {
            let hint = failure.hints.first().map(String::as_str);
            ui.warning(format!("{}; these are the memories", failure.message), hint);
            without_model(ui, &asking, Some(failure)).map(|()| Exit::Partial)
        }
        failure => {
            let ids = answered.answer.ids();
            let cited = ids.into_iter().filter_map(|id| Some((asking.shelf_of(&id)?, id)));
            count(&asking, &cited.collect::<Vec<_>>());
            output::print_answer(ui, &asking, &answered)?;
            Ok(if failure.is_some() { Exit::Partial } else { partial })
        }
    }
}

fn look_up<'a>(host: &'a Host, args: &AskArgs) -> Result<Asking<'a>, OpError> {
    let question = args.question.join(" ").trim().to_owned();
    if question.is_empty() {
        return Err(OpError::usage("The question is empty")
            .hint("nacre ask \"Why is the queue in SQLite?\""));
    }
    if question.len() > MAX_QUESTION_BYTES {
        let size = question.len();
        return Err(OpError::usage(format!("The question has {size} bytes"))
            .hint(format!("Ask in at most {MAX_QUESTION_BYTES}")));
    }
    if !(1..=MAX_LIMIT).contains(&args.limit) {
        return Err(OpError::usage(format!("`--limit` is 1 to {MAX_LIMIT}")));
    }
    let (mut shelves, mut whose) = (Vec::new(), Vec::new());
    for scoped in host.stores_to_read(args.scope.mode())? {
        whose.push(scoped.scope);
        shelves.push(MemoryShelf {
            store: Arc::new(scoped.store),
            embedder: host.embedder(&scoped.settings)?,
            owner: host.owner("ask"),
            patience: COUNT_PATIENCE,
            source: "ask".to_owned(),
        });
    }
    let (passages, n_broken) = recall(&shelves, &question, args.limit, host.now())?;
    Ok(Asking { host, question, shelves: Arc::new(shelves), whose, passages, n_broken })
}

/// The models that answer; none where none is set, or where the person wants none.
fn models(ui: &mut Ui, host: &Host, args: &AskArgs) -> Result<Option<Models>, OpError> {
    if args.no_model {
        return Ok(None);
    }
    if let Some(file) = &args.scripted {
        return Ok(Some(Models::new(scripted(host, file)?)));
    }
    let models = Models::new(model_settings(host)?);
    match models.route(Role::Ask) {
        Ok(_) => Ok(Some(models)),
        Err(RolesError::NotSet(_)) => Ok(None),
        Err(error) => {
            let error = OpError::from(error);
            ui.warning(
                format!("{}; these are the memories", error.message),
                error.hints.first().map(String::as_str),
            );
            Ok(None)
        }
    }
}

/// The memories speak for themselves. The first is the answer and counts as cited; the others are only near it.
fn without_model(
    ui: &mut Ui,
    asking: &Asking<'_>,
    failure: Option<&OpError>,
) -> Result<(), OpError> {
    let told = tell(&asking.question, asking.passages.clone());
    let first = told.first().map(|told| (told.passage.shelf, told.passage.id.clone()));
    count(asking, first.as_slice());
    output::print_told(ui, asking, &told, failure)
}

/// Counts what an answer cites, each memory once, on the shelf that it is from.
fn count(asking: &Asking<'_>, cited: &[(usize, MemoryId)]) {
    let now: Timestamp = asking.host.now();
    for (number, shelf) in asking.shelves.iter().enumerate() {
        let here = cited.iter().filter(|(of, _)| *of == number);
        let here: Vec<MemoryId> = here.map(|(_, id)| id.clone()).collect();
        if here.is_empty() {
            continue;
        }
        // The answer is worth more than its count: a store that cannot be written to now is not counted in.
        let _ = shelf.store.begin(&shelf.owner, shelf.patience).and_then(|mut batch| {
            batch.cite(&here, now)?;
            batch.commit()
        });
    }
}
