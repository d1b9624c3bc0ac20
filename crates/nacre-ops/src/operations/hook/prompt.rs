//! A person asks something: the memories that fit, or nothing.

use nacre_api::wire::{HookContextReport, HookPromptRequest};
use nacre_core::search::{Builtin, MemoryIndex, TokenCounter};
use nacre_core::transcript::injected::{Author, MEMORY_TAG, marked, split_user};
use nacre_engine::flows::brief::Source;
use nacre_engine::flows::prompted::{Prompt, prompted};

use super::session::{SessionNotes, claim};
use crate::error::OpError;
use crate::host::Host;

pub fn prompt(host: &Host, request: &HookPromptRequest) -> Result<HookContextReport, OpError> {
    let budget = host.settings().hooks.prompt_tokens;
    let text = own_words(&request.prompt);
    if budget == 0 || text.is_empty() {
        return Ok(HookContextReport::default());
    }
    let stores = host.stores_to_read(None)?;
    let notes = SessionNotes::open(host, &request.session)?;
    let model = Builtin::shipped()?;
    let mut indexes: Vec<MemoryIndex<'_>> = Vec::new();
    for scoped in &stores {
        indexes.push(host.quick_index(scoped, &model)?);
    }
    let sources: Vec<Source<'_>> = stores
        .iter()
        .zip(&indexes)
        .map(|(scoped, index)| Source { store: &scoped.store, index, scope: scoped.scope.as_str() })
        .collect();
    let is_told = |id: &str| notes.is_told(id);
    let asked = Prompt { text: &text, budget, is_told: &is_told };
    let mut told = prompted(&sources, &asked, &model, &TokenCounter::shipped()?)?;
    let is_behind = indexes.iter().any(|index| index.n_postponed() > 0);
    if told.items.is_empty() {
        return Ok(HookContextReport { is_behind, ..HookContextReport::default() });
    }
    let found: Vec<String> = told.items.iter().map(|item| item.id.clone()).collect();
    let memories = claim(host, &request.session, &found)?;
    told.items.retain(|item| memories.contains(&item.id));
    let text = told.text();
    let text = if text.is_empty() { text } else { marked(MEMORY_TAG, &text) };
    Ok(HookContextReport { text, memories, tokens: told.tokens, is_behind })
}

/// A prompt without what programs put into it.
fn own_words(prompt: &str) -> String {
    let pieces = split_user(prompt).into_iter();
    let own = pieces.filter(|piece| matches!(piece.author, Author::Person(_)));
    own.map(|piece| piece.text.into_owned()).collect::<Vec<_>>().join("\n").trim().to_owned()
}
