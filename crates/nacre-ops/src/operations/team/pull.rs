//! Brings the memories of a project from a server. A person's own stay as they are.

use nacre_api::wire::{
    HandOverReport, HandOverRequest, OfferReport, OfferedMemory, PullReport, PullRequest,
};
use nacre_core::base::ContentHash;
use nacre_core::memory::{Batch, Brought, ForeignMemory, MemoryId, Store};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use super::remote::Remote;
use super::take_in::{MAX_MEMORIES, core_type};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::recording::CommandChange;
use crate::operations::team_state::{self as state, TeamState, Version};

/// Memories that one pull brings. The next one goes on.
const MAX_BROUGHT: usize = 2000;

/// Pages of a list; a server that offers more is not believed.
const MAX_PAGES: usize = 200;

pub fn pull(host: &Host, request: &PullRequest, events: &Events) -> Result<PullReport, OpError> {
    let PullRequest { dry_run } = request;
    let remote = Remote::open(host, None, None)?;
    let mut state = state::read(host, &remote.url, &remote.project)?;
    let mut report = PullReport {
        from: remote.url.clone(),
        project: remote.project.clone(),
        dry_run: *dry_run,
        new: Vec::new(),
        updated: Vec::new(),
        differ: Vec::new(),
        same: 0,
        forgotten: 0,
        waiting: 0,
        change: None,
    };
    let offered = offered(&remote, events)?;
    let store = &remote.scoped.store;
    let mut wanted = wanted(store, &state, offered, &mut report)?;
    if *dry_run {
        let is_new = |id: &String| !state.came.contains_key(id);
        let ids = wanted.into_iter().map(|(memory, _)| memory.id);
        (report.new, report.updated) = ids.partition(is_new);
        return Ok(report);
    }
    report.waiting = wanted.len().saturating_sub(MAX_BROUGHT);
    wanted.truncate(MAX_BROUGHT);
    if !wanted.is_empty() {
        let brought = fetch(&remote, &wanted, events)?;
        store_all(host, &remote, &brought, &mut state, &mut report)?;
        state::write(host, (&remote.url, &remote.project), &state)?;
    }
    Ok(report)
}

/// All that the server has.
fn offered(remote: &Remote<'_>, events: &Events) -> Result<Vec<OfferedMemory>, OpError> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..MAX_PAGES {
        events.cancel().check()?;
        let query: Vec<(&str, &str)> =
            after.iter().map(|after| ("after", after.as_str())).collect();
        let OfferReport { memories, more } = remote.get("/api/pull", &query)?;
        all.extend(memories);
        match more {
            // A list that does not go on would never end.
            Some(more) if after.as_ref() < Some(&more) => after = Some(more),
            Some(_) | None => break,
        }
    }
    Ok(all)
}

/// A memory to bring, and the hash of the version here that it may replace.
type Wanted = (OfferedMemory, Option<ContentHash>);

/// What is to be brought: what is not here, and what came before, was changed there and not here.
fn wanted(
    store: &Store,
    state: &TeamState,
    offered: Vec<OfferedMemory>,
    report: &mut PullReport,
) -> Result<Vec<Wanted>, OpError> {
    let mut wanted = Vec::new();
    for memory in offered {
        let Ok(id) = memory.id.parse::<MemoryId>() else { continue };
        let came = state.came.get(&memory.id);
        let here = match store.places(&id)?.first() {
            Some(at) => Some(ContentHash::of(&store.read_file(&at.path)?)),
            None => None,
        };
        let is_known = came.is_some_and(|came| came.there == memory.hash);
        let unchanged =
            came.and_then(|came| came.here.parse().ok()).filter(|was| here == Some(*was));
        match here {
            Some(hash) if is_known || hash.to_string() == memory.hash => report.same += 1,
            None if is_known => report.forgotten += 1,
            None => wanted.push((memory, None)),
            Some(_) if unchanged.is_some() => wanted.push((memory, unchanged)),
            Some(_) => report.differ.push(memory.id),
        }
    }
    Ok(wanted)
}

/// A memory with its files, the version that it is there, and the one that it may replace here.
struct Fetched {
    memory: nacre_api::wire::MovedMemory,
    there: String,
    replaces: Option<ContentHash>,
}

fn fetch(remote: &Remote<'_>, wanted: &[Wanted], events: &Events) -> Result<Vec<Fetched>, OpError> {
    let mut fetched = Vec::new();
    for part in wanted.chunks(MAX_MEMORIES) {
        events.cancel().check()?;
        let ids = part.iter().map(|(memory, _)| memory.id.clone()).collect();
        let HandOverReport { memories } = remote.post("/api/pull", &HandOverRequest { ids })?;
        for memory in memories {
            let asked = part.iter().find(|(offered, _)| offered.id == memory.id);
            // What nobody asked for does not come.
            let Some((OfferedMemory { hash, .. }, replaces)) = asked else { continue };
            if fetched.iter().any(|before: &Fetched| before.memory.id == memory.id) {
                continue;
            }
            fetched.push(Fetched { memory, there: hash.clone(), replaces: *replaces });
        }
    }
    Ok(fetched)
}

/// Writes what came, all or none, as one change that can be undone.
fn store_all(
    host: &Host,
    remote: &Remote<'_>,
    fetched: &[Fetched],
    state: &mut TeamState,
    report: &mut PullReport,
) -> Result<(), OpError> {
    let store = &remote.scoped.store;
    let mut batch = store.begin(&host.owner("pull"), host.settings().lock.wait)?;
    for one in fetched {
        let id = one.memory.id.clone();
        match bring(&mut batch, one) {
            Some(Brought::New) => report.new.push(id),
            Some(Brought::Updated) => report.updated.push(id),
            Some(Brought::Same) => report.same += 1,
            Some(Brought::Forgotten) => report.forgotten += 1,
            Some(Brought::Differs) | None => report.differ.push(id),
        }
    }
    if !report.new.is_empty() || !report.updated.is_empty() {
        let command = CommandChange::new(RunMode::Import, "pull");
        command.commit(host, &remote.scoped, batch, Reversal::Plan)?;
        report.change = command.id();
    }
    for one in fetched {
        let Ok(id) = one.memory.id.parse::<MemoryId>() else { continue };
        let Some(at) = store.places(&id)?.into_iter().next() else { continue };
        let here = ContentHash::of(&store.read_file(&at.path)?).to_string();
        let is_ours = report.differ.contains(&one.memory.id);
        if !is_ours {
            state.came.insert(one.memory.id.clone(), Version { there: one.there.clone(), here });
        }
    }
    Ok(())
}

/// Stages one; nothing where it makes no sense.
fn bring(batch: &mut Batch<'_>, fetched: &Fetched) -> Option<Brought> {
    let memory = &fetched.memory;
    let id = memory.id.parse::<MemoryId>().ok()?;
    let (text, evidence) = (memory.text.as_str(), memory.evidence.as_deref());
    let memory_type = core_type(memory.r#type)?;
    let foreign = ForeignMemory { id: &id, memory_type, text, evidence };
    batch.bring(&foreign, fetched.replaces).ok()
}
