//! Computes trust levels for memories and for changes to them.
//!
//! Every memory is written by a batch, which records its level in the ledger. A batch that contains
//! a memory without a level cannot be committed. Versions that are not in the ledger are foreign.

use crate::trust::trust_of_evidence;
use std::sync::atomic::Ordering;

use super::draft::{Admission, SummaryDraft, admit, hazards_of};
use super::hazard::hazards;
use super::history::{Edit, with_line_ends};
use super::layout;
use crate::prelude::*;

use super::ledger_entries::{LedgerEntry, Version};
use super::revision::Revision;
use super::runs::RunNotes;
use super::trust::FileLevel;

/// The heading of the summary section that is quoted in briefs.
const OUTCOME: &str = "## Outcome";

/// Maximum number of bytes of foreign text that one command checks, which takes about two seconds.
/// Any text beyond this limit is treated as an instruction.
const MAX_JUDGED: usize = 32 << 20;

const FEW: usize = 8;

/// Returns the hashes of the text as it is, with LF and with CRLF, because git and editors convert
/// line endings.
fn hashes_of(bytes: &[u8]) -> impl Iterator<Item = ContentHash> {
    let ends: [&[u8]; 2] = [b"\n", b"\r\n"];
    let converted = ends.into_iter().map(|end| ContentHash::of(&with_line_ends(bytes, end)));
    std::iter::once_with(|| ContentHash::of(bytes)).chain(converted)
}

/// Returns the text, besides the title, that a brief may quote from a memory.
fn brief_text(memory: &Memory) -> Cow<'_, str> {
    let body = memory.document.body();
    if memory.at.memory_type != MemoryType::Summary {
        return Cow::Borrowed(body);
    }
    let description = memory.document.text("description").ok().flatten().unwrap_or_default();
    Cow::Owned([body, &description].join("\n"))
}

impl SummaryDraft {
    /// Returns a summary's level. Briefs quote a summary's title, description and outcome. If any
    /// of them contains an instruction, the summary is shown only on request.
    pub(super) fn trust(&self) -> Trust {
        let outcome = self.body.split(OUTCOME).nth(1).unwrap_or_default();
        let told = [&self.title, &self.description, outcome].join("\n");
        if hazards(&told, []).is_empty() { Trust::Assistant } else { Trust::Derived }
    }
}

impl Store {
    pub fn trust_of(&self, memory: &Memory) -> Trust {
        let (id, hash) = (&memory.at.id, ContentHash::of(memory.document.as_str().as_bytes()));
        if let Some(trust) = self.look_up_trust(id, memory.document.as_str().as_bytes()) {
            return trust;
        }
        if self.rules().is_personal {
            // A memory edited outside Nacre keeps its previous level.
            return self.ledger.last_trust(self.scope(), id.as_str()).unwrap_or(Trust::Human);
        }
        if self.may_be_order(memory, hash) {
            return Trust::Quarantined;
        }
        let counts = self.trusts_evidence() && !self.could_be_programs(&memory.at, hash);
        let evidence = if counts { self.evidence(id).ok().flatten() } else { None };
        let quotes = evidence.filter(|evidence| evidence.id == *id).map(|evidence| evidence.quotes);
        match quotes.filter(|quotes| !quotes.is_empty()) {
            Some(quotes) => trust_of_evidence(&quotes).min(Trust::Assistant),
            None => Trust::Foreign,
        }
    }

    /// Returns the level to record in a ledger. A level that depends on the `trusts_evidence`
    /// setting is never recorded.
    pub(super) fn lasting_trust(&self, memory: &Memory) -> Trust {
        let bytes = memory.document.as_str().as_bytes();
        let is_known = self.look_up_trust(&memory.at.id, bytes).is_some();
        let most = if is_known || self.rules().is_personal { Trust::Human } else { Trust::Foreign };
        self.trust_of(memory).min(most)
    }

    /// Fails if an agent tries to replace the user's words.
    pub fn check_rewrite(&self, memory: &Memory) -> Result<()> {
        let is_agent = self.rules().actor == Actor::Agent;
        if is_agent && !Trust::Assistant.can_replace(self.trust_of(memory)) {
            return Err(MemoryError::UsersWords { id: memory.at.id.clone() });
        }
        Ok(())
    }

    /// Returns whether a foreign memory may contain an instruction. Returns true if the limit on
    /// checked text has been reached.
    fn may_be_order(&self, memory: &Memory, hash: ContentHash) -> bool {
        let text = brief_text(memory);
        let n_bytes = memory.title.len() + text.len();
        let n_before = self.n_judged.fetch_add(n_bytes.min(MAX_JUDGED), Ordering::Relaxed);
        let is_order = || !hazards_of(&memory.title, &text).is_empty();
        n_before > MAX_JUDGED || self.ledger.judgement(hash, is_order)
    }

    /// A cheap filter that returns `false` only if the memory is foreign.
    pub fn may_know(&self, id: &str) -> bool {
        let rules = self.rules();
        rules.is_personal || rules.trusts_evidence || self.ledger.may_know(self.scope(), id)
    }

    /// Returns whether most memories are foreign. If so, checking each one is faster than sorting
    /// all of them.
    pub fn knows_few(&self, n_memories: usize) -> bool {
        self.n_tellable(n_memories) < n_memories / FEW
    }

    /// Returns an upper bound for how many memories may be shown without a request. Foreign
    /// memories are not counted.
    pub fn n_tellable(&self, n_memories: usize) -> usize {
        let rules = self.rules();
        let counts_all = rules.is_personal || rules.trusts_evidence;
        match counts_all || !self.ledger.is_stored(self.scope()) {
            true => n_memories,
            false => n_memories.min(self.ledger.n_known(self.scope())),
        }
    }

    pub fn last_trust(&self, id: &MemoryId) -> Option<Trust> {
        self.ledger.last_trust(self.scope(), id.as_str())
    }

    /// Returns whether the file differs from its last trusted version.
    pub fn is_changed(&self, memory: &Memory) -> bool {
        self.last_trust(&memory.at.id).is_some_and(|level| !level.waits())
            && self.trust_of(memory) == Trust::Foreign
    }

    pub fn was_trusted(&self, id: &MemoryId) -> bool {
        let versions = self.ledger.versions(self.scope(), id.as_str());
        versions.iter().any(|version| !version.trust.waits())
    }

    /// Returns whether the current file is an edit that `nacre trust --diff` has not shown yet.
    pub fn is_unseen_edit(&self, memory: &Memory) -> bool {
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        let versions = self.ledger.versions(self.scope(), memory.at.id.as_str());
        versions.iter().any(|version| version.hash == hash && version.is_unseen_edit)
    }

    pub fn is_trusted_version(&self, id: &MemoryId, bytes: &[u8]) -> bool {
        let level = |hash| self.ledger.trust(self.scope(), id.as_str(), hash);
        hashes_of(bytes).any(|hash| level(hash).is_some_and(|level| !level.waits()))
    }

    /// Returns the versions of a memory that Nacre wrote or the user accepted, newest first.
    /// Unreviewed edits are excluded.
    pub fn own_versions(&self, id: &MemoryId) -> Vec<ContentHash> {
        let versions = self.ledger.versions(self.scope(), id.as_str()).into_iter();
        let own = versions.filter(|version| !version.trust.waits() && !version.is_unseen_edit);
        own.map(|version| version.hash).collect()
    }

    /// Returns whether a program in the sandbox could have written these bytes. This is possible
    /// from the time the program starts until its changes have been compared.
    pub(super) fn could_be_programs(&self, at: &Located, hash: ContentHash) -> bool {
        let place = self.rules().ledger.as_ref();
        place.is_some_and(|place| {
            RunNotes::of_store(&place.home, self.path()).could_be_programs(&at.path, hash)
        })
    }

    pub fn level_of(&self, draft: &Draft) -> Trust {
        admit(self.rules().actor, draft, Status::Active).trust
    }

    /// Returns the evidence that counts as proof. For a trusted memory, the evidence must have been
    /// written on this machine or accepted by the user, because a pull can replace it without
    /// changing the memory.
    pub fn proof_of(&self, memory: &Memory) -> Option<Evidence> {
        let id = &memory.at.id;
        let bytes = self.evidence_bytes(id).ok().flatten()?;
        let evidence: Evidence =
            serde_json::from_slice(&bytes).ok().filter(|read: &Evidence| read.id == *id)?;
        (self.trust_of(memory).waits() || self.knows_evidence(id, &bytes)).then_some(evidence)
    }

    pub(super) fn knows_evidence(&self, id: &MemoryId, bytes: &[u8]) -> bool {
        let (rules, scope) = (self.rules(), self.scope());
        if rules.is_personal
            || rules.trusts_evidence
            || hashes_of(bytes).any(|hash| self.ledger.knows_evidence(scope, id.as_str(), hash))
        {
            return true;
        }
        // The store was moved or checked out again, or predates ledgers.
        let is_inherited = || {
            let elsewhere = self.ledger.elsewhere(scope);
            match elsewhere.knows(id.as_str()) {
                true => hashes_of(bytes).any(|hash| elsewhere.knows_evidence(id.as_str(), hash)),
                false => self.is_own(id),
            }
        };
        !self.ledger.is_stored(scope) && is_inherited()
    }

    pub fn begin_ledger(&self, owner: &nacre_base::fs::Owner) {
        // If this fails, all memories in the store are foreign, which is safe.
        let _ = self.ledger.enter(self.scope(), &[], owner);
    }

    fn look_up_trust(&self, id: &MemoryId, bytes: &[u8]) -> Option<Trust> {
        let mut hashes = hashes_of(bytes);
        let known = match self.ledger.may_know(self.scope(), id.as_str()) {
            true => hashes.find_map(|hash| self.ledger.trust(self.scope(), id.as_str(), hash)),
            false => None,
        };
        if known.is_some() || self.ledger.is_stored(self.scope()) {
            return known;
        }
        self.inherit_trust(id, bytes)
    }

    /// Returns a memory's level in a store without a ledger. If the store was moved or checked out
    /// again, another ledger may contain this version. In a store that predates ledgers, a memory
    /// may have the user's mark. The mark does not cover the file's content, so it grants at most
    /// an agent's level.
    fn inherit_trust(&self, id: &MemoryId, bytes: &[u8]) -> Option<Trust> {
        let elsewhere = self.ledger.elsewhere(self.scope());
        if elsewhere.knows(id.as_str()) {
            return hashes_of(bytes).find_map(|hash| elsewhere.trust(id.as_str(), hash));
        }
        if !self.is_own(id) {
            return None;
        }
        let evidence = self.evidence(id).ok().flatten();
        let quotes = evidence.map(|evidence| evidence.quotes).unwrap_or_default();
        let by_quotes =
            if quotes.is_empty() { Trust::Assistant } else { trust_of_evidence(&quotes) };
        Some(by_quotes.min(Trust::Assistant))
    }
}

impl Batch<'_> {
    pub fn lower(&mut self, id: &MemoryId, most: Trust) {
        self.levels_of(id).for_each(|level| level.trust = level.trust.min(most));
    }

    pub(super) fn levels_of(&mut self, id: &MemoryId) -> impl Iterator<Item = &mut FileLevel> {
        let is_named =
            |path: &RelPath| Located::from_path(path.as_str()).is_some_and(|at| at.id == *id);
        self.levels.iter_mut().filter(move |(path, _)| is_named(path)).map(|(_, level)| level)
    }

    /// Stages the level of a memory that was edited outside Nacre. Never raises the level.
    pub fn settle_edit(&mut self, edit: &Edit<'_>) {
        let last = self.store.last_trust(&edit.memory.at.id).unwrap_or(Trust::Foreign);
        let now = self.store.trust_of(edit.memory).min(Trust::Foreign);
        self.set_level(edit.memory, if edit.is_users { last } else { last.min(now) });
        let level = self.levels.get_mut(&edit.memory.at.path);
        level.into_iter().for_each(|level| level.is_unseen_edit = edit.is_users);
    }

    /// Records the user's edit before the memory is written, so that the memory keeps its level.
    pub(super) fn adopt_edit(&self, memory: &Memory) {
        let Some(git) = &self.store.rules().git else { return };
        if !self.store.is_changed(memory) || !self.store.is_users_edit(git, memory) {
            return;
        }
        let trust = self.store.last_trust(&memory.at.id).unwrap_or(Trust::Foreign);
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        let version = Version { hash, trust, is_unseen_edit: true };
        let entry = LedgerEntry::Memory(memory.at.id.clone(), version);
        // If this fails, the memory is foreign, which is safe.
        let _ = self.store.ledger.enter(self.store.scope(), &[entry], &self.owner);
    }

    fn lasting_trust(&self, memory: &Memory) -> Trust {
        self.adopt_edit(memory);
        self.store.lasting_trust(memory)
    }

    pub fn note_seen(&mut self, memory: &Memory) {
        self.set_level(memory, self.store.trust_of(memory));
    }

    /// Stages withdrawing the user's trust: the memory returns to its previous level and must be
    /// reviewed again. Returns whether the level was lowered.
    pub fn distrust(&mut self, id: &MemoryId, before: Option<Trust>) -> Result<bool> {
        let Ok(memory) = self.store.get(id.as_str()) else { return Ok(false) };
        if self.store.trust_of(&memory).waits() {
            return Ok(false);
        }
        self.set_level(&memory, before.unwrap_or(Trust::Foreign).min(Trust::Foreign));
        if let Ok(state) = self.state_of(id) {
            self.stage_state(id, &LocalState { own: false, ..state })?;
        }
        Ok(true)
    }

    /// Restores a file's recorded level. A version without a recorded level is foreign, because an
    /// undo's plan may come from a repository.
    pub(super) fn put_back_level(&mut self, at: &Located, bytes: &[u8]) {
        let Located { id, path, .. } = at;
        let known = self.store.look_up_trust(id, bytes).unwrap_or(Trust::Foreign);
        // Only the owner may restore a level that is higher than the current one.
        let now = self.store.get(id.as_str()).ok().filter(|_| self.actor != Actor::Owner);
        let most = now.map_or(Trust::Human, |memory| self.store.trust_of(&memory));
        self.levels.insert(path.clone(), FileLevel::of(known.min(most)));
    }

    /// Marks the evidence as unproven unless the ledger confirms its previous bytes.
    pub(super) fn note_evidence(&mut self, id: &MemoryId, before: &[u8]) {
        if !self.store.knows_evidence(id, before) {
            self.unproven.insert(id.clone());
        }
    }

    pub(super) fn keep_level(&mut self, memory: &Memory, path: RelPath) {
        let level = self.lasting_trust(memory);
        self.levels.entry(path).or_insert(FileLevel::of(level));
    }

    pub(super) fn grade(&mut self, at: &Located, trust: Trust) {
        self.levels.insert(at.path.clone(), FileLevel::of(trust));
    }

    /// Returns whether the actor may make a change. Only the owner may lower a memory's level.
    pub fn may_update(&self, memory: &Memory, change: &Revision) -> bool {
        self.actor == Actor::Owner || self.level_after(memory, change) >= self.lasting_trust(memory)
    }

    /// Returns the lower of the memory's level and the level of the text that the change adds.
    pub(super) fn level_after(&self, memory: &Memory, change: &Revision) -> Trust {
        let before = self.lasting_trust(memory);
        if change.title.is_none() && change.body.is_none() {
            return before;
        }
        let title = change.title.as_ref().unwrap_or(&memory.title);
        let body = change.body.as_deref().unwrap_or(memory.document.body());
        let old = format!("{}\n{}", memory.title, memory.document.body());
        if !hazards(&format!("{title}\n{body}"), [old.as_str()]).is_empty() {
            return Trust::Quarantined;
        }
        before.min(trust_of_evidence(&change.quotes)).min(self.actor.limit())
    }

    /// Returns the level and status of the text that replaces `before`. Only the owner can accept a
    /// candidate this way.
    pub(super) fn admit_rewrite(&self, edited: &Memory, before: &[u8]) -> Result<Admission> {
        let status = edited.status;
        if self.actor == Actor::Owner {
            return Ok(Admission { trust: Trust::Human, status });
        }
        let document = Document::from_bytes(before.to_vec()).ok();
        let was = document.and_then(|document| Memory::read(edited.at.clone(), document).ok());
        let old = was.as_ref().map_or(Trust::Foreign, |memory| self.lasting_trust(memory));
        was.as_ref().map_or(Ok(()), |memory| self.store.check_rewrite(memory))?;
        let is_order = !hazards_of(&edited.title, &brief_text(edited)).is_empty();
        let is_candidate = was.is_none_or(|memory| memory.status == Status::Candidate);
        Ok(Admission {
            trust: match is_order {
                true => Trust::Quarantined,
                false => old.min(Trust::Assistant).min(self.actor.limit()),
            },
            status: if is_order || is_candidate { Status::Candidate } else { status },
        })
    }

    /// Like [`Batch::level_after`], but for a revision made during maintenance.
    pub(super) fn lower_revised(&mut self, memory: &Memory, revision: &Revision) {
        let Revision { title, body, trust, .. } = revision;
        let new = title.iter().chain(body).map(String::as_str).collect::<Vec<_>>().join("\n");
        let old = format!("{}\n{}", memory.title, memory.document.body());
        let is_hazardous = !new.is_empty() && !hazards(&new, [old.as_str()]).is_empty();
        let most = if is_hazardous { Some(Trust::Quarantined) } else { *trust };
        if let Some(most) = most {
            self.lower(&memory.at.id, most);
        }
    }

    /// Returns whether a draft may replace a memory. An agent's text never replaces the user's.
    pub fn may_overturn(&self, draft: &Draft, older: &Memory) -> bool {
        self.adopt_edit(older);
        let (new, old) =
            (admit(self.actor, draft, Status::Active).trust, self.store.trust_of(older));
        new.can_replace(old) && (self.actor != Actor::Agent || old < Trust::User)
    }

    /// Records all staged levels in the ledger. The first call for a store also records inherited
    /// levels.
    pub(super) fn enter_levels(&self) -> Result<()> {
        for (path, after) in self.set.outcomes() {
            let at = Located::from_path(path.as_str()).filter(|_| after.is_some());
            if at.is_some() && !self.levels.contains_key(path) {
                return Err(MemoryError::NoLevel { path: path.clone() });
            }
        }
        if self.levels.is_empty() && self.agreed.is_empty() && self.gone.is_empty() {
            return Ok(());
        }
        let mut entries: Vec<LedgerEntry> = Vec::new();
        if !self.store.ledger.is_stored(self.store.scope()) {
            entries.extend(self.inherit_entries());
        }
        entries.extend(self.gone.iter().cloned().map(LedgerEntry::Gone));
        let mut hashes: BTreeMap<&RelPath, ContentHash> = BTreeMap::new();
        for (path, after) in self.set.outcomes() {
            if let (Some(id), Some(bytes)) = (layout::evidence_id(path.as_str()), after)
                && !self.unproven.contains(&id)
            {
                entries.push(LedgerEntry::Evidence(id, ContentHash::of(bytes)));
            }
            hashes.extend(after.map(|bytes| (path, ContentHash::of(bytes))));
        }
        for (path, level) in &self.levels {
            let FileLevel { trust, unchanged, is_unseen_edit } = *level;
            let hash = hashes.get(path).copied().or(unchanged);
            if let (Some(at), Some(hash)) = (Located::from_path(path.as_str()), hash) {
                entries.push(LedgerEntry::Memory(at.id, Version { hash, trust, is_unseen_edit }));
            }
        }
        for id in &self.agreed {
            let bytes = self.store.evidence_bytes(id).ok().flatten();
            entries.extend(
                bytes.map(|bytes| LedgerEntry::Evidence(id.clone(), ContentHash::of(&bytes))),
            );
        }
        Ok(self.store.ledger.enter(self.store.scope(), &entries, &self.owner)?)
    }

    fn inherit_entries(&self) -> Vec<LedgerEntry> {
        let mut entries = Vec::new();
        let files = self.store.locate_all().unwrap_or_default();
        self.store.visit(&files, |at, memory| {
            let text = memory.ok().map(|memory| memory.document.into_string().into_bytes());
            let level =
                text.and_then(|text| Some((self.store.inherit_trust(&at.id, &text)?, text)));
            let Some((trust, text)) = level else { return std::ops::ControlFlow::Continue(()) };
            let version = Version { hash: ContentHash::of(&text), trust, is_unseen_edit: false };
            entries.push(LedgerEntry::Memory(at.id.clone(), version));
            let proof = self.store.evidence_bytes(&at.id).ok().flatten();
            let proof = proof.filter(|bytes| self.store.knows_evidence(&at.id, bytes));
            let proof = proof.map(|bytes| ContentHash::of(&bytes));
            entries.extend(proof.map(|hash| LedgerEntry::Evidence(at.id.clone(), hash)));
            std::ops::ControlFlow::Continue(())
        });
        entries
    }
}
