//! A session starts: the brief, within its budget.

use nacre_api::wire::{BriefReport, BriefRequest, HookContextReport, HookSource, HookStartRequest};
use nacre_core::transcript::injected::{BRIEF_TAG, marked};

use super::session::{self, PATIENCE, SessionNotes};
use crate::error::OpError;
use crate::host::Host;
use crate::operations::brief::quick_brief;

/// What agents take of one hook's text; above it they cut the middle out.
const MAX_BYTES: usize = 9_000;

/// What is tried of a budget whose text is too long.
const SHARES: [usize; 3] = [100, 60, 30];

pub fn start(host: &Host, request: &HookStartRequest) -> Result<HookContextReport, OpError> {
    let budget = host.settings().hooks.start_tokens;
    // Where there is nothing to tell of, nothing is written either.
    if budget == 0 || host.stores_to_read(None)?.is_empty() {
        return Ok(HookContextReport::default());
    }
    let folder = session::folder(host)?;
    let writer = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = SessionNotes::open(host, &request.session)?;
    if request.source == HookSource::Forgotten {
        notes.forget();
    }
    if notes.is_briefed() {
        return Ok(HookContextReport::default());
    }
    let (brief, is_behind) = brief_in_bounds(host, budget, notes.told())?;
    if brief.text.is_empty() {
        return Ok(HookContextReport { is_behind, ..HookContextReport::default() });
    }
    let items = brief.sections.iter().flat_map(|section| &section.items);
    let mut memories: Vec<String> = items.map(|item| item.id.clone()).collect();
    memories.sort_unstable();
    memories.dedup();
    notes.note_brief(&memories);
    notes.save(host, &folder)?;
    // Best effort: what is left is removed the next time.
    let _ = session::prune(&writer);
    let text = marked(BRIEF_TAG, &brief.text);
    Ok(HookContextReport { text, memories, tokens: brief.tokens, is_behind })
}

/// A brief that no agent cuts.
fn brief_in_bounds(
    host: &Host,
    budget: usize,
    known: &[String],
) -> Result<(BriefReport, bool), OpError> {
    let mut made = None;
    for share in SHARES {
        let request =
            BriefRequest { budget: Some(budget * share / 100), ..BriefRequest::default() };
        let (brief, is_behind) = quick_brief(host, &request, known)?;
        if brief.text.len() <= MAX_BYTES {
            return Ok((brief, is_behind));
        }
        made =
            Some((BriefReport { text: String::new(), sections: Vec::new(), ..brief }, is_behind));
    }
    made.ok_or_else(|| OpError::failed("There is no brief that is short enough"))
}
