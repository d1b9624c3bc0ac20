//! The operations that agent hooks run, one per event. A hook must not block for long or make its
//! agent fail.
//!
//! Hooks run often and while the user is waiting, so they do little work. They check only directory
//! timestamps, flush nothing to disk, and leave slow work to `upkeep` in the background.

mod before_tool;
mod log;
mod situation;
mod upkeep;

use std::time::Duration;

use nacre_base::config::NACRE_HOOKS_DEADLINE_MS;
use nacre_memory::recall::{Occasion, Prompt, match_prompt, short_ids};
use nacre_memory::search::MemoryIndex;
use nacre_traces::transcript::injected::{BRIEF_TAG, MEMORY_TAG, wrap_in_tag};
use nacre_types::{
    ErrorCode, HookEndRequest, HookPromptRequest, HookQuestion, HookReport, HookRequest,
    HookSession, HookSource, LoopName,
};

pub use self::before_tool::{ToolGuard, before_tool};
pub(crate) use self::log::last_failure;
pub use self::log::log_failure;
use self::situation::{own_words, past_messages};
use self::upkeep::Stamp;
pub use self::upkeep::{note_sync, upkeep};
pub(super) use self::upkeep::{prune_sessions, refresh_index};
use crate::brief::{quick_brief, sources};
use crate::error::{OpError, Result};
use crate::hook_notes::{MAX_SESSION_TOKENS, Notes, PATIENCE, claim, folder, note_prompted, prune};
use crate::host::{Environment, Host};

/// The default value of `hooks.deadline_ms`.
const USUAL_DEADLINE_MS: u64 = 200;

/// Returns a hook's deadline before the settings are read: the value of the environment variable,
/// or else the default.
pub fn hook_deadline(environment: &Environment) -> Duration {
    let set = environment.var(NACRE_HOOKS_DEADLINE_MS).and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(USUAL_DEADLINE_MS))
}

/// Runs the operation for a hook. The same code runs in the hook's own process and in the server.
pub fn answer(host: &Host, question: &HookQuestion) -> Result<HookReport> {
    match question {
        HookQuestion::Start { session, source } => start(host, session, *source),
        HookQuestion::Prompt(request) => prompt(host, request),
        HookQuestion::BeforeTool(request) => before_tool(host, request),
        HookQuestion::End(request) => end(host, request),
    }
}

/// Runs the operation for a hook in the server. Returns an error if the hook and the server have
/// different versions.
pub fn answer_request(host: &Host, request: &HookRequest) -> Result<HookReport> {
    let own = env!("CARGO_PKG_VERSION");
    if request.version != own {
        let message = format!("The server's version is {own}");
        return Err(OpError::new(ErrorCode::Conflict, message));
    }
    answer(host, &request.question)
}

/// Maximum number of tokens in the brief for a subagent, which usually has one small task.
const MAX_SUBAGENT_TOKENS: usize = 300;

/// Runs at the start of a session or subagent and returns a brief that fits the budget.
pub fn start(host: &Host, session: &HookSession, source: HookSource) -> Result<HookReport> {
    let most = if source == HookSource::Subagent { MAX_SUBAGENT_TOKENS } else { usize::MAX };
    let budget = host.settings().hooks.start_tokens.min(most);
    // Don't write any file if there is no store.
    if budget == 0 || host.stores_to_read(None)?.is_empty() {
        return Ok(HookReport::default());
    }
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("hook"), PATIENCE)?;
    let mut notes = Notes::open(host, session)?;
    if source == HookSource::Forgotten {
        // The agent's context was cleared, so all memories may be sent again.
        notes = Notes::default();
    }
    if notes.is_briefed {
        return Ok(HookReport::default());
    }
    let (brief, is_behind) = quick_brief(host, budget, &notes.told, &session.agent)?;
    let work = is_behind.then_some(LoopName::Index);
    if brief.text.is_empty() {
        return Ok(HookReport { work, ..HookReport::default() });
    }
    let items = brief.sections.iter().flat_map(|section| &section.items);
    let mut memories: Vec<String> = items.map(|item| item.id.clone()).collect();
    memories.sort_unstable();
    memories.dedup();
    notes.is_briefed = true;
    notes.note_told(&memories);
    notes.save(host, session, &folder)?;
    // Errors are ignored, because the next run removes any remaining files.
    let _ = prune(&writer);
    let text = wrap_in_tag(BRIEF_TAG, &brief.text);
    Ok(HookReport { text, work, ..HookReport::default() })
}

/// Runs when the user sends a prompt or a shell command fails, and returns matching memories.
pub fn prompt(host: &Host, request: &HookPromptRequest) -> Result<HookReport> {
    let HookPromptRequest { session, prompt, trace, is_failure } = request;
    let budget = host.settings().hooks.prompt_tokens;
    let text = own_words(prompt);
    if budget == 0 || text.is_empty() {
        return Ok(HookReport::default());
    }
    let stores = host.stores_to_read(None)?;
    let notes = Notes::open(host, session)?;
    let budget = budget.min(MAX_SESSION_TOKENS.saturating_sub(notes.tokens));
    let mut indexes: Vec<MemoryIndex<'_>> = Vec::new();
    for scoped in &stores {
        indexes.push(host.quick_index(scoped)?);
    }
    let is_told = |id: &str| notes.is_told(id);
    let mut past = trace.as_ref().map_or_else(Vec::new, |it| past_messages(host, session, it));
    // Some agents add the prompt to the transcript before they call the hook.
    past.pop_if(|last| *last == text);
    // Some agents do not report where their transcript is, so the session notes are checked too.
    let occasion = match (*is_failure, past.is_empty() && !notes.is_prompted) {
        (true, _) => Occasion::Failure,
        (false, true) => Occasion::FirstPrompt,
        (false, false) => Occasion::Prompt,
    };
    if occasion == Occasion::FirstPrompt && !stores.is_empty() {
        note_prompted(host, session)?;
    }
    let asked = Prompt { text: &text, past: &past, budget, is_told: &is_told, occasion };
    let sources = sources(&stores, &indexes);
    let mut told = match_prompt(&sources, &asked);
    let is_behind = indexes.iter().any(|index| index.n_postponed() > 0);
    let work = is_behind.then_some(LoopName::Index);
    if told.items.is_empty() {
        return Ok(HookReport { work, ..HookReport::default() });
    }
    let mut found: Vec<String> = told.items.iter().map(|item| item.id.clone()).collect();
    found.extend(told.twins.iter().cloned());
    let memories = claim(host, session, &found, told.tokens)?;
    told.items.retain(|item| memories.contains(&item.id));
    let text = told.text(&short_ids(&sources));
    let text = if text.is_empty() { text } else { wrap_in_tag(MEMORY_TAG, &text) };
    Ok(HookReport { text, work, ..HookReport::default() })
}

/// Minimum time between syncs after turns, in seconds. A session is always read when it ends,
/// because the sync after its last turn skipped it as still active.
const AFTER_TURN: i64 = 120;

/// Runs at the end of a turn or a session, and starts a sync in the background.
pub fn end(host: &Host, request: &HookEndRequest) -> Result<HookReport> {
    let work = is_due(host, request.is_session)?.then_some(LoopName::Sync);
    Ok(HookReport { work, ..HookReport::default() })
}

/// Returns whether a sync is due. If so, updates the stamp, so that no other hook starts a sync.
fn is_due(host: &Host, is_session: bool) -> Result<bool> {
    if !host.settings().hooks.sync {
        return Ok(false);
    }
    let least = if is_session { 0 } else { AFTER_TURN };
    let now = host.now();
    let stamp = Stamp::read(host);
    // If the clock was set back, the stamp is in the future and must not prevent syncs.
    let elapsed = now.duration_since(stamp.at).as_secs();
    if (0..least.max(stamp.back_off_seconds())).contains(&elapsed) {
        return Ok(false);
    }
    Stamp { at: now, ..stamp }.save(host)?;
    Ok(true)
}
