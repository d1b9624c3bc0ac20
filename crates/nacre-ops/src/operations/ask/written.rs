//! What a model wrote, with the memories that prove it as they are now.

use nacre_api::wire::{
    AnswerSentence, CitedMemory, Failure, ModelAnswer, SentenceDoubt, SourceQuote,
};
use nacre_core::memory::{LearningKind, MemoryId};
use nacre_engine::flows::ask::{self, Doubt, Said};
use nacre_engine::model::Cost;

use super::Asking;
use super::model::ModelAnswered;
use crate::operations::agent::token_use;
use crate::operations::memory::speaker;

pub(super) fn answer(asking: &Asking<'_>, answered: ModelAnswered) -> ModelAnswer {
    let ModelAnswered { answer, failure, outcome } = answered;
    let facts = &outcome.facts;
    let known = !answer.said.is_empty();
    ModelAnswer {
        question: asking.question.to_owned(),
        known,
        answer: known.then(|| answer.text()),
        sentences: answer.said.iter().map(|said| sentence(asking, said)).collect(),
        memories: answer.ids().iter().filter_map(|id| cited(asking, id)).collect(),
        messages: answer.places(),
        left_out: answer.doubts.iter().map(|(doubt, n)| (sentence_doubt(*doubt), *n)).collect(),
        broken: asking.n_broken,
        error: failure.as_ref().map(|failure| failure.message.clone()),
        steps: facts.steps,
        tool_calls: facts.tool_calls,
        tokens: token_use(facts),
        cost_usd: facts.cost.map(Cost::dollars),
        failure: failure.map(Failure::from),
    }
}

fn sentence(asking: &Asking<'_>, said: &Said) -> AnswerSentence {
    AnswerSentence {
        text: said.text.clone(),
        ids: said.ids.iter().map(ToString::to_string).collect(),
        messages: said.places.clone(),
        quotes: said.quotes.iter().map(|one| quote(asking, one)).collect(),
    }
}

fn quote(asking: &Asking<'_>, quote: &ask::SourceQuote) -> SourceQuote {
    let store = asking.stores.first();
    let text = store.map_or_else(String::new, |memories| memories.store.redacted(&quote.text));
    SourceQuote { source: quote.source.clone(), text }
}

fn sentence_doubt(doubt: Doubt) -> SentenceDoubt {
    match doubt {
        Doubt::NoSource => SentenceDoubt::NoSource,
        Doubt::NotShown => SentenceDoubt::NotShown,
        Doubt::Gone => SentenceDoubt::Gone,
        Doubt::Archived => SentenceDoubt::Archived,
        Doubt::Overturned => SentenceDoubt::Overturned,
        Doubt::Unrelated => SentenceDoubt::Unrelated,
    }
}

/// A memory that an answer cites; `None` where it went meanwhile.
fn cited(asking: &Asking<'_>, id: &MemoryId) -> Option<CitedMemory> {
    let number = asking.store_of(id)?;
    let store = &asking.stores.get(number)?.store;
    let memory = store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id)?;
    let evidence = store.proof_of(&memory);
    let quote = evidence.and_then(|evidence| evidence.quotes.into_iter().next());
    let kind = memory.kind.map(LearningKind::as_str);
    Some(CitedMemory {
        id: id.to_string(),
        r#type: kind.unwrap_or(memory.at.memory_type.as_str()).to_owned(),
        title: store.redacted(&memory.title),
        status: memory.status.as_str().to_owned(),
        scope: asking.scope_of(number),
        project: asking.project_of(number),
        path: store.path().join(memory.at.path.as_str()).display().to_string(),
        quote: quote.as_ref().map(|quote| store.redacted(quote.text.trim())),
        speaker: quote.map(|quote| speaker(quote.speaker)),
        not_verified: store.unverified_claims(&memory).iter().map(ToString::to_string).collect(),
        also_in: asking.also_in(id, number),
    })
}
