//! An answer as it is printed: what was said, what proves it, and what was left out.

use nacre_core::base::Shown;
use nacre_core::memory::{MemoryId, Status};
use nacre_engine::flows::ask::{Doubts, Told};
use nacre_engine::model::Cost;
use nacre_engine::tools::{Passage, speaker};
use serde_json::{Map, Value, json};

use super::super::memory::not_verified;
use super::super::ui::{Role, Ui};
use super::Asking;
use super::model::Answered;
use nacre_ops::OpError;

/// The longest quote that a line shows, in characters.
const MAX_QUOTE_CHARS: usize = 160;

const NOT_KNOWN: &str = "The memory does not know.";

/// Prints what a model wrote and what holds of it.
pub(super) fn print_answer(
    ui: &mut Ui,
    asking: &Asking<'_>,
    answered: &Answered,
) -> Result<(), OpError> {
    let Answered { answer, failure, is_shown, .. } = answered;
    let memories: Vec<Memory> =
        answer.ids().iter().filter_map(|id| Memory::find(asking, id)).collect();
    if ui.is_json() {
        return ui.json(&object(asking, answered, &memories));
    }
    if answer.said.is_empty() {
        ui.line(NOT_KNOWN)?;
    } else if !is_shown {
        ui.text(&answer.text())?;
    }
    if !memories.is_empty() {
        ui.line("")?;
    }
    for memory in &memories {
        memory.print(ui)?;
    }
    if let Some(left_out) = left_out(&answer.doubts) {
        ui.status(ui.paint(Role::Faint, left_out))?;
    }
    if let Some(failure) = failure {
        ui.warning(
            format!("The answer is not whole: {}", failure.message),
            failure.hints.first().map(String::as_str),
        );
    }
    Ok(())
}

/// Prints memories as the answer.
pub(super) fn print_told(
    ui: &mut Ui,
    asking: &Asking<'_>,
    told: &[Told],
    failure: Option<&OpError>,
) -> Result<(), OpError> {
    if ui.is_json() {
        return ui.json(&told_object(asking, told, failure));
    }
    if told.is_empty() {
        return ui.line(NOT_KNOWN);
    }
    for (number, told) in told.iter().enumerate() {
        if number == 1 {
            ui.line("\nSee also:")?;
        }
        let passage = &told.passage;
        let title = ui.paint(Role::Title, Shown(&passage.title).one_line());
        let id = ui.paint(Role::Id, format!("[{}]", passage.id));
        let mut notes = Vec::new();
        if passage.status != Status::Active {
            notes.push(passage.status.as_str().to_owned());
        }
        notes.extend(same_id(asking, &passage.id, passage.shelf));
        let note = notes.iter().map(|note| format!(" ({note})")).collect::<String>();
        ui.line(format!("{title} {id}{note}"))?;
        print_claims(ui, &passage.unverified())?;
        if !told.line.is_empty() {
            ui.line(format!("    {}", Shown(&told.line).one_line()))?;
        }
        if let Some(quote) = quote(passage) {
            ui.line(format!("    {}", ui.paint(Role::Faint, quote)))?;
        }
    }
    Ok(())
}

/// Says what a memory overturned by nothing but its own claim.
fn print_claims(ui: &mut Ui, ids: &[&MemoryId]) -> Result<(), OpError> {
    match not_verified(ids) {
        Some(note) => ui.line(format!("    {}", ui.paint(Role::Warning, note))),
        None => Ok(()),
    }
}

/// From which store a memory is, where another one has the same id.
fn same_id(asking: &Asking<'_>, id: &MemoryId, number: usize) -> Option<String> {
    let whose = asking.whose.get(number)?.as_str();
    let others = asking.also_in(id, number);
    (!others.is_empty()).then(|| format!("{whose}; also in {}", others.join(", ")))
}

/// What proves a memory, in one line; nothing where the memory says it in the same words.
fn quote(passage: &Passage) -> Option<String> {
    let own = folded(&passage.words_of_its_own());
    let quote = passage.quotes.iter().find(|quote| !own.contains(&folded(&quote.text)))?;
    let text = quoted(&quote.text);
    let day = quote.at.get(..10).unwrap_or_default();
    Some(format!("{}: \"{text}\" ({})", speaker(quote.speaker), Shown(day).one_line()))
}

/// A quote on one line, not too long.
fn quoted(text: &str) -> String {
    Shown(&folded(text)).one_line().chars().take(MAX_QUOTE_CHARS).collect()
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What was left out of an answer, in one sentence.
fn left_out(doubts: &Doubts) -> Option<String> {
    let n: usize = doubts.values().sum();
    let why: Vec<String> =
        doubts.iter().map(|(doubt, n)| format!("{n} {}", doubt.told())).collect();
    match n {
        0 => None,
        1 => Some(format!("1 sentence was left out: {}.", why.join(", "))),
        n => Some(format!("{n} sentences were left out: {}.", why.join(", "))),
    }
}

/// A memory that an answer cites, as it is now.
struct Memory {
    id: MemoryId,
    word: &'static str,
    title: String,
    status: &'static str,
    scope: &'static str,
    path: String,
    quote: Option<(String, &'static str)>,
    /// What it overturned by nothing but its own claim.
    unverified: Vec<MemoryId>,
    also_in: Vec<&'static str>,
    same_id: Option<String>,
}

impl Memory {
    fn find(asking: &Asking<'_>, id: &MemoryId) -> Option<Self> {
        let number = asking.shelf_of(id)?;
        let (shelf, whose) = (asking.shelves.get(number)?, asking.whose.get(number)?);
        let memory = shelf.store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id)?;
        let evidence = shelf.store.evidence(id).ok().flatten();
        let quote = evidence.and_then(|evidence| evidence.quotes.into_iter().next());
        let kind = memory.kind.map(nacre_core::memory::LearningKind::as_str);
        Some(Self {
            id: id.clone(),
            word: kind.unwrap_or(memory.at.memory_type.as_str()),
            title: shelf.store.redacted(&memory.title),
            status: memory.status.as_str(),
            scope: whose.as_str(),
            path: shelf.store.path().join(memory.at.path.as_str()).display().to_string(),
            quote: quote
                .map(|quote| (shelf.store.redacted(quote.text.trim()), speaker(quote.speaker))),
            unverified: shelf.store.unverified_claims(&memory),
            also_in: asking.also_in(id, number),
            same_id: same_id(asking, id, number),
        })
    }

    fn print(&self, ui: &mut Ui) -> Result<(), OpError> {
        let note = self.same_id.as_ref().map(|note| format!("  ({note})")).unwrap_or_default();
        ui.table(&[vec![
            (Role::Id, self.id.to_string()),
            (Role::Faint, self.word.to_owned()),
            (Role::Title, Shown(&self.title).one_line() + &note),
        ]])?;
        print_claims(ui, &self.unverified.iter().collect::<Vec<_>>())?;
        let Some((quote, who)) = &self.quote else { return Ok(()) };
        let quote = format!("{who}: \"{}\"", quoted(quote));
        ui.line(format!("    {}", ui.paint(Role::Faint, quote)))
    }

    fn value(&self) -> Value {
        json!({
            "id": self.id, "type": self.word, "title": self.title, "status": self.status,
            "scope": self.scope, "path": self.path,
            "quote": self.quote.as_ref().map(|(quote, _)| quote),
            "not_verified": self.unverified, "also_in": self.also_in,
        })
    }
}

fn object(asking: &Asking<'_>, answered: &Answered, memories: &[Memory]) -> Value {
    let Answered { answer, failure, outcome, .. } = answered;
    let facts = &outcome.facts;
    let sentences: Vec<Value> = answer
        .said
        .iter()
        .map(|said| json!({ "text": said.text, "ids": said.ids, "messages": said.places }))
        .collect();
    let left_out: Map<String, Value> =
        answer.doubts.iter().map(|(doubt, n)| (doubt.as_str().to_owned(), json!(n))).collect();
    json!({
        "question": asking.question,
        "by": "model",
        "known": !answer.said.is_empty(),
        "answer": (!answer.said.is_empty()).then(|| answer.text()),
        "sentences": sentences,
        "memories": memories.iter().map(Memory::value).collect::<Vec<_>>(),
        "messages": answer.places(),
        "left_out": left_out,
        "broken": asking.n_broken,
        "error": failure.as_ref().map(|failure| &failure.message),
        "steps": facts.steps,
        "tool_calls": facts.tool_calls,
        "tokens": { "input": facts.usage.total() - facts.usage.output, "output": facts.usage.output },
        "cost_usd": facts.cost.map(Cost::dollars),
    })
}

fn told_object(asking: &Asking<'_>, told: &[Told], failure: Option<&OpError>) -> Value {
    let memory = |told: &Told| {
        let passage = &told.passage;
        let whose = asking.whose.get(passage.shelf).map(|whose| whose.as_str());
        json!({
            "id": passage.id, "type": passage.word(), "title": passage.title,
            "status": passage.status.as_str(), "scope": whose, "score": passage.score,
            "line": told.line,
            "quote": passage.quotes.first().map(|quote| &quote.text),
            "not_verified": passage.unverified(),
            "also_in": asking.also_in(&passage.id, passage.shelf),
        })
    };
    let said = told.first().map(|told| {
        let Told { passage, line } = told;
        let line = if line.is_empty() { String::new() } else { format!("\n{line}") };
        format!("{} [{}]{line}", passage.title, passage.id)
    });
    json!({
        "question": asking.question,
        "by": "memories",
        "known": !told.is_empty(),
        "answer": said,
        "memories": told.iter().map(memory).collect::<Vec<_>>(),
        "broken": asking.n_broken,
        "error": failure.map(|failure| &failure.message),
    })
}
