//! Changes to a store. All changes in a batch are committed together while the store is locked.

use super::document::{Broken, MAX_FILE_BYTES};
use super::draft::{Admission, SummaryDraft, admit, set_applies};
use super::id::slug;
use super::kinds::Claim;
use super::layout;
use super::record::IMPORTANCE;
use super::revision::Revision;
use super::store::{Redactions, UnreadableFault, redact_counting};
use super::tombstone;
use super::trust::FileLevel;
use crate::prelude::*;
use nacre_base::fs::{ChangeSet, Writer};
use nacre_base::text::is_listed;

const MAX_TITLE_BYTES: usize = 200;

/// Keys whose values are IDs, times, fixed words or numbers, which are never redacted.
const OWN_KEYS: &str = "id kind created updated confidence basis \
     importance related status supersedes superseded_by date time";

/// Changes to a store that are staged until `commit`. The store stays locked while the batch
/// exists.
#[derive(Debug)]
#[must_use = "dropping a batch without `commit` discards its staged changes"]
pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) writer: Writer<'a>,
    pub(super) set: ChangeSet,
    pub(super) actor: Actor,
    /// Keyed by path, because two files can have the same ID.
    pub(super) levels: BTreeMap<RelPath, FileLevel>,
    pub(super) gone: BTreeSet<MemoryId>,
    pub(super) agreed: BTreeSet<MemoryId>,
    /// Memories whose staged evidence contains quotes that have not been verified on this machine.
    pub(super) unproven: BTreeSet<MemoryId>,
    pub(super) owner: Owner,
    minted: BTreeSet<MemoryId>,
    redactions: Redactions,
}

impl Store {
    pub fn begin(&self, owner: &Owner, patience: Duration) -> Result<Batch<'_>> {
        Ok(Batch {
            store: self,
            writer: self.scope().lock(owner, patience)?,
            set: ChangeSet::new(),
            actor: self.rules().actor,
            levels: BTreeMap::new(),
            gone: BTreeSet::new(),
            agreed: BTreeSet::new(),
            unproven: BTreeSet::new(),
            owner: owner.clone(),
            minted: BTreeSet::new(),
            redactions: Redactions::new(),
        })
    }
}

impl<'a> Batch<'a> {
    /// Attributes the changes to Nacre itself, for changes based on quotes that Nacre has verified.
    /// If the actor is a person other than the owner, the changes stay attributed to that person.
    pub fn by_reader(self) -> Self {
        let actor = if self.actor == Actor::Person { Actor::Person } else { Actor::Reader };
        Self { actor, ..self }
    }

    pub fn writer(&self) -> &Writer<'a> {
        &self.writer
    }

    pub fn redactions(&self) -> &Redactions {
        &self.redactions
    }

    /// Runs `stage`, and drops what it staged if it fails, so that the rest can still be committed.
    pub fn try_stage<T, E>(
        &mut self,
        stage: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let n_staged = self.set.n_changes();
        stage(self).inspect_err(|_| self.set.truncate(n_staged))
    }

    /// Returns the memory to change. Fails if two files have the same ID, because only the user can
    /// decide which one to change.
    pub(super) fn memory(&self, id: &str) -> Result<Memory> {
        let memory = self.store.get(id)?;
        let n_files = self.store.places(&memory.at.id)?.len();
        if n_files > 1 {
            return Err(MemoryError::Duplicate { id: memory.at.id, n_files });
        }
        self.adopt_edit(&memory);
        Ok(memory)
    }

    /// Applies either all staged changes or none. If the user edited a file while it was being
    /// replaced, saves their version next to it. Returns the paths of these copies.
    pub fn commit(self) -> Result<Vec<RelPath>> {
        // Write the ledger first. If the process is killed before the files are written, the ledger
        // contains an unused entry, but every file has a trust level.
        self.enter_levels()?;
        Ok(self.writer.commit(self.set)?)
    }

    pub fn add(&mut self, draft: &Draft, now: Timestamp) -> Result<MemoryId> {
        self.add_as(draft, Status::Active, &[], now)
    }

    pub(super) fn add_as(
        &mut self,
        draft: &Draft,
        status: Status,
        supersedes: &[MemoryId],
        now: Timestamp,
    ) -> Result<MemoryId> {
        let title = self.clean_title(&draft.title)?;
        let id = self.mint(&title, now)?;
        let Admission { trust, status } = admit(self.actor, draft, status);
        let memory_type = draft.claim.memory_type();
        let mut document = Document::blank();
        document.set_text("id", id.as_str());
        document.set_text("title", &title);
        if let Claim::Learning(kind) = draft.claim {
            document.set_text("kind", kind.as_str());
        }
        set_time(&mut document, "created", now);
        set_time(&mut document, "updated", now);
        document.set_text("source", &self.redact(&draft.source));
        document.set_number("confidence", draft.confidence.clamp(0.0, 1.0));
        if let Some(basis) = draft.basis {
            document.set_text("basis", basis.as_str());
        }
        if let Some(importance) = draft.importance {
            document.set_number(IMPORTANCE, f64::from(importance));
        }
        document.set_list("tags", &self.redact_all(&draft.tags));
        set_applies(&mut document, &self.redact_all(&draft.applies));
        document.set_list("related", &ids(&draft.related));
        document.set_text("status", status.as_str());
        if !supersedes.is_empty() {
            document.set_list("supersedes", &ids(supersedes));
        }
        document.set_body(&self.body_text(&draft.body));
        let path = layout::claim_path(memory_type, StoreArea::Active, &id)?;
        self.stage_new(&id, path, document, trust)?;
        let quotes = draft.quotes.iter().map(|quote| self.redact_quote(quote)).collect();
        self.set.create(layout::evidence_path(&id)?, render(&Evidence::new(id.clone(), quotes)));
        Ok(id)
    }

    pub fn add_summary(&mut self, draft: &SummaryDraft, now: Timestamp) -> Result<MemoryId> {
        let title = self.clean_title(&draft.title)?;
        let id = self.mint(&title, now)?;
        let (date, time) = layout::stamp(now);
        let mut document = Document::blank();
        for (key, value) in [
            ("id", id.as_str()),
            ("title", &title),
            ("description", &draft.description),
            ("date", &date),
            ("time", &time),
            ("coding_agent", &draft.coding_agent),
            ("raw_trace_path", &draft.raw_trace_path),
            ("run_id", &draft.run_id),
            ("repo_name", &draft.repo_name),
        ] {
            document.set_text(key, &self.redact(value));
        }
        document.set_list("related", &ids(&draft.related));
        set_time(&mut document, "created", now);
        set_time(&mut document, "updated", now);
        document.set_list("tags", &self.redact_all(&draft.tags));
        document.set_body(&self.body_text(&draft.body));
        let trust = draft.trust().min(self.actor.limit());
        self.stage_new(&id, layout::summary_path(&id, &time)?, document, trust)?;
        Ok(id)
    }

    /// Stages new values for a memory in place. Only the owner may add text that is less trusted
    /// than the memory.
    pub fn update(&mut self, id: &str, change: &Revision, now: Timestamp) -> Result<MemoryId> {
        let memory = self.memory(id)?;
        if !self.may_update(&memory, change) {
            return Err(MemoryError::UsersWords { id: memory.at.id });
        }
        let level = self.level_after(&memory, change);
        let needs_review = (level == Trust::Quarantined).then_some(Status::Candidate);
        let status = needs_review.or(change.status);
        self.revise(&memory, &Revision { status, said: Some(now), ..change.clone() })?;
        self.grade(&memory.at, level);
        Ok(memory.at.id)
    }

    /// Stages a complete new version of a file, provided that the file still contains `base`. The
    /// ID must not change. The owner's text gets the level `human`; after any other actor's change,
    /// the level is never higher than before.
    pub fn rewrite(
        &mut self,
        base: &Located,
        before: &[u8],
        text: &str,
        now: Timestamp,
    ) -> Result<()> {
        let invalid = |broken: Broken| MemoryError::InvalidText(broken.into());
        let mut document = Document::parse(text.to_owned()).map_err(invalid)?;
        document.check().map_err(invalid)?;
        self.redact_document(&mut document);
        let edited = Memory::read(base.clone(), document).map_err(MemoryError::InvalidText)?;
        let mut document = edited.document.clone();
        if document.as_str().as_bytes() != before {
            set_time(&mut document, "updated", later(&edited, now));
        }
        let Admission { trust: level, status } = self.admit_rewrite(&edited, before)?;
        if status != edited.status || level == Trust::Quarantined {
            document.set_text("status", status.as_str());
        }
        let bytes = self.bytes_of(document)?;
        let unchanged = Some(ContentHash::of(&bytes));
        self.set.replace(base.path.clone(), before, bytes);
        self.levels.insert(base.path.clone(), FileLevel { unchanged, ..FileLevel::of(level) });
        if level == Trust::Human { self.own(&base.id) } else { Ok(()) }
    }

    /// Stages the owner's decision to trust the memory's current text.
    pub fn take_over(&mut self, memory: &Memory) -> Result<()> {
        let id = &memory.at.id;
        if self.actor != Actor::Owner {
            return Err(MemoryError::OwnerOnly { id: id.clone(), what: "trust" });
        }
        self.set_level(memory, Trust::Human);
        self.own(id)
    }

    pub(super) fn set_level(&mut self, memory: &Memory, level: Trust) {
        let unchanged = Some(ContentHash::of(memory.document.as_str().as_bytes()));
        let level = FileLevel { unchanged, ..FileLevel::of(level) };
        self.levels.insert(memory.at.path.clone(), level);
    }

    fn own(&mut self, id: &MemoryId) -> Result<()> {
        self.agreed.insert(id.clone());
        let Ok(state) = self.state_of(id) else { return Ok(()) };
        self.stage_state(id, &LocalState { own: true, ..state })
    }

    /// Redacts secrets in text that the user wrote. IDs, times and other fixed values stay as they
    /// are.
    pub(super) fn redact_document(&mut self, document: &mut Document) {
        let keys: Vec<String> =
            document.keys().filter(|key| !is_listed(OWN_KEYS, key)).map(str::to_owned).collect();
        for key in keys {
            let text = document.text(&key).map(|text| text.map(Cow::into_owned));
            match (text, document.list(&key)) {
                (Ok(Some(text)), _) => document.set_text(&key, &self.redact(&text)),
                (_, Ok(Some(list))) => document.set_list(&key, &self.redact_all(&list)),
                // Nested maps are neither displayed nor searched, so they need no redaction.
                (_, _) => {}
            }
        }
        let body = self.redact(document.body());
        if body != document.body() {
            document.set_body(&body);
        }
    }

    pub fn archive(&mut self, id: &str, now: Timestamp) -> Result<MemoryId> {
        let memory = self.memory(id)?;
        let id = memory.at.id.clone();
        match (memory.at.memory_type, memory.at.area) {
            (MemoryType::Summary, _) => return Err(MemoryError::SummaryNotArchivable { id }),
            (MemoryType::Decision | MemoryType::Learning, StoreArea::Archived) => {
                return Err(MemoryError::AlreadyArchived { id });
            }
            (MemoryType::Decision | MemoryType::Learning, StoreArea::Active) => {}
        }
        let before = Some(memory.status.as_str().to_owned());
        let revision = Revision {
            status: Some(Status::Archived),
            area: Some(StoreArea::Archived),
            state: Some(LocalState { status_before_archive: before, ..self.state_of(&id)? }),
            said: Some(now),
            ..Revision::default()
        };
        self.revise(&memory, &revision)?;
        Ok(id)
    }

    /// Stages the removal of a memory: its file, its sidecars and every reference to its ID. A
    /// tombstone remains.
    pub fn forget(&mut self, id: &str, now: Timestamp) -> Result<MemoryId> {
        let memory = self.memory(id)?;
        self.gone.insert(memory.at.id.clone());
        self.stage_removal(&memory, now)?;
        Ok(memory.at.id)
    }

    pub(super) fn stage_removal(&mut self, memory: &Memory, now: Timestamp) -> Result<()> {
        let id = &memory.at.id;
        self.set.remove(memory.at.path.clone(), memory.document.as_str().as_bytes());
        for path in [layout::evidence_path(id)?, layout::state_path(id)?] {
            if let Some(before) = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)? {
                self.set.remove(path, &before);
            }
        }
        self.unlink(memory)?;
        let (path, stone) = tombstone::tombstone(memory, now)?;
        if !self.store.scope().has(&path)? {
            self.set.create(path, stone);
        }
        Ok(())
    }

    /// Removes links to a deleted memory. This does not count as an update of the linking memory.
    fn unlink(&mut self, gone: &Memory) -> Result<()> {
        let id = &gone.at.id;
        let listing = self.store.outlines(|at| at.id != *id)?;
        // Links in a file with broken frontmatter are never read, so they may remain. A file that
        // fails with an I/O error, however, may still contain working links.
        let is_withheld = |unreadable: &Unreadable| {
            matches!(unreadable.fault, UnreadableFault::Fs(FsError::Io { .. }))
        };
        if let Some(withheld) = listing.broken.into_iter().find(is_withheld) {
            return Err(MemoryError::Unreadable(withheld));
        }
        let others = |links: &[MemoryId]| {
            links.iter().filter(|link| *link != id).cloned().collect::<Vec<_>>()
        };
        let names = |memory: &Memory| {
            let mut links = memory.related.iter().chain(&memory.supersedes);
            links.any(|link| link == id) || memory.superseded_by.as_ref() == Some(id)
        };
        // A candidate can supersede only other candidates, so those become candidates again.
        let former = if gone.is_candidate() { Status::Candidate } else { Status::Active };
        for outline in listing.memories.iter().filter(|memory| names(memory)) {
            let memory = self.store.load(&outline.at).map_err(MemoryError::Unreadable)?;
            let mut document = memory.document.clone();
            for (key, links) in [("related", &memory.related), ("supersedes", &memory.supersedes)] {
                if links.contains(id) {
                    document.set_list(key, &ids(&others(links)));
                }
            }
            if memory.superseded_by.as_ref() == Some(id) {
                document.remove("superseded_by");
                let is_claimed = listing.memories.iter().any(|other| other.claims(&memory.at.id));
                if memory.status == Status::Superseded && !is_claimed {
                    document.set_text("status", former.as_str());
                }
            }
            self.stage_document(&memory, document)?;
        }
        Ok(())
    }

    fn mint(&mut self, title: &str, now: Timestamp) -> Result<MemoryId> {
        let (date, _) = layout::stamp(now);
        let slug = slug(title);
        for n in 1_u32.. {
            let text = if n == 1 { format!("{date}-{slug}") } else { format!("{date}-{slug}-{n}") };
            let Ok(id) = text.parse::<MemoryId>() else { continue };
            let is_free = !self.minted.contains(&id)
                && self.store.locate_exactly(&id)?.is_none()
                && !self.store.scope().has(&layout::evidence_path(&id)?)?;
            if is_free {
                self.minted.insert(id.clone());
                return Ok(id);
            }
        }
        Err(MemoryError::EmptyTitle)
    }

    fn stage_new(
        &mut self,
        id: &MemoryId,
        path: RelPath,
        document: Document,
        trust: Trust,
    ) -> Result<()> {
        let bytes = self.bytes_of(document)?;
        self.levels.insert(path.clone(), FileLevel::of(trust));
        self.set.create(path, bytes);
        // If the ledger is lost, this flag keeps the memory trusted.
        let own = !trust.waits();
        self.stage_state(id, &LocalState { own, ..LocalState::new(id.clone()) })
    }

    pub(super) fn stage_replacement(
        &mut self,
        memory: &Memory,
        mut document: Document,
        now: Timestamp,
    ) -> Result<()> {
        if document.as_str() != memory.document.as_str() {
            set_time(&mut document, "updated", later(memory, now));
        }
        self.stage_document(memory, document)
    }

    fn stage_document(&mut self, memory: &Memory, document: Document) -> Result<()> {
        let before = memory.document.as_str().as_bytes();
        let bytes = self.bytes_of(document)?;
        self.set.replace(memory.at.path.clone(), before, bytes);
        self.keep_level(memory, memory.at.path.clone());
        Ok(())
    }

    pub(super) fn state_of(&self, id: &MemoryId) -> Result<LocalState> {
        Ok(self.store.state(id)?.unwrap_or_else(|| LocalState::new(id.clone())))
    }

    pub(super) fn stage_state(&mut self, id: &MemoryId, state: &LocalState) -> Result<()> {
        let path = layout::state_path(id)?;
        let mark = match state.own {
            true => Some(self.store.own_mark(id)?),
            false if state.feedback.is_empty() => None,
            false => self.store.feedback_mark(state),
        };
        let state = LocalState { mark, ..state.clone() };
        let before = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)?;
        self.set.put(path, before.as_deref(), render(&state));
        Ok(())
    }

    /// Stages moving all memories, evidence and state, but not tombstones, into the directory
    /// `aside`. Returns how many memories will move and which paths cannot be moved.
    pub fn set_aside(&mut self, aside: &RelPath) -> Result<(usize, Vec<String>)> {
        let files = self.store.files()?;
        let mut left = Vec::new();
        for at in &files.located {
            self.move_aside(at.path.as_str(), aside, &mut left)?;
        }
        let n_memories = files.located.len() - left.len();
        for stray in &files.strays {
            self.move_aside(&stray.path, aside, &mut left)?;
        }
        for folder in ["meta/evidence", "meta/state"] {
            for entry in self.store.scope().list(&RelPath::new(folder)?)? {
                self.move_aside(&format!("{folder}/{}", entry.name), aside, &mut left)?;
            }
        }
        Ok((n_memories, left))
    }

    fn move_aside(
        &mut self,
        path: &str,
        aside: &RelPath,
        left: &mut Vec<String>,
    ) -> Result<(), FsError> {
        let moved = RelPath::new(path).and_then(|path| {
            let bytes = self.store.scope().read(&path, MAX_SIDECAR_BYTES)?;
            Ok((aside.join(path.as_str())?, path, bytes))
        });
        match moved {
            Ok((to, path, bytes)) => self.set.relocate(path, &bytes, to, bytes.clone()),
            Err(FsError::BadPath { .. } | FsError::NotAFile { .. } | FsError::TooLarge { .. }) => {
                left.push(path.to_owned());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns the redacted title on a single line. Fails if the title has no visible characters.
    pub(super) fn clean_title(&mut self, title: &str) -> Result<String> {
        let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let visible = line.chars().filter(|c| !nacre_base::is_hidden_char(*c)).collect::<String>();
        if visible.trim().is_empty() {
            return Err(MemoryError::EmptyTitle);
        }
        if visible.len() > MAX_TITLE_BYTES {
            return Err(MemoryError::TooLong {
                what: "title",
                size: visible.len(),
                limit: MAX_TITLE_BYTES,
            });
        }
        Ok(self.redact(visible.trim()))
    }

    pub(super) fn body_text(&mut self, body: &str) -> String {
        // NUL characters are replaced, because editors do not show them and Nacre rejects files
        // that contain them.
        let body = self.redact(&body.trim_matches('\n').replace('\0', "\u{fffd}"));
        if body.trim().is_empty() { String::new() } else { format!("\n{body}\n") }
    }

    pub(super) fn redact_quote(&mut self, quote: &Quote) -> Quote {
        Quote { text: self.redact(&quote.text), ..quote.clone() }
    }

    pub(super) fn redact_all(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.redact(text)).collect()
    }

    pub(super) fn bytes_of(&self, document: Document) -> Result<Vec<u8>> {
        let size = document.as_str().len();
        let limit = usize::try_from(self.store.rules().max_file_bytes)
            .map_or(MAX_FILE_BYTES, |bytes| bytes.min(MAX_FILE_BYTES));
        if size > limit {
            return Err(MemoryError::TooLong { what: "memory", size, limit });
        }
        document.check().map_err(|broken| MemoryError::InvalidText(broken.into()))?;
        Ok(document.into_string().into_bytes())
    }

    pub(super) fn redact(&mut self, text: &str) -> String {
        let text = self.store.shareable(text);
        redact_counting(self.store.words(), &text, &mut self.redactions)
    }
}

/// Returns the new value for `updated`, which never decreases, even if the clock is set back.
pub(super) fn later(memory: &Memory, now: Timestamp) -> Timestamp {
    memory.updated.map_or(now, |updated| updated.max(now))
}

pub(super) fn set_time(document: &mut Document, key: &str, time: Timestamp) {
    document.set_text(key, &time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
}

pub(super) fn ids(ids: &[MemoryId]) -> Vec<Cow<'_, str>> {
    ids.iter().map(|id| Cow::Borrowed(id.as_str())).collect()
}
