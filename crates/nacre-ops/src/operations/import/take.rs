//! Whether a statement is new, and the candidate that it becomes.

use std::collections::BTreeSet;

use nacre_api::wire::ImportSkip;
use nacre_core::config::EmbeddingChoice;
use nacre_core::instructions::Statement;
use nacre_core::memory::{
    Actor, Basis, Draft, MemoryId, Profile, Quote, Speaker, Status, Store, Trust,
};
use nacre_core::search::{Builtin, MemoryIndex};
use nacre_engine::flows::sync::said_already;

use super::claim::{claim, tags};
use super::known::{Imported, folded, imported};
use super::sources::{SOURCE, SourceFile};
use crate::error::OpError;
use crate::host::{Host, ScopedStore};

/// What stands where a secret was.
const REDACTED: &str = "[redacted:";

/// A statement that becomes a candidate.
pub(super) struct Taken {
    pub(super) draft: Draft,
    pub(super) label: String,
    pub(super) line: usize,
    /// The memory that was imported from this line before it changed, and its status.
    pub(super) replaces: Option<(MemoryId, Status)>,
}

/// Holds statements against what the store knows.
pub(super) struct Taker<'a> {
    scoped: &'a ScopedStore,
    is_owners: bool,
    now: String,
    imported: Vec<Imported>,
    /// What compares meanings; without it only words are compared.
    near: Option<(&'a Builtin, MemoryIndex<'a>)>,
    /// What this import took already.
    profiles: Vec<Profile>,
    replaced: BTreeSet<MemoryId>,
}

impl<'a> Taker<'a> {
    pub(super) fn open(
        host: &Host,
        scoped: &'a ScopedStore,
        builtin: Option<&'a Builtin>,
    ) -> Result<Self, OpError> {
        // Best effort: a store that cannot be searched now is compared by words.
        let near = builtin.filter(|_| scoped.settings.search.embedding == EmbeddingChoice::Builtin);
        let near = near.and_then(|builtin| {
            let index = MemoryIndex::peek(&scoped.store, builtin, host.now()).ok()?;
            Some((builtin, index))
        });
        Ok(Self {
            scoped,
            is_owners: host.actor == Actor::Owner,
            now: host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            imported: imported(&scoped.store)?,
            near,
            profiles: Vec::new(),
            replaced: BTreeSet::new(),
        })
    }

    pub(super) fn store(&self) -> &'a Store {
        &self.scoped.store
    }

    /// A text as it would be stored.
    pub(super) fn cleaned(&self, text: &str) -> String {
        self.store().redacted(&self.store().shareable(text))
    }

    /// Makes a candidate of a statement; `quotes` are all statements of its file.
    pub(super) fn take(
        &mut self,
        file: &SourceFile,
        statement: &Statement,
        quotes: &BTreeSet<String>,
    ) -> Result<Taken, (ImportSkip, Option<MemoryId>)> {
        let draft = self.draft(file, statement);
        let (title, body) = (draft.title.as_str(), draft.body.as_str());
        let quote = folded(&draft.quotes[0].text);
        if let Some(known) = self.imported.iter().find(|one| one.has_quote(&quote)) {
            return Err((ImportSkip::Imported, Some(known.id.clone())));
        }
        if [title, body, quote.as_str()].iter().any(|text| text.contains(REDACTED)) {
            return Err((ImportSkip::Secret, None));
        }
        if self.store().is_forgotten(title, body).unwrap_or(false) {
            return Err((ImportSkip::Rejected, None));
        }
        let profile = Profile::of(title, body);
        if self.profiles.iter().any(|known| known.holds(&profile) || profile.holds(known)) {
            return Err((ImportSkip::Repeated, None));
        }
        let replaces = self.changed_line(file, &draft, &profile, quotes);
        if replaces.is_none()
            && let Some(known) = self.said_already(&draft)
        {
            return Err((ImportSkip::Known, Some(known)));
        }
        self.profiles.push(profile);
        self.replaced.extend(replaces.iter().map(|(id, _)| id.clone()));
        // A memory that holds keeps its place until a person agrees.
        let related = replaces.iter().filter(|(_, status)| *status != Status::Candidate);
        let related = related.map(|(id, _)| id.clone()).collect();
        let (label, line) = (file.label.clone(), statement.line);
        Ok(Taken { draft: Draft { related, ..draft }, label, line, replaces })
    }

    /// The memory that came from the same place of the file and whose words are gone from it.
    fn changed_line(
        &self,
        file: &SourceFile,
        draft: &Draft,
        profile: &Profile,
        quotes: &BTreeSet<String>,
    ) -> Option<(MemoryId, Status)> {
        let gone = self.imported.iter().filter(|one| one.is_gone_from(&file.label, quotes));
        let free = gone.filter(|one| !self.replaced.contains(&one.id));
        let scored = free.map(|one| (one.likeness(&draft.tags, profile), one));
        let best = scored.filter(|(score, _)| *score > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, one)| (one.id.clone(), one.status))
    }

    /// The memory that says it already, by the rule that a sync goes by.
    fn said_already(&self, draft: &Draft) -> Option<MemoryId> {
        let (builtin, index) = self.near.as_ref()?;
        let claim = (draft.claim.memory_type(), draft.title.as_str(), draft.body.as_str());
        let found = said_already(self.store(), index, builtin, claim).ok().flatten();
        found.map(|(id, _)| id)
    }

    fn draft(&self, file: &SourceFile, statement: &Statement) -> Draft {
        let (confidence, basis) = match file.speaker {
            Speaker::Human | Speaker::User => (0.8, Basis::Stated),
            Speaker::Assistant | Speaker::Tool => (0.6, Basis::Inferred),
        };
        Draft {
            claim: claim(statement),
            title: self.cleaned(&statement.title),
            body: self.cleaned(&statement.body),
            tags: tags(statement).iter().map(|tag| self.cleaned(tag)).collect(),
            applies: Vec::new(),
            related: Vec::new(),
            source: format!("{SOURCE}{}", file.label),
            confidence,
            basis: Some(basis),
            quotes: vec![Quote {
                text: self.cleaned(&statement.quote),
                // A file that an agent names is not what the user said.
                speaker: if self.is_owners { file.speaker } else { Speaker::Tool },
                place: format!("{}:{}", file.label, statement.line),
                at: self.now.clone(),
            }],
            limit: Trust::User,
        }
    }
}
