//! An answer as it is printed: what was said, what proves it, and what was left out.

use std::collections::BTreeMap;

use nacre_api::wire::{
    CitedMemory, MemoryAnswer, ModelAnswer, RecalledMemory, RecalledQuote, SentenceDoubt,
    StoreScope,
};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::ui::{Role, Ui};
use super::sources::{print_messages, quoted, said_by};

/// Ids that a line names.
const MAX_CLAIMS: usize = 3;

const NOT_KNOWN: &str = "The memory does not know.";

/// Prints what a model wrote and what holds of it.
pub(super) fn print_answer(ui: &mut Ui, answer: &ModelAnswer) -> Result<(), OpError> {
    match &answer.answer {
        None => ui.line(NOT_KNOWN)?,
        // Who watches has seen it grow.
        Some(_) if ui.is_watched() => {}
        Some(text) => ui.text(text)?,
    }
    if !answer.memories.is_empty() {
        ui.line("")?;
    }
    for memory in &answer.memories {
        print_cited(ui, memory)?;
    }
    print_messages(ui, answer)?;
    if let Some(left_out) = left_out(&answer.left_out) {
        ui.status(ui.paint(Role::Faint, left_out))?;
    }
    if let Some(failure) = &answer.failure {
        ui.warning(
            format!("The answer is not whole: {}", failure.message),
            failure.hints.first().map(String::as_str),
        );
    }
    Ok(())
}

/// Prints memories as the answer.
pub(super) fn print_memories(ui: &mut Ui, answer: &MemoryAnswer) -> Result<(), OpError> {
    if !answer.known {
        return ui.line(NOT_KNOWN);
    }
    for (number, memory) in answer.memories.iter().enumerate() {
        if number == 1 {
            ui.line("\nSee also:")?;
        }
        print_recalled(ui, memory)?;
    }
    Ok(())
}

fn print_recalled(ui: &mut Ui, memory: &RecalledMemory) -> Result<(), OpError> {
    let title = ui.paint(Role::Title, Shown(&memory.title).one_line());
    let id = ui.paint(Role::Id, format!("[{}]", memory.id));
    let mut notes = Vec::new();
    if memory.status != "active" {
        notes.push(memory.status.clone());
    }
    notes.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    notes.extend(memory.project.as_ref().map(|name| Shown(name).one_line()));
    notes.extend(same_id(memory.scope, &memory.also_in).filter(|_| memory.project.is_none()));
    let note = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    ui.line(format!("{title} {id}{note}"))?;
    print_claims(ui, &memory.not_verified)?;
    if !memory.line.is_empty() {
        ui.line(format!("    {}", Shown(&memory.line).one_line()))?;
    }
    if let Some(RecalledQuote { text, speaker, at }) = &memory.proof {
        let day = match at.get(..10) {
            Some(day) => format!(" ({})", Shown(day).one_line()),
            None => String::new(),
        };
        let quote = format!("{}: \"{}\"{day}", said_by(*speaker), quoted(text));
        ui.line(format!("    {}", ui.paint(Role::Faint, quote)))?;
    }
    Ok(())
}

fn print_cited(ui: &mut Ui, memory: &CitedMemory) -> Result<(), OpError> {
    let project = memory.project.as_ref().map(|name| Shown(name).one_line());
    let note = project.or_else(|| same_id(memory.scope, &memory.also_in));
    let note = note.map(|note| format!("  ({note})")).unwrap_or_default();
    ui.table(&[vec![
        (Role::Id, memory.id.clone()),
        (Role::Faint, memory.r#type.clone()),
        (Role::Title, Shown(&memory.title).one_line() + &note),
    ]])?;
    print_claims(ui, &memory.not_verified)?;
    let Some((quote, speaker)) = memory.quote.as_ref().zip(memory.speaker) else { return Ok(()) };
    let quote = format!("{}: \"{}\"", said_by(speaker), quoted(quote));
    ui.line(format!("    {}", ui.paint(Role::Faint, quote)))
}

/// Says what a memory overturned by nothing but its own claim.
fn print_claims(ui: &mut Ui, ids: &[String]) -> Result<(), OpError> {
    if ids.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = ids.iter().take(MAX_CLAIMS).map(String::as_str).collect();
    let more = match ids.len().saturating_sub(MAX_CLAIMS) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let note = format!("supersedes {}{more}; not verified", named.join(", "));
    ui.line(format!("    {}", ui.paint(Role::Warning, note)))
}

/// From which store a memory is, where another one has the same id.
fn same_id(scope: StoreScope, also_in: &[StoreScope]) -> Option<String> {
    let others: Vec<&str> = also_in.iter().map(|scope| scope.as_str()).collect();
    (!others.is_empty()).then(|| format!("{}; also in {}", scope.as_str(), others.join(", ")))
}

/// What was left out of an answer, in one sentence.
fn left_out(doubts: &BTreeMap<SentenceDoubt, usize>) -> Option<String> {
    let n: usize = doubts.values().sum();
    let why: Vec<String> =
        doubts.iter().map(|(doubt, n)| format!("{n} {}", doubt.reason())).collect();
    match n {
        0 => None,
        1 => Some(format!("1 sentence was left out: {}.", why.join(", "))),
        n => Some(format!("{n} sentences were left out: {}.", why.join(", "))),
    }
}
