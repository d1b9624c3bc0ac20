//! Finds the existing memories to show to the model that reads a session, and verifies what the
//! model says about them.

use std::collections::HashMap;

use nacre_memory::search::{MemoryIndex, MemoryOptions, Mode, Query};
use nacre_memory::{
    Band, Decision, Likeness, Memory, MemoryId, Profile, Proposal, Quote, Relation, Speaker, Store,
    StoreArea, Trust, is_amendment, may_repeat, settle_with_ruling,
};

use super::Result;
use super::decide::{is_open, neighbour};
use crate::sync::candidate::Candidate;
use crate::sync::strategy::KnownMemory;

/// Maximum number of memories to show for one window.
const MAX_KNOWN: usize = 24;
/// Maximum number of messages to search for, and of memories to find for each.
const MAX_SEARCHES: usize = 48;
const MAX_NEAR: usize = 4;
/// Maximum length of the part of a message to search for.
const MAX_QUERY_BYTES: usize = 600;
/// Messages with fewer words, such as "yes, do it", name no topic.
const MIN_WORDS: usize = 4;

/// Minimum share of a title's terms that a memory contains if the claim restates it.
const MIN_RESTATED: f32 = 0.9;

/// Returns the memories that are most similar to the messages, nearest first. Memories that agents
/// are not offered are left out.
pub(super) fn find_known(
    store: &Store,
    index: &MemoryIndex<'_>,
    said: &[&str],
) -> Vec<KnownMemory> {
    let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_NEAR, archived: false };
    let mut found: HashMap<MemoryId, (f32, Memory)> = HashMap::new();
    let messages = said.iter().filter(|text| text.split_whitespace().count() >= MIN_WORDS);
    for text in messages.take(MAX_SEARCHES) {
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let query = Query::plain(text).with_facet("type", "decision");
        let near = index.search(&query.with_facet("type", "learning"), &options);
        for (rank, hit) in near.hits.into_iter().enumerate() {
            let id = hit.memory.at.id.clone();
            found.entry(id).or_insert((0.0, hit.memory)).0 += 1.0 / (rank + 1) as f32;
        }
    }
    let mut found: Vec<(f32, Memory)> = found
        .into_values()
        .filter(|(_, memory)| is_open(memory.status) && store.trust_of(memory).is_offered())
        .collect();
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.at.id.cmp(&other.at.id)));
    let shown = found.into_iter().take(MAX_KNOWN);
    shown
        .map(|(_, memory)| KnownMemory {
            title: store.redact_text(&memory.title),
            memory_type: memory.at.memory_type,
            said: memory.updated.or(memory.created),
            id: memory.at.id,
        })
        .collect()
}

/// Decides about a claim that replaces or confirms a memory according to the model that read the
/// session. Returns `None` if this cannot be verified.
pub(super) fn decide_link(
    store: &Store,
    candidate: &Candidate,
    proposal: &Proposal,
    otherwise: &Decision,
) -> Result<Option<Decision>> {
    let Some(link) = &candidate.link else { return Ok(None) };
    let memory = store.get(link.id.as_str()).ok().filter(|memory| memory.at.id == link.id);
    let is_usable = |memory: &Memory| {
        memory.at.area == StoreArea::Active
            && is_open(memory.status)
            && store.trust_of(memory).is_offered()
    };
    let Some(memory) = memory.filter(is_usable) else { return Ok(None) };
    let target = neighbour(store, &memory, Likeness::default())?;
    let title = Profile::of(&candidate.title, "");
    let claim = if link.is_replaced { &proposal.profile } else { &title };
    let is_restated =
        may_repeat(claim, &target.profile) && MIN_RESTATED <= title.share_held_by(&target.profile);
    let is_newer = proposal.said.zip(target.said).is_some_and(|(said, known)| known < said);
    let relation = if is_restated {
        Relation::Same
    } else if link.is_replaced && is_newer && are_for_replacement(store, candidate, &memory) {
        Relation::Contradicts
    } else {
        return Ok(None);
    };
    let decision = settle_with_ruling(otherwise, proposal, &target, relation);
    Ok(Some(Decision { band: Band::Clear, ..decision }))
}

/// Returns whether a quote is about the memory. To replace what the user wrote or confirmed, the
/// user must also say in that quote that something changes.
fn are_for_replacement(store: &Store, candidate: &Candidate, memory: &Memory) -> bool {
    let known = Profile::of(&memory.title, memory.document.body());
    let is_users = store.trust_of(memory) == Trust::Human;
    candidate.quotes.iter().any(|Quote { text, speaker, .. }| {
        let quote = Profile::of(text, "");
        let is_about = quote.topics().any(|topic| known.topics().any(|known| known == topic));
        let is_change = is_amendment(text) || quote.announces_change();
        is_about && (!is_users || (*speaker <= Speaker::User && is_change))
    })
}
