//! Shows one memory: its text, its links, and on request its evidence and history.

use nacre_api::wire::{
    MemoryEvidence, MemoryFeedback, MemoryLink, MemoryShowReport, MemoryShowRequest, MemoryVersion,
    Verdict,
};
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    self, Evidence, Feedback, Memory, MemoryId, Store, Version, VersionSource,
};

use super::wire::{labelled, quote};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Holding, Host};

pub fn show(
    host: &Host,
    request: &MemoryShowRequest,
    events: &Events,
) -> Result<MemoryShowReport, OpError> {
    let MemoryShowRequest { id, evidence, history, text, scope } = request;
    let Holding { scoped, also_in } = host.store_of(events, *scope, id)?;
    let memory = scoped.store.get(id)?;
    let (supersedes, superseded_by) = links(&scoped.store, &memory)?;
    let evidence = if *evidence { proof(&scoped.store, &memory)? } else { None };
    let history =
        if *history { Some(scoped.store.history(&host.git(), &memory.at)?) } else { None };
    Ok(MemoryShowReport {
        memory: labelled(&memory, &scoped),
        also_in,
        supersedes,
        superseded_by,
        body: memory.document.body().trim().to_owned(),
        version: version_of(memory.document.as_str().as_bytes()),
        text: text.then(|| memory.document.as_str().to_owned()),
        feedback: feedback(&scoped.store, &memory.at.id),
        evidence,
        history: history.map(|versions| versions.into_iter().map(version).collect()),
    })
}

/// Names the content of a memory's file.
pub(super) fn version_of(bytes: &[u8]) -> String {
    ContentHash::of(bytes).short()
}

/// What a memory overturned, and what overturned it.
fn links(store: &Store, memory: &Memory) -> Result<(Vec<MemoryLink>, Vec<MemoryLink>), OpError> {
    let unverified = store.unverified_claims(memory);
    let link = |id: &MemoryId, verified: bool| MemoryLink { id: id.to_string(), verified };
    let supersedes = memory.supersedes.iter().map(|id| link(id, !unverified.contains(id)));
    let is_named = |claimant: &Memory| memory.superseded_by.as_ref() == Some(&claimant.at.id);
    let claimants = store.claimants(&memory.at.id)?;
    let claimed = claimants.iter().filter(|claimant| !is_named(claimant));
    let claimed = claimed.map(|claimant| link(&claimant.at.id, memory.says_overturned()));
    let said = memory.superseded_by.iter().map(|id| link(id, true));
    Ok((supersedes.collect(), said.chain(claimed).collect()))
}

/// A person's last word; a state that cannot be read is `doctor`'s to report.
fn feedback(store: &Store, id: &MemoryId) -> Option<MemoryFeedback> {
    let Feedback { verdict, note, at } = store.state(id).ok().flatten()?.feedback.pop()?;
    let verdict = match verdict {
        memory::Verdict::Useful => Verdict::Useful,
        memory::Verdict::Wrong => Verdict::Wrong,
        memory::Verdict::Outdated => Verdict::Outdated,
    };
    Some(MemoryFeedback { verdict, note, at })
}

fn proof(store: &Store, memory: &Memory) -> Result<Option<MemoryEvidence>, OpError> {
    let Some(Evidence { version, id, quotes }) = store.evidence(&memory.at.id)? else {
        return Ok(None);
    };
    let unproven = store.proof_of(memory).is_none();
    let quotes = quotes.into_iter().map(quote).collect();
    Ok(Some(MemoryEvidence { version, id: id.to_string(), quotes, unproven }))
}

fn version(version: Version) -> MemoryVersion {
    let Version { source, when, who, what } = version;
    let (commit, run) = match source {
        VersionSource::Git(hash) => (Some(hash), None),
        VersionSource::Run(run) => (None, Some(run)),
    };
    MemoryVersion { commit, run, when, who, what }
}
