//! Changing a store: every change of a batch is committed together, under the store's lock.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::admission::{Admission, admit};
use super::applies::set_applies;
use super::document::{Broken, Document, MAX_FILE_BYTES};
use super::draft::{Change, Draft, SummaryDraft};
use super::id::MemoryId;
use super::kinds::{Claim, MemoryType, Status};
use super::layout::{self, Located, StoreArea};
use super::record::Memory;
use super::redactions::{Redactions, redacted};
use super::sidecar::{Evidence, MAX_SIDECAR_BYTES, Quote, State, render};
use super::slug::slug;
use super::store::{MemoryError, Store, Unreadable, UnreadableFault};
use super::tombstone;
use super::trust::{Actor, Trust};
use crate::base::ContentHash;
use crate::safefs::{ChangeSet, FsError, Owner, RelPath, Writer};

/// The longest title: a line on a wide screen.
const MAX_TITLE_BYTES: usize = 200;

/// Keys whose values are ids, times, words of ours and numbers.
const OWN_KEYS: &[&str] = &[
    "id",
    "kind",
    "created",
    "updated",
    "confidence",
    "basis",
    "related",
    "status",
    "supersedes",
    "superseded_by",
    "date",
    "time",
];

/// Changes to a store that are staged until `commit`. Holds the store's lock.
#[derive(Debug)]
#[must_use = "staged changes are lost without `commit`"]
pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) writer: Writer<'a>,
    pub(super) set: ChangeSet,
    /// Who causes the changes.
    pub(super) actor: Actor,
    /// The level of each staged memory; `None` for one that is removed.
    pub(super) levels: BTreeMap<MemoryId, Option<Trust>>,
    /// The bytes that the level of an unchanged memory is for: two files can claim one id.
    pub(super) unchanged: BTreeMap<MemoryId, ContentHash>,
    /// Memories that the user edited outside Nacre and has not been shown yet.
    pub(super) edits: BTreeSet<MemoryId>,
    /// Memories whose evidence the person agrees to as it is.
    pub(super) agreed: BTreeSet<MemoryId>,
    /// Memories whose staged evidence holds what this machine does not know.
    pub(super) unproven: BTreeSet<MemoryId>,
    pub(super) owner: Owner,
    minted: BTreeSet<MemoryId>,
    redactions: Redactions,
}

impl Store {
    /// Takes the store's lock to change it.
    pub fn begin(&self, owner: &Owner, patience: Duration) -> Result<Batch<'_>, MemoryError> {
        Ok(Batch::new(self, self.scope().lock(owner, patience)?, owner))
    }
}

impl<'a> Batch<'a> {
    fn new(store: &'a Store, writer: Writer<'a>, owner: &Owner) -> Self {
        Self {
            store,
            writer,
            set: ChangeSet::new(),
            actor: store.rules().actor,
            levels: BTreeMap::new(),
            unchanged: BTreeMap::new(),
            edits: BTreeSet::new(),
            agreed: BTreeSet::new(),
            unproven: BTreeSet::new(),
            owner: owner.clone(),
            minted: BTreeSet::new(),
            redactions: Redactions::new(),
        }
    }

    /// Records the changes as Nacre's own, made from quotes that it verified.
    pub fn by_reader(self) -> Self {
        let actor = if self.actor == Actor::Person { Actor::Person } else { Actor::Reader };
        Self { actor, ..self }
    }

    /// The right to write, for files of the store that are no memories.
    pub fn writer(&self) -> &Writer<'a> {
        &self.writer
    }

    /// The secrets that were kept out of what is staged.
    pub fn redactions(&self) -> &Redactions {
        &self.redactions
    }

    /// Makes all staged changes, or none. Returns where bytes were kept that a person wrote into a
    /// file while it was being replaced.
    pub fn commit(self) -> Result<Vec<RelPath>, MemoryError> {
        // The ledger is written first: after a kill in between, it has the level of bytes that do not exist.
        self.enter_levels()?;
        Ok(self.writer.commit(self.set)?)
    }

    /// Stages a decision or learning.
    pub fn add(&mut self, draft: &Draft, now: Timestamp) -> Result<MemoryId, MemoryError> {
        self.add_as(draft, Status::Active, &[], now)
    }

    pub(super) fn add_as(
        &mut self,
        draft: &Draft,
        status: Status,
        supersedes: &[MemoryId],
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let title = self.clean_title(&draft.title)?;
        let id = self.mint(&title, now)?;
        let Admission { trust, status } = admit(self.actor, draft, status);
        self.levels.insert(id.clone(), Some(trust));
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
        document.set_list("tags", &self.redact_all(&draft.tags));
        set_applies(&mut document, &self.redact_all(&draft.applies));
        document.set_list("related", &ids(&draft.related));
        document.set_text("status", status.as_str());
        if !supersedes.is_empty() {
            document.set_list("supersedes", &ids(supersedes));
        }
        document.set_body(&self.body_text(&draft.body));
        let path = layout::claim_path(memory_type, StoreArea::Active, &id)?;
        self.stage_new(&id, path, document)?;
        let quotes = draft.quotes.iter().map(|quote| self.redact_quote(quote)).collect();
        self.set.create(layout::evidence_path(&id)?, render(&Evidence::new(id.clone(), quotes)));
        Ok(id)
    }

    /// Stages a summary.
    pub fn add_summary(
        &mut self,
        draft: &SummaryDraft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
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
        self.levels.insert(id.clone(), Some(draft.trust().min(self.actor.limit())));
        self.stage_new(&id, layout::summary_path(&id, &time)?, document)?;
        Ok(id)
    }

    /// Stages new values for a memory, in place.
    pub fn update(
        &mut self,
        id: &str,
        change: &Change,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(id)?;
        let mut document = memory.document.clone();
        if let Some(title) = &change.title {
            document.set_text("title", &self.clean_title(title)?);
        }
        if let Some(body) = &change.body {
            document.set_body(&self.body_text(body));
        }
        if let Some(tags) = &change.tags {
            document.set_list("tags", &self.redact_all(tags));
        }
        if let Some(applies) = &change.applies {
            set_applies(&mut document, &self.redact_all(applies));
        }
        if let Some(related) = &change.related {
            document.set_list("related", &ids(related));
        }
        if let Some(confidence) = change.confidence {
            document.set_number("confidence", confidence.clamp(0.0, 1.0));
        }
        if let Some(status) = change.status {
            document.set_text("status", status.as_str());
        }
        let level = self.level_after(&memory, change);
        if level == Trust::Quarantined {
            document.set_text("status", Status::Candidate.as_str());
        }
        self.stage_replacement(&memory, document, now)?;
        self.levels.insert(memory.at.id.clone(), Some(level));
        self.stage_quotes(&memory.at.id, &change.quotes)?;
        Ok(memory.at.id)
    }

    /// Stages a whole text that replaces what was in `base`. The id stays. The owner's text has the level
    /// `human`; anybody else's has at most the level that the memory had.
    pub fn rewrite(
        &mut self,
        base: &Located,
        before: &[u8],
        text: &str,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        let invalid = |broken: Broken| MemoryError::InvalidText(broken.into());
        let mut document = Document::parse(text.to_owned()).map_err(invalid)?;
        document.check().map_err(invalid)?;
        self.redact_document(&mut document);
        let edited = Memory::read(base.clone(), document).map_err(MemoryError::InvalidText)?;
        let mut document = edited.document.clone();
        if document.as_str().as_bytes() != before {
            set_time(&mut document, "updated", later(&edited, now));
        }
        let level = self.level_of_rewrite(base, before, &edited)?;
        let is_candidate = self.actor != Actor::Owner && self.is_candidate(base, before);
        if level == Trust::Quarantined || is_candidate {
            document.set_text("status", Status::Candidate.as_str());
        }
        let bytes = self.bytes_of(document)?;
        self.unchanged.insert(base.id.clone(), ContentHash::of(&bytes));
        self.set.replace(base.path.clone(), before, bytes);
        self.levels.insert(base.id.clone(), Some(level));
        if level == Trust::Human { self.own(&base.id) } else { Ok(()) }
    }

    /// Stages that the owner trusts a memory as it is.
    pub fn take_over(&mut self, memory: &Memory) -> Result<(), MemoryError> {
        let id = &memory.at.id;
        if self.actor != Actor::Owner {
            return Err(MemoryError::OwnerOnly { id: id.clone() });
        }
        self.set_level(memory, Trust::Human);
        self.own(id)
    }

    /// Stages the level of a memory whose file stays as it is.
    pub(super) fn set_level(&mut self, memory: &Memory, level: Trust) {
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        self.unchanged.insert(memory.at.id.clone(), hash);
        self.levels.insert(memory.at.id.clone(), Some(level));
    }

    /// Stages that the owner agrees to a memory's evidence. A state that cannot be read is left alone.
    fn own(&mut self, id: &MemoryId) -> Result<(), MemoryError> {
        self.agree_to_evidence(id);
        let Ok(state) = self.state_of(id) else { return Ok(()) };
        self.stage_state(id, &State { own: true, ..state })
    }

    /// Keeps secrets out of what a person wrote, and leaves alone what names and dates the memory.
    pub(super) fn redact_document(&mut self, document: &mut Document) {
        let keys: Vec<String> =
            document.keys().filter(|key| !OWN_KEYS.contains(key)).map(str::to_owned).collect();
        for key in keys {
            let text = document.text(&key).map(|text| text.map(Cow::into_owned));
            match (text, document.list(&key)) {
                (Ok(Some(text)), _) => document.set_text(&key, &self.redact(&text)),
                (_, Ok(Some(list))) => document.set_list(&key, &self.redact_all(&list)),
                // A map of the person's own: nothing in it is shown or searched.
                (_, _) => {}
            }
        }
        let body = self.redact(document.body());
        if body != document.body() {
            document.set_body(&body);
        }
    }

    /// Stages the move of a memory to the archive.
    pub fn archive(&mut self, id: &str, now: Timestamp) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(id)?;
        let id = memory.at.id.clone();
        match (memory.at.memory_type, memory.at.area) {
            (MemoryType::Summary, _) => return Err(MemoryError::SummaryNotArchivable { id }),
            (MemoryType::Decision | MemoryType::Learning, StoreArea::Archived) => {
                return Err(MemoryError::AlreadyArchived { id });
            }
            (MemoryType::Decision | MemoryType::Learning, StoreArea::Active) => {}
        }
        let state = self.state_of(&id)?;
        let status = memory.status.as_str().to_owned();
        self.stage_state(&id, &State { status_before_archive: Some(status), ..state })?;
        self.relocate(&memory, StoreArea::Archived, Status::Archived, now)?;
        Ok(id)
    }

    /// Stages the end of a memory: its file, its sidecars and every mention of its id go, and a
    /// tombstone stays.
    pub fn forget(&mut self, id: &str, now: Timestamp) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(id)?;
        self.levels.insert(memory.at.id.clone(), None);
        self.stage_removal(&memory, now)?;
        Ok(memory.at.id)
    }

    /// Stages the removal of a memory with all that names it, and its tombstone.
    pub(super) fn stage_removal(
        &mut self,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        let id = &memory.at.id;
        self.set.remove(memory.at.path.clone(), memory.document.as_str().as_bytes());
        for path in [layout::evidence_path(id)?, layout::state_path(id)?] {
            if let Some(before) = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)? {
                self.set.remove(path, &before);
            }
        }
        self.unlink(id, now)?;
        let (path, stone) = tombstone::tombstone(memory, now)?;
        if !self.store.scope().has(&path)? {
            self.set.create(path, stone);
        }
        Ok(())
    }

    /// Stages the removal of `id` from the lists of all other memories.
    fn unlink(&mut self, id: &MemoryId, now: Timestamp) -> Result<(), MemoryError> {
        let listing = self.store.outlines(|at| at.id != *id)?;
        // A broken file names nothing that we could read; one that the disk withholds may.
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
            }
            if document.as_str() != memory.document.as_str() {
                self.stage_replacement(&memory, document, now)?;
            }
        }
        Ok(())
    }

    /// A new id: the day, the title's slug, and a number when somebody has that name already.
    fn mint(&mut self, title: &str, now: Timestamp) -> Result<MemoryId, MemoryError> {
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
    ) -> Result<(), MemoryError> {
        let bytes = self.bytes_of(document)?;
        self.set.create(path, bytes);
        // Where the ledger is lost, a mark vouches for the memory.
        let own = self.levels.get(id).copied().flatten().is_some_and(|level| !level.waits());
        self.stage_state(id, &State { own, ..State::new(id.clone()) })
    }

    pub(super) fn stage_replacement(
        &mut self,
        memory: &Memory,
        mut document: Document,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        if document.as_str() != memory.document.as_str() {
            set_time(&mut document, "updated", later(memory, now));
        }
        let before = memory.document.as_str().as_bytes();
        let bytes = self.bytes_of(document)?;
        self.set.replace(memory.at.path.clone(), before, bytes);
        self.keep_level(memory);
        Ok(())
    }

    fn relocate(
        &mut self,
        memory: &Memory,
        area: StoreArea,
        status: Status,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        let mut document = memory.document.clone();
        document.set_text("status", status.as_str());
        set_time(&mut document, "updated", later(memory, now));
        let to = layout::claim_path(memory.at.memory_type, area, &memory.at.id)?;
        let before = memory.document.as_str().as_bytes();
        let bytes = self.bytes_of(document)?;
        self.set.relocate(memory.at.path.clone(), before, to, bytes);
        self.keep_level(memory);
        Ok(())
    }

    pub(super) fn state_of(&self, id: &MemoryId) -> Result<State, MemoryError> {
        Ok(self.store.state(id)?.unwrap_or_else(|| State::new(id.clone())))
    }

    pub(super) fn stage_state(&mut self, id: &MemoryId, state: &State) -> Result<(), MemoryError> {
        let path = layout::state_path(id)?;
        let mark = if state.own { Some(self.store.own_mark(id)?) } else { None };
        let state = State { mark, ..state.clone() };
        let before = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)?;
        self.set.put(path, before.as_deref(), render(&state));
        Ok(())
    }

    /// Stages the move of everything the store remembers below `aside`; tombstones stay. Returns how
    /// many memories go, and what could not be taken along.
    pub fn set_aside(&mut self, aside: &RelPath) -> Result<(usize, Vec<String>), MemoryError> {
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

    /// A link, a folder or a file beyond all measure stays, and is named in `left`.
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

    /// A title on one line, redacted, with something to see in it.
    pub(super) fn clean_title(&mut self, title: &str) -> Result<String, MemoryError> {
        let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let visible = line.chars().filter(|c| !crate::base::is_hidden_char(*c)).collect::<String>();
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

    /// A body that stands apart from the frontmatter and ends its last line.
    pub(super) fn body_text(&mut self, body: &str) -> String {
        // No editor shows a NUL, and no reader takes a file with one.
        let body = self.redact(&body.trim_matches('\n').replace('\0', "\u{fffd}"));
        if body.trim().is_empty() { String::new() } else { format!("\n{body}\n") }
    }

    pub(super) fn redact_quote(&mut self, quote: &Quote) -> Quote {
        Quote { text: self.redact(&quote.text), ..quote.clone() }
    }

    pub(super) fn redact_all(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.redact(text)).collect()
    }

    /// The text to store: not too long, and one that can be read again.
    pub(super) fn bytes_of(&self, document: Document) -> Result<Vec<u8>, MemoryError> {
        let size = document.as_str().len();
        let limit = usize::try_from(self.store.rules().max_file_bytes)
            .map_or(MAX_FILE_BYTES, |bytes| bytes.min(MAX_FILE_BYTES));
        if size > limit {
            return Err(MemoryError::TooLong { what: "memory", size, limit });
        }
        document.check().map_err(|broken| MemoryError::InvalidText(broken.into()))?;
        Ok(document.into_string().into_bytes())
    }

    /// Keeps secrets out of `text`, and counts them; and what names this machine and its user.
    pub(super) fn redact(&mut self, text: &str) -> String {
        let text = self.store.shareable(text);
        redacted(self.store.words(), &text, &mut self.redactions)
    }
}

/// A memory's `updated` never goes back, whatever the clock does.
pub(super) fn later(memory: &Memory, now: Timestamp) -> Timestamp {
    memory.updated.map_or(now, |updated| updated.max(now))
}

pub(super) fn set_time(document: &mut Document, key: &str, time: Timestamp) {
    document.set_text(key, &time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
}

pub(super) fn ids(ids: &[MemoryId]) -> Vec<Cow<'_, str>> {
    ids.iter().map(|id| Cow::Borrowed(id.as_str())).collect()
}
