//! Runs when the user sends a prompt, and returns the memories that match it, if any.

use nacre_memory::recall::{Prompt, Source, match_prompt};
use nacre_memory::search::{Builtin, MemoryIndex, TokenCounter};
use nacre_traces::transcript::injected::{MEMORY_TAG, marked};
use nacre_types::{HookReport, HookSession};

use super::session::{SessionNotes, claim};
use super::situation::{own_words, past_messages};
use crate::error::OpError;
use crate::host::Host;

/// Maximum number of tokens for the memories added to all prompts of a session.
const MAX_SESSION_TOKENS: usize = 4_000;

/// `trace` is the path of the session's transcript, if the agent provides it.
pub fn prompt(
    host: &Host,
    session: &HookSession,
    prompt: &str,
    trace: Option<&str>,
) -> Result<HookReport, OpError> {
    let budget = host.settings().hooks.prompt_tokens;
    let text = own_words(prompt);
    if budget == 0 || text.is_empty() {
        return Ok(HookReport::default());
    }
    let stores = host.stores_to_read(None)?;
    let notes = SessionNotes::open(host, session)?;
    let budget = budget.min(MAX_SESSION_TOKENS.saturating_sub(notes.n_tokens()));
    let model = Builtin::shipped()?;
    let mut indexes: Vec<MemoryIndex<'_>> = Vec::new();
    for scoped in &stores {
        indexes.push(host.quick_index(scoped, &model)?);
    }
    let sources = stores.iter().zip(&indexes);
    let sources: Vec<Source<'_>> =
        sources.map(|(scoped, index)| Source { index, scope: scoped.scope }).collect();
    let is_told = |id: &str| notes.is_told(id);
    let mut past = trace.map_or_else(Vec::new, |trace| past_messages(host, session, trace));
    // Some agents add the prompt to the transcript before they call the hook.
    past.pop_if(|last| *last == text);
    let asked = Prompt { text: &text, past: &past, budget, is_told: &is_told };
    let mut told = match_prompt(&sources, &asked, &model, &TokenCounter::shipped()?)?;
    let is_behind = indexes.iter().any(|index| index.n_postponed() > 0);
    if told.items.is_empty() {
        return Ok(HookReport { is_behind, ..HookReport::default() });
    }
    let mut found: Vec<String> = told.items.iter().map(|item| item.id.clone()).collect();
    found.extend(told.twins.iter().cloned());
    let memories = claim(host, session, &found, told.tokens)?;
    told.items.retain(|item| memories.contains(&item.id));
    let text = told.text();
    let text = if text.is_empty() { text } else { marked(MEMORY_TAG, &text) };
    Ok(HookReport { text, is_behind, ..HookReport::default() })
}
