//! Runs at the start of a session, and returns the brief within its budget.

use nacre_traces::transcript::injected::{BRIEF_TAG, marked};
use nacre_types::{BriefReport, BriefRequest, HookReport, HookSession, HookSource};

use super::session::{PATIENCE, SessionNotes, folder, prune};
use crate::brief::quick_brief;
use crate::error::OpError;
use crate::host::Host;

/// Agents cut text out of the middle of a hook's output if it is longer than this.
const MAX_BYTES: usize = 9_000;

/// Percentages of the budget to try in turn until the text is short enough.
const SHARES: [usize; 3] = [100, 60, 30];

pub fn start(
    host: &Host,
    session: &HookSession,
    source: HookSource,
) -> Result<HookReport, OpError> {
    let budget = host.settings().hooks.start_tokens;
    // If there is no store, no file is written.
    if budget == 0 || host.stores_to_read(None)?.is_empty() {
        return Ok(HookReport::default());
    }
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = SessionNotes::open(host, session)?;
    if source == HookSource::Forgotten {
        notes.forget();
    }
    if notes.is_briefed() {
        return Ok(HookReport::default());
    }
    let (brief, is_behind) = brief_in_bounds(host, budget, notes.told())?;
    if brief.text.is_empty() {
        return Ok(HookReport { is_behind, ..HookReport::default() });
    }
    let items = brief.sections.iter().flat_map(|section| &section.items);
    let mut memories: Vec<String> = items.map(|item| item.id.clone()).collect();
    memories.sort_unstable();
    memories.dedup();
    notes.note_brief(&memories);
    notes.save(host, &folder)?;
    // Errors are ignored, because the next run removes the remaining files.
    let _ = prune(&writer);
    let text = marked(BRIEF_TAG, &brief.text);
    Ok(HookReport { text, is_behind, ..HookReport::default() })
}

/// Returns a brief that is short enough for all agents.
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
