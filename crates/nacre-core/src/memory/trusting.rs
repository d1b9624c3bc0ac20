//! The level of each memory in a store, and of each change to one.
//!
//! Every memory is written by a batch, which records its level in the ledger and refuses to commit one
//! that has none. Bytes that the ledger does not know are foreign.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use super::admission::{admit, hazards_of, said_by_person};
use super::batch::Batch;
use super::document::Document;
use super::draft::{Change, Draft, SummaryDraft};
use super::hazard::hazards;
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};
use super::layout::{self, Located};
use super::ledger::Entry;
use super::ledger_text::{TrustState, Version};
use super::origin::Edit;
use super::record::Memory;
use super::sidecar::{self, Evidence, State};
use super::store::{MemoryError, Rules, Store};
use super::trust::{Actor, Trust};
use super::upkeep::Revision;
use crate::base::ContentHash;

/// The heading under which a summary tells how the session ended, which a brief quotes.
const OUTCOME: &str = "## Outcome";

/// Text from elsewhere that one command judges, in bytes: about two seconds. What is beyond waits as if it gave an order.
const MAX_JUDGED: usize = 32 << 20;

/// One of more memories than these are few.
const FEW: usize = 8;

/// What a brief can give of a memory, besides its title.
fn given_text(memory: &Memory) -> Cow<'_, str> {
    let body = memory.document.body();
    if memory.at.memory_type != MemoryType::Summary {
        return Cow::Borrowed(body);
    }
    let description = memory.document.text("description").ok().flatten().unwrap_or_default();
    Cow::Owned([body, &description].join("\n"))
}

impl SummaryDraft {
    /// A summary is the agent's telling of a session. A brief tells its title, its description and how it ended, so that an
    /// order in one of these makes it one that is only shown to who asks.
    pub(super) fn trust(&self) -> Trust {
        let outcome = self.body.split(OUTCOME).nth(1).unwrap_or_default();
        let told = [&self.title, &self.description, outcome].join("\n");
        if hazards(&told, []).is_empty() { Trust::Assistant } else { Trust::Derived }
    }
}

impl Store {
    /// How far a memory is trusted on this machine, as its file is now.
    pub fn trust_of(&self, memory: &Memory) -> Trust {
        let (id, hash) = (&memory.at.id, ContentHash::of(memory.document.as_str().as_bytes()));
        if let Some(trust) = self.known_trust(id, hash) {
            return trust;
        }
        if self.rules().is_personal {
            // An edit by other means than Nacre keeps the level that it had.
            return self.ledger.last_trust(self.scope(), id.as_str()).unwrap_or(Trust::Human);
        }
        if self.may_be_order(memory, hash) {
            return Trust::Quarantined;
        }
        let evidence = if self.trusts_evidence() { self.evidence(id).ok().flatten() } else { None };
        let quotes = evidence.filter(|evidence| evidence.id == *id).map(|evidence| evidence.quotes);
        match quotes.filter(|quotes| !quotes.is_empty()) {
            Some(quotes) => Trust::of_evidence(&quotes).min(Trust::Assistant),
            None => Trust::Foreign,
        }
    }

    /// Whether a memory from elsewhere gives an order, or there is so much from elsewhere that it was not looked at.
    fn may_be_order(&self, memory: &Memory, hash: ContentHash) -> bool {
        let text = given_text(memory);
        let n_bytes = memory.title.len() + text.len();
        let n_before = self.n_judged.fetch_add(n_bytes.min(MAX_JUDGED), Ordering::Relaxed);
        let is_order = || !hazards_of(&memory.title, &text, &[]).is_empty();
        n_before > MAX_JUDGED || self.ledger.judgement(hash, is_order)
    }

    /// What all levels of trust follow from beside the memories, as it is now; `None` where only this process knows.
    pub(crate) fn trust_state(&self) -> Option<TrustState> {
        let Rules { is_personal, trusts_evidence, .. } = *self.rules();
        let ledger = self.ledger.text(self.scope())?;
        Some(TrustState { ledger, is_personal, trusts_evidence })
    }

    /// Whether the ledger may know a memory of this id: a quick look that leaves out what came from elsewhere.
    pub fn may_know(&self, id: &str) -> bool {
        let rules = self.rules();
        rules.is_personal || rules.trusts_evidence || self.ledger.may_know(self.scope(), id)
    }

    /// Whether most of so many memories came from elsewhere, so that asking each is sooner done than putting all in order.
    pub fn knows_few(&self, n_memories: usize) -> bool {
        self.n_tellable(n_memories) < n_memories / FEW
    }

    /// How many of so many memories may be told unasked, at most: those that came from elsewhere do not count.
    pub fn n_tellable(&self, n_memories: usize) -> usize {
        let rules = self.rules();
        let counts_all = rules.is_personal || rules.trusts_evidence;
        match counts_all || !self.ledger.is_stored(self.scope()) {
            true => n_memories,
            false => n_memories.min(self.ledger.n_known(self.scope())),
        }
    }

    /// The level of the newest version of a memory that the ledger knows.
    pub fn last_trust(&self, id: &MemoryId) -> Option<Trust> {
        self.ledger.last_trust(self.scope(), id.as_str())
    }

    /// Whether some version of a memory was trusted.
    pub fn was_trusted(&self, id: &MemoryId) -> bool {
        let versions = self.ledger.versions(self.scope(), id.as_str());
        versions.iter().any(|version| !version.trust.waits())
    }

    /// Whether a memory is the user's edit that `nacre trust --diff` has not shown yet.
    pub fn is_unseen_edit(&self, memory: &Memory) -> bool {
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        let versions = self.ledger.versions(self.scope(), memory.at.id.as_str());
        versions.iter().any(|version| version.hash == hash && version.is_unseen_edit)
    }

    /// Whether these bytes are a version of the memory that is trusted.
    pub fn is_trusted_version(&self, id: &MemoryId, bytes: &[u8]) -> bool {
        let level = self.ledger.trust(self.scope(), id.as_str(), ContentHash::of(bytes));
        level.is_some_and(|level| !level.waits())
    }

    /// The level that a draft gets from this actor.
    pub fn level_of(&self, draft: &Draft) -> Trust {
        admit(self.rules().actor, draft, Status::Active).trust
    }

    /// The level of a memory that a change must not exceed: what the ledger knows, or that of a stranger's.
    fn level_before(&self, memory: &Memory) -> Trust {
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        self.known_trust(&memory.at.id, hash).unwrap_or_else(|| self.trust_of(memory))
    }

    /// The evidence of a memory, as far as it proves something: that of a trusted memory only where this machine wrote the file or
    /// a person here agreed to it. A pull can replace the file of evidence without touching the memory.
    pub fn proof_of(&self, memory: &Memory) -> Option<Evidence> {
        let id = &memory.at.id;
        let bytes = self.evidence_bytes(id).ok().flatten()?;
        let evidence: Evidence =
            sidecar::parse(&bytes).ok().filter(|read: &Evidence| read.id == *id)?;
        (self.trust_of(memory).waits() || self.knows_evidence(id, &bytes)).then_some(evidence)
    }

    /// Whether this machine stands behind these bytes as evidence of a memory.
    pub(super) fn knows_evidence(&self, id: &MemoryId, bytes: &[u8]) -> bool {
        let (rules, scope, hash) = (self.rules(), self.scope(), ContentHash::of(bytes));
        if rules.is_personal
            || rules.trusts_evidence
            || self.ledger.knows_evidence(scope, id.as_str(), hash)
        {
            return true;
        }
        // A store that was moved or checked out once more, or is older than ledgers.
        let is_inherited = || {
            let elsewhere = self.ledger.elsewhere(scope);
            match elsewhere.knows(id.as_str()) {
                true => elsewhere.knows_evidence(id.as_str(), hash),
                false => self.is_own(id),
            }
        };
        !self.ledger.is_stored(scope) && is_inherited()
    }

    /// Begins the ledger of a store that was made on this machine and holds nothing yet.
    pub fn begin_ledger(&self, owner: &crate::safefs::Owner) {
        // Without a ledger, what is in the store is foreign.
        let _ = self.ledger.enter(self.scope(), &[], owner);
    }

    /// The level of the text with this hash, where this machine knows it.
    fn known_trust(&self, id: &MemoryId, hash: ContentHash) -> Option<Trust> {
        let known = self.ledger.trust(self.scope(), id.as_str(), hash);
        if known.is_some() || self.ledger.is_stored(self.scope()) {
            return known;
        }
        self.inherited(id, hash)
    }

    /// The level in a store without a ledger: it was moved or checked out once more, and another ledger knows these bytes; or it
    /// is older than ledgers, and the memory bears the person's mark. A mark names no bytes, so that it is worth no
    /// more than the agent's word.
    fn inherited(&self, id: &MemoryId, hash: ContentHash) -> Option<Trust> {
        let elsewhere = self.ledger.elsewhere(self.scope());
        if elsewhere.knows(id.as_str()) {
            return elsewhere.trust(id.as_str(), hash);
        }
        if !self.is_own(id) {
            return None;
        }
        let evidence = self.evidence(id).ok().flatten();
        let quotes = evidence.map(|evidence| evidence.quotes).unwrap_or_default();
        let by_quotes =
            if quotes.is_empty() { Trust::Assistant } else { Trust::of_evidence(&quotes) };
        Some(by_quotes.min(Trust::Assistant))
    }
}

impl Batch<'_> {
    /// Lowers the level of a staged memory.
    pub fn lower(&mut self, id: &MemoryId, most: Trust) {
        if let Some(Some(level)) = self.levels.get_mut(id) {
            *level = (*level).min(most);
        }
    }

    /// Stages the level of a memory that was changed outside Nacre. The level never rises.
    pub fn settle_edit(&mut self, edit: &Edit<'_>) {
        let id = &edit.memory.at.id;
        let last = self.store.last_trust(id).unwrap_or(Trust::Foreign);
        let most = if edit.is_users { last } else { self.store.trust_of(edit.memory) };
        self.set_level(edit.memory, last.min(most).min(edit.limit()));
        if edit.is_users {
            self.edits.insert(id.clone());
        }
    }

    /// Stages that the owner has seen an edit.
    pub fn note_seen(&mut self, memory: &Memory) {
        self.set_level(memory, self.store.level_before(memory));
    }

    /// Stages that a memory is trusted as far as before a person agreed to it, and in any case waits for them again. A memory
    /// that is gone, or was changed since, is left alone; says whether it was lowered.
    pub fn distrust(&mut self, id: &MemoryId, before: Option<Trust>) -> Result<bool, MemoryError> {
        let Ok(memory) = self.store.get(id.as_str()) else { return Ok(false) };
        if self.store.trust_of(&memory).waits() {
            return Ok(false);
        }
        self.set_level(&memory, before.unwrap_or(Trust::Foreign).min(Trust::Foreign));
        if let Ok(state) = self.state_of(id) {
            self.stage_state(id, &State { own: false, ..state })?;
        }
        Ok(true)
    }

    /// Gives what is put back the level that it had. A repository can bring the plan of an undo, so unknown bytes are foreign.
    pub(super) fn put_back_level(&mut self, id: &MemoryId, bytes: &[u8]) {
        let known = self.store.known_trust(id, ContentHash::of(bytes)).unwrap_or(Trust::Foreign);
        // Whoever undoes an undo of the owner's gives back no level that the owner took.
        let now = self.store.get(id.as_str()).ok().filter(|_| self.actor != Actor::Owner);
        let most = now.map_or(Trust::Human, |memory| self.store.level_before(&memory));
        self.levels.insert(id.clone(), Some(known.min(most)));
    }

    /// Stages that the person agrees to the evidence of a memory as it lies there.
    pub(super) fn agree_to_evidence(&mut self, id: &MemoryId) {
        self.agreed.insert(id.clone());
    }

    /// Notes evidence that is about to be written from bytes that this machine may not know: what it then holds is no proof.
    pub(super) fn note_evidence(&mut self, id: &MemoryId, before: &[u8]) {
        if !self.store.knows_evidence(id, before) {
            self.unproven.insert(id.clone());
        }
    }

    /// Keeps the level of a memory whose words do not change.
    pub(super) fn keep_level(&mut self, memory: &Memory) {
        let level = self.store.level_before(memory);
        self.levels.entry(memory.at.id.clone()).or_insert(Some(level));
    }

    /// The level of a memory with what a change adds to it: the lower of both.
    pub(super) fn level_after(&self, memory: &Memory, change: &Change) -> Trust {
        let before = self.store.level_before(memory);
        if change.title.is_none() && change.body.is_none() {
            return before;
        }
        let title = change.title.as_ref().unwrap_or(&memory.title);
        let body = change.body.as_deref().unwrap_or(memory.document.body());
        let old = format!("{}\n{}", memory.title, memory.document.body());
        let said = said_by_person(&change.quotes).chain([old.as_str()]);
        if !hazards(&format!("{title}\n{body}"), said).is_empty() {
            return Trust::Quarantined;
        }
        before.min(Trust::of_evidence(&change.quotes)).min(self.actor.limit())
    }

    /// Whether the bytes that a text replaces are a candidate.
    pub(super) fn is_candidate(&self, base: &Located, before: &[u8]) -> bool {
        let document = Document::from_bytes(before.to_vec()).ok();
        let was = document.and_then(|document| Memory::read(base.clone(), document).ok());
        was.is_none_or(|memory| memory.is_candidate())
    }

    /// The level of a whole text that somebody writes in the place of a memory.
    pub(super) fn level_of_rewrite(
        &self,
        base: &Located,
        before: &[u8],
        edited: &Memory,
    ) -> Result<Trust, MemoryError> {
        if self.actor == Actor::Owner {
            return Ok(Trust::Human);
        }
        let was = Document::from_bytes(before.to_vec())
            .map_err(Into::into)
            .and_then(|document| Memory::read(base.clone(), document));
        let old = was.map_or(Trust::Foreign, |memory| self.store.level_before(&memory));
        if self.actor == Actor::Agent && !Trust::Assistant.can_replace(old) {
            return Err(MemoryError::UsersWords { id: base.id.clone() });
        }
        let is_order = !hazards_of(&edited.title, &given_text(edited), &[]).is_empty();
        Ok(if is_order { Trust::Quarantined } else { old.min(self.actor.own_words()) })
    }

    /// The same for everything that upkeep does to a memory.
    pub(super) fn lower_revised(&mut self, memory: &Memory, revision: &Revision) {
        let Revision { title, body, trust, .. } = revision;
        let new = title.iter().chain(body).map(String::as_str).collect::<Vec<_>>().join("\n");
        let old = format!("{}\n{}", memory.title, memory.document.body());
        let said = said_by_person(&revision.quotes).chain([old.as_str()]);
        let is_hazardous = !new.is_empty() && !hazards(&new, said).is_empty();
        let most = if is_hazardous { Some(Trust::Quarantined) } else { *trust };
        if let Some(most) = most {
            self.lower(&memory.at.id, most);
        }
    }

    /// Whether a draft may take the place of a memory.
    pub(super) fn may_overturn(&self, draft: &Draft, older: &Memory) -> bool {
        let level = admit(self.actor, draft, Status::Active).trust;
        level.can_replace(self.store.trust_of(older))
    }

    /// Enters everything that is staged into the ledger, and with the first entry what the store inherits.
    pub(super) fn enter_levels(&self) -> Result<(), MemoryError> {
        for (path, after) in self.set.outcomes() {
            let at = Located::from_path(path.as_str()).filter(|_| after.is_some());
            if at.is_some_and(|at| !matches!(self.levels.get(&at.id), Some(Some(_)))) {
                return Err(MemoryError::NoLevel { path: path.clone() });
            }
        }
        if self.levels.is_empty() && self.agreed.is_empty() {
            return Ok(());
        }
        let mut entries: Vec<Entry> = Vec::new();
        if !self.store.ledger.is_stored(self.store.scope()) {
            entries.extend(self.inherited());
        }
        let mut staged: Vec<&MemoryId> = Vec::new();
        for (path, after) in self.set.outcomes() {
            if let (Some(id), Some(bytes)) = (layout::evidence_id(path.as_str()), after)
                && !self.unproven.contains(&id)
            {
                entries.push(Entry::Evidence(id, ContentHash::of(bytes)));
                continue;
            }
            let Some(at) = Located::from_path(path.as_str()) else { continue };
            let Some((id, level)) = self.levels.get_key_value(&at.id) else { continue };
            staged.push(id);
            if let (Some(bytes), Some(level)) = (after, level) {
                entries.push(self.entry(&at.id, ContentHash::of(bytes), *level));
            }
        }
        for (id, level) in &self.levels {
            match level {
                None => entries.push(Entry::Gone(id.clone())),
                Some(level) if !staged.contains(&id) => {
                    let hash = self.unchanged.get(id).copied();
                    entries.extend(hash.map(|hash| self.entry(id, hash, *level)));
                }
                Some(_) => {}
            }
        }
        for id in &self.agreed {
            let bytes = self.store.evidence_bytes(id).ok().flatten();
            entries.extend(bytes.map(|bytes| Entry::Evidence(id.clone(), ContentHash::of(&bytes))));
        }
        Ok(self.store.ledger.enter(self.store.scope(), &entries, &self.owner)?)
    }

    fn entry(&self, id: &MemoryId, hash: ContentHash, trust: Trust) -> Entry {
        let is_unseen_edit = self.edits.contains(id);
        Entry::Memory(id.clone(), Version { hash, trust, is_unseen_edit })
    }

    /// The levels of what lies in a store that has no ledger yet.
    fn inherited(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let files = self.store.located().unwrap_or_default();
        self.store.visit(&files, |at, memory| {
            let bytes = memory.ok().map(|memory| memory.document);
            let hash = bytes.map(|text| ContentHash::of(text.as_str().as_bytes()));
            let level = hash.and_then(|hash| Some((hash, self.store.inherited(&at.id, hash)?)));
            let Some((hash, level)) = level else { return std::ops::ControlFlow::Continue(()) };
            entries.push(self.entry(&at.id, hash, level));
            let proof = self.store.evidence_bytes(&at.id).ok().flatten();
            let proof = proof.filter(|bytes| self.store.knows_evidence(&at.id, bytes));
            let proof = proof.map(|bytes| ContentHash::of(&bytes));
            entries.extend(proof.map(|hash| Entry::Evidence(at.id.clone(), hash)));
            std::ops::ControlFlow::Continue(())
        });
        entries
    }
}
