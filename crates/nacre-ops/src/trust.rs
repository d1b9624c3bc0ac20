//! Lists memories from other machines so that the owner can trust them. The owner's own edits are
//! listed only once.

use nacre_base::ShownLine;
use nacre_memory::{Actor, LastCommit, Located, Memory, MemoryError, Trust, hazards_of};
use nacre_types::{RunMode, TrustItem, TrustLevel, TrustReport, TrustRequest};

use super::memory::label_entry;
use super::recording::CommandChange;
use crate::prelude::*;
use crate::run::change::{Reversal, TrustRecord};

/// Maximum number of memories whose last commit is looked up in git.
const MAX_ASKED: usize = 50;

/// Maximum number of memories to list, because all of them are in memory at the same time.
const MAX_WAITING: usize = 1000;

pub fn trust(host: &Host, request: &TrustRequest) -> Result<TrustReport> {
    let TrustRequest { all, dry_run, scope, .. } = request;
    if !dry_run {
        host.check_user("trust a memory")?;
    }
    let mut report = TrustReport { dry_run: *dry_run, ..TrustReport::default() };
    let typed = match request.ids.as_slice() {
        [id] => format!("trust {id}"),
        _ => "trust".to_owned(),
    };
    let command = CommandChange::new(RunMode::Trust, &typed);
    let stores = host.stores_to_read(*scope)?;
    let ids = &whole_ids(&stores, &request.ids)?;
    let request = &TrustRequest { ids: ids.clone(), ..request.clone() };
    let mut found: Vec<Vec<Memory>> = Vec::new();
    for scoped in &stores {
        let (memories, n_more) = waiting(host, scoped, ids)?;
        found.push(memories);
        report.more += n_more;
    }
    let is_unknown =
        |id: &&String| !found.iter().flatten().any(|memory| memory.at.id.as_str() == *id);
    if let Some(id) = ids.iter().find(is_unknown) {
        let message = format!("No untrusted memory matches `{}`", ShownLine(id));
        return Err(OpError::not_found(message).hint("`nacre trust` lists the untrusted memories"));
    }
    for (scoped, waiting) in stores.iter().zip(&found) {
        take(host, scoped, request, &command, waiting, &mut report)?;
        if request.diff && ids.is_empty() && !all {
            report.memories.extend(show_edits(host, scoped)?);
        }
    }
    report.change = command.id();
    if !ids.is_empty() || *all {
        report.memories.retain(|one| is_chosen(request, one));
    }
    Ok(report)
}

/// Returns the untrusted memories, and the number of memories beyond the limit. If `ids` is not
/// empty, returns only memories with these ids.
fn waiting(host: &Host, scoped: &ScopedStore, ids: &[String]) -> Result<(Vec<Memory>, usize)> {
    let is_wanted = |at: &Located| ids.is_empty() || ids.iter().any(|id| at.id.as_str() == id);
    let find = || -> Result<(Vec<Memory>, usize)> {
        let files: Vec<Located> =
            scoped.store.locate_all()?.into_iter().filter(is_wanted).collect();
        let (mut found, mut n_more) = (Vec::new(), 0);
        scoped.store.visit(&files, |_, memory| {
            let memory = memory.ok().filter(|memory| scoped.store.trust_of(memory).waits());
            if found.len() < MAX_WAITING {
                found.extend(memory);
            } else {
                n_more += usize::from(memory.is_some());
            }
            std::ops::ControlFlow::Continue(())
        });
        Ok((found, n_more))
    };
    let (found, n_more) = find()?;
    let files: Vec<Located> = found.iter().map(|memory| memory.at.clone()).collect();
    if host.settle_edits(scoped, &files) { find() } else { Ok((found, n_more)) }
}

fn take(
    host: &Host,
    scoped: &ScopedStore,
    request: &TrustRequest,
    command: &CommandChange<'_>,
    waiting: &[Memory],
    report: &mut TrustReport,
) -> Result<()> {
    let store = &scoped.store;
    let mut items: Vec<TrustItem> = Vec::new();
    for (number, memory) in waiting.iter().enumerate() {
        let commit = (number < MAX_ASKED).then(|| store.last_commit(&host.git(), &memory.at));
        items.push(item(host, scoped, memory, commit.flatten(), request.diff));
    }
    let is_agreed = |item: &TrustItem| {
        let is_seen = request.seen.is_empty() || request.seen.contains(&item.hash);
        !request.dry_run && is_seen && is_chosen(request, item)
    };
    if items.iter().any(is_agreed) {
        let mut batch = store.begin(&host.owner("trust"), host.settings().lock.wait)?;
        let mut memories = Vec::new();
        for (item, memory) in items.iter_mut().zip(waiting) {
            // The memory may have changed after the user saw it.
            let is_same = store.load(&memory.at).is_ok_and(|now| hash(&now) == item.hash);
            if is_agreed(item) && is_same {
                let before = store.trust_of(memory).as_str().to_owned();
                memories.push(TrustRecord { id: memory.at.id.to_string(), before });
                batch.take_over(memory)?;
                item.trusted = true;
            }
        }
        if !memories.is_empty() {
            command.commit(host, scoped, batch, Reversal::Trust { memories })?;
        }
    }
    for item in &items {
        let is_quarantined = item.memory.trust == Some(TrustLevel::Quarantined);
        match (item.trusted, is_quarantined) {
            (true, _) => report.trusted += 1,
            (false, true) => report.quarantined += 1,
            (false, false) => report.foreign += 1,
        }
    }
    report.memories.extend(items);
    Ok(())
}

/// Records that the owner's own edits have been shown.
fn show_edits(host: &Host, scoped: &ScopedStore) -> Result<Vec<TrustItem>> {
    let store = &scoped.store;
    let mut edits: Vec<Memory> = Vec::new();
    store.visit(&store.locate_all()?, |_, memory| {
        edits.extend(memory.ok().filter(|memory| store.is_unseen_edit(memory)));
        std::ops::ControlFlow::Continue(())
    });
    edits.truncate(MAX_WAITING);
    if !edits.is_empty() && host.actor == Actor::Owner {
        let mut batch = store.begin(&host.owner("trust"), host.settings().lock.wait)?;
        edits.iter().for_each(|memory| batch.note_seen(memory));
        batch.commit()?;
    }
    let shown = edits.iter().map(|memory| TrustItem {
        reason: "you edited it; it is trusted and listed once".to_owned(),
        trusted: true,
        ..item(host, scoped, memory, None, true)
    });
    Ok(shown.collect())
}

fn item(
    host: &Host,
    scoped: &ScopedStore,
    memory: &Memory,
    commit: Option<LastCommit>,
    with_text: bool,
) -> TrustItem {
    let store = &scoped.store;
    let found = hazards_of(&memory.title, memory.document.body());
    let changed = store.was_trusted(&memory.at.id);
    let reason = match (found.first(), changed) {
        (Some(hazard), _) => hazard.kind.as_str(),
        (None, true) => "it was changed elsewhere after you trusted it",
        (None, false) => "it comes from elsewhere",
    };
    let before = (with_text && changed).then(|| store.find_known_text(&host.git(), &memory.at));
    TrustItem {
        memory: label_entry(memory, scoped),
        reason: reason.to_owned(),
        changed,
        committed_by: commit.as_ref().map(|commit| commit.who.clone()),
        committed: commit.map(|commit| commit.when),
        hash: hash(memory),
        text: with_text.then(|| memory.document.as_str().to_owned()),
        before: before.flatten(),
        trusted: false,
    }
}

fn hash(memory: &Memory) -> String {
    ContentHash::of(memory.document.as_str().as_bytes()).to_string()
}

/// Expands prefixes to full ids. Each prefix must match exactly one memory. Quarantined memories
/// can only be selected by their full id.
fn whole_ids(stores: &[ScopedStore], ids: &[String]) -> Result<Vec<String>> {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for scoped in stores {
        let store = &scoped.store;
        let files = store.locate_all()?.into_iter();
        let is_named = |at: &Located| ids.iter().any(|id| at.id.as_str().starts_with(id));
        for at in files.filter(is_named) {
            let memory = store.load(&at).ok();
            let is_order =
                memory.is_some_and(|memory| store.trust_of(&memory) == Trust::Quarantined);
            *known.entry(at.id.to_string()).or_default() |= is_order;
        }
    }
    let whole = |id: &String| {
        let begun: Vec<_> = known.iter().filter(|(known, _)| known.starts_with(id)).collect();
        match begun.as_slice() {
            _ if known.contains_key(id) => Ok(id.clone()),
            [] => Ok(id.clone()),
            [(_, true)] => {
                Err(OpError::usage("A quarantined memory must be selected by its full id")
                    .hint("`nacre trust` lists the untrusted memories"))
            }
            [(whole, false)] if !id.is_empty() => Ok((*whole).clone()),
            several => {
                let (id, n_found) = (id.clone(), several.len());
                let nearest = several.iter().take(3).filter_map(|(id, _)| id.parse().ok());
                Err(MemoryError::Ambiguous { id, n_found, nearest: nearest.collect() }.into())
            }
        }
    };
    ids.iter().map(whole).collect()
}

/// Returns whether the request selects this memory. `all` includes only memories from other
/// machines. A quarantined memory must be selected by its id.
fn is_chosen(request: &TrustRequest, item: &TrustItem) -> bool {
    let is_foreign = item.memory.trust == Some(TrustLevel::Foreign);
    (request.all && is_foreign) || request.ids.contains(&item.memory.id)
}
