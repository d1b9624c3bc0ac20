//! Memories as the answer.

use nacre_api::wire::{MemoryAnswer, RecalledMemory, RecalledQuote};
use nacre_engine::flows::ask::Told;
use nacre_engine::tools::Passage;

use super::Asking;
use crate::error::OpError;
use crate::operations::memory::{label, speaker};

pub(super) fn answer(asking: &Asking<'_>, told: &[Told], failure: Option<OpError>) -> MemoryAnswer {
    MemoryAnswer {
        question: asking.question.to_owned(),
        known: !told.is_empty(),
        answer: told.first().map(in_short),
        memories: told.iter().map(|told| recalled(asking, told)).collect(),
        broken: asking.n_broken,
        error: failure.map(|failure| failure.message),
    }
}

fn in_short(told: &Told) -> String {
    let Told { passage, line } = told;
    let line = if line.is_empty() { String::new() } else { format!("\n{line}") };
    format!("{} [{}]{line}", passage.title, passage.id)
}

fn recalled(asking: &Asking<'_>, told: &Told) -> RecalledMemory {
    let Told { passage, line } = told;
    RecalledMemory {
        id: passage.id.to_string(),
        r#type: passage.word().to_owned(),
        title: passage.title.clone(),
        status: passage.status.as_str().to_owned(),
        scope: asking.scope_of(passage.store),
        project: asking.project_of(passage.store),
        score: passage.score,
        line: line.clone(),
        quote: passage.quotes.first().map(|quote| quote.text.clone()),
        proof: proof(passage),
        not_verified: passage.unverified().iter().map(ToString::to_string).collect(),
        also_in: asking.also_in(&passage.id, passage.store),
        trust: label(passage.trust),
    }
}

/// The first quote that says more than the memory itself.
fn proof(passage: &Passage) -> Option<RecalledQuote> {
    let quote = passage.quotes.iter().find(|quote| passage.says_more(quote))?;
    Some(RecalledQuote {
        text: quote.text.clone(),
        speaker: speaker(quote.speaker),
        at: quote.at.clone(),
    })
}
