//! Decisions as changes of a batch: one action a candidate, one change a memory.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::base::is_hidden_char;
use nacre_core::memory::{
    Action, Batch, Change, Draft, MemoryError, MemoryId, Profile, State, Status, Store, Trust,
    hazards_of, united,
};

use super::decided::{Decided, claimed};
use super::report::ActionReport;
use crate::agents::MergedText;
use crate::flows::candidate::Candidate;

/// A memory that grew to this is long enough; more of the same is counted, not added.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// From how many sessions on what rules only suspect is held to be true.
const SESSIONS_TO_HOLD: usize = 3;

/// The longest title that a memory takes, in bytes.
const MAX_TITLE_BYTES: usize = 200;

/// A title that a memory takes, whatever script it is in; `instead` where there is nothing to see in it.
pub(super) fn fitting(title: &str, instead: &str) -> String {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = &line[..line.floor_char_boundary(MAX_TITLE_BYTES)];
    let is_visible = cut.chars().any(|c| !is_hidden_char(c) && !c.is_whitespace());
    if is_visible { cut.trim().to_owned() } else { instead.to_owned() }
}

/// What the claims of a session share.
pub(super) struct Origin<'a> {
    /// The session's key.
    pub(super) session: &'a str,
    pub(super) source: &'a str,
    /// When the session ended.
    pub(super) when: Timestamp,
}

/// Stages every decision; tells what was done with each candidate.
pub(super) fn stage_all(
    store: &Store,
    batch: &mut Batch<'_>,
    decided: Vec<Decided>,
    origin: &Origin<'_>,
) -> Result<Vec<ActionReport>, MemoryError> {
    let mut staged = Staged::new(store, origin);
    let mut reports = Vec::new();
    for one in decided {
        let report = staged.stage(batch, one)?;
        reports.push(report);
    }
    staged.finish(batch)?;
    Ok(reports)
}

struct Staged<'a> {
    store: &'a Store,
    origin: &'a Origin<'a>,
    /// Memories that have their change already.
    overturned: BTreeSet<MemoryId>,
    updates: BTreeMap<MemoryId, Change>,
    confirmed: BTreeSet<MemoryId>,
}

impl<'a> Staged<'a> {
    fn new(store: &'a Store, origin: &'a Origin<'a>) -> Self {
        Self {
            store,
            origin,
            overturned: BTreeSet::new(),
            updates: BTreeMap::new(),
            confirmed: BTreeSet::new(),
        }
    }

    fn stage(&mut self, batch: &mut Batch<'_>, one: Decided) -> Result<ActionReport, MemoryError> {
        let mut report = ActionReport::new(&one, self.store.words());
        let Decided { candidate, decision, ruling, .. } = one;
        let is_taken =
            |id: &MemoryId| self.overturned.contains(id) || self.updates.contains_key(id);
        // A lead has looked at it, with what is known beside it. What may not be told unasked is not for it to decide: that
        // changes no memory and overturns none.
        let is_trusted = self.trust_of(&candidate).is_told_unasked();
        let is_sure = is_trusted && (candidate.status == Status::Active || ruling.is_some());
        let merged = ruling.and_then(|ruling| ruling.merged);
        match (decision.action, decision.target) {
            (Action::NoOp | Action::Update, Some(target)) if !is_sure && !is_taken(&target) => {
                let action = self.said_again(&target, &candidate)?;
                report.done(action, Some(&target));
            }
            // What is not sure changes no memory; it waits beside the one that it speaks of.
            (Action::Add | Action::Update | Action::Supersede, target) if !is_sure => {
                let draft = self.draft(&candidate, target.as_ref());
                let id = batch.add_candidate(&draft, self.origin.when)?;
                report.done(Action::Add, Some(&id));
            }
            (Action::NoOp, target) => {
                self.confirmed.extend(target.filter(|_| decision.status == Status::Active));
            }
            (Action::Supersede, Some(target)) if !is_taken(&target) => {
                let draft = self.draft(&candidate, None);
                let id = batch.supersede(&target, &draft, self.origin.when)?;
                self.overturned.insert(target.clone());
                report.done(Action::Supersede, Some(&id));
                report.supersedes = Some(target);
            }
            (Action::Update, Some(target)) if !self.overturned.contains(&target) => {
                let is_new = !self.updates.contains_key(&target);
                let merged = merged.filter(|text| is_new && is_harmless(text, &candidate));
                let action = match merged {
                    Some(text) => self.rewrite(&target, &candidate, text)?,
                    None => self.update(&target, &candidate)?,
                };
                report.done(action, Some(&target));
            }
            (Action::Add, target) if decision.status == Status::Candidate => {
                let draft = self.draft(&candidate, target.as_ref());
                let id = batch.add_candidate(&draft, self.origin.when)?;
                report.done(Action::Add, Some(&id));
            }
            // What another candidate of this session overturned is changed once; this one stands beside it.
            (Action::Add | Action::Update | Action::Supersede, target) => {
                let id = batch.add(&self.draft(&candidate, target.as_ref()), self.origin.when)?;
                report.done(Action::Add, Some(&id));
            }
        }
        Ok(report)
    }

    /// Counts a session that says again what waits for a person or holds already; what enough of them say holds.
    fn said_again(
        &mut self,
        target: &MemoryId,
        candidate: &Candidate,
    ) -> Result<Action, MemoryError> {
        let memory = self.store.get(target.as_str())?;
        let state = self.store.state(target)?.unwrap_or_else(|| State::new(target.clone()));
        let mut sessions: BTreeSet<&str> = state.confirmed_in.iter().map(String::as_str).collect();
        if memory.source.as_deref() != Some(self.origin.source) {
            sessions.insert(self.origin.session);
        }
        self.confirmed.insert(target.clone());
        // What many pages say does not become true by that.
        let is_trusted = self.trust_of(candidate).is_told_unasked()
            && self.store.trust_of(&memory).is_told_unasked();
        // The session that it was found in is not among those that say it again.
        if !is_trusted
            || memory.status != Status::Candidate
            || sessions.len() + 1 < SESSIONS_TO_HOLD
        {
            return Ok(Action::NoOp);
        }
        let change = self.updates.entry(target.clone()).or_default();
        change.status = Some(Status::Active);
        change.quotes.extend(candidate.quotes.iter().cloned());
        Ok(Action::Update)
    }

    /// Adds what a candidate says beyond the memory; what says nothing beyond it is a confirmation.
    fn update(&mut self, target: &MemoryId, candidate: &Candidate) -> Result<Action, MemoryError> {
        let memory = self.store.get(target.as_str())?;
        let known = self.updates.get(target).and_then(|change| change.body.clone());
        let body = known.unwrap_or_else(|| memory.document.body().trim().to_owned());
        let added = beyond(&memory.title, &body, candidate);
        let is_long = added.as_ref().is_some_and(|added| body.len() + added.len() > MAX_BODY_BYTES);
        let is_same = added.is_none() && memory.status == Status::Active;
        if is_same || is_long {
            self.confirmed.insert(target.clone());
            return Ok(Action::NoOp);
        }
        let change = self.updates.entry(target.clone()).or_default();
        change.body = Some(match added {
            Some(added) if body.is_empty() => added,
            Some(added) => format!("{body}\n\n{added}"),
            None => body,
        });
        take_along(change, candidate, memory.tags, &memory.applies);
        Ok(Action::Update)
    }

    /// Gives a memory the text that a lead made of it and the candidate.
    fn rewrite(
        &mut self,
        target: &MemoryId,
        candidate: &Candidate,
        text: MergedText,
    ) -> Result<Action, MemoryError> {
        let memory = self.store.get(target.as_str())?;
        let change = self.updates.entry(target.clone()).or_default();
        change.title = Some(fitting(&text.title, &memory.title));
        change.body = Some(text.body);
        take_along(change, candidate, memory.tags, &memory.applies);
        Ok(Action::Update)
    }

    /// The level that a candidate gets.
    fn trust_of(&self, candidate: &Candidate) -> Trust {
        self.store.level_of(&self.draft(candidate, None))
    }

    fn draft(&self, candidate: &Candidate, near: Option<&MemoryId>) -> Draft {
        Draft {
            claim: candidate.claim,
            title: fitting(&candidate.title, "A claim without a title"),
            body: candidate.body.clone(),
            tags: candidate.tags.clone(),
            applies: candidate.applies.clone(),
            related: near.cloned().into_iter().collect(),
            source: self.origin.source.to_owned(),
            confidence: candidate.confidence,
            basis: Some(candidate.basis),
            quotes: candidate.quotes.clone(),
            limit: if candidate.is_repeated { Trust::Derived } else { Trust::User },
        }
    }

    /// Whether a memory was found in this very session, which is read again: that says it no second time.
    fn is_of_this_session(&self, id: &MemoryId) -> bool {
        let memory = self.store.get(id.as_str()).ok();
        memory.is_some_and(|memory| memory.source.as_deref() == Some(self.origin.source))
    }

    fn finish(self, batch: &mut Batch<'_>) -> Result<(), MemoryError> {
        for (id, change) in &self.updates {
            batch.update(id.as_str(), change, self.origin.when)?;
        }
        for id in self.confirmed.iter().filter(|id| !self.is_of_this_session(id)) {
            batch.confirm(id, self.origin.session, self.origin.when)?;
        }
        Ok(())
    }
}

/// Whether a lead's text gives no order that the candidate's quotes do not bear out.
fn is_harmless(text: &MergedText, candidate: &Candidate) -> bool {
    hazards_of(&text.title, &text.body, &candidate.quotes).is_empty()
}

/// What a memory gets from a candidate besides its words.
fn take_along(change: &mut Change, candidate: &Candidate, tags: Vec<String>, applies: &[String]) {
    change.status = Some(Status::Active);
    change.quotes.extend(candidate.quotes.iter().cloned());
    change.tags = Some(united(&change.tags.take().unwrap_or(tags), &candidate.tags));
    let known = change.applies.as_deref().unwrap_or(applies);
    change.applies = Some(united(known, &candidate.applies)).filter(|all| all != applies);
}

/// The sentences of a candidate whose words the memory does not hold.
fn beyond(title: &str, body: &str, candidate: &Candidate) -> Option<String> {
    let known = Profile::of(title, body);
    let is_new = |sentence: &&str| !known.holds(&Profile::of(sentence, ""));
    let claimed = claimed(&candidate.body);
    let new: Vec<&str> = sentences(&claimed).into_iter().filter(is_new).collect();
    match new.as_slice() {
        [] if known.holds(&Profile::of(&candidate.title, "")) => None,
        [] => Some(candidate.title.clone()),
        new => Some(new.join(" ")),
    }
}

/// A text cut after each full stop that ends a sentence, and at every line.
pub(in crate::flows) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(end) = rest.find(". ") {
            found.push(rest[..=end].trim());
            rest = &rest[end + 2..];
        }
        found.push(rest.trim());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_title_fits() {
        for (title, expected) in [
            ("Use  SQLite\n", "Use SQLite".to_owned()),
            ("\u{200b} ", "nothing".to_owned()),
            (&"字".repeat(90), "字".repeat(66)),
        ] {
            assert_eq!(fitting(title, "nothing"), expected);
        }
    }

    #[test]
    fn sentences_end_at_full_stops_and_lines() {
        assert_eq!(
            sentences("Use v1.2 here. It works.\n\n- then this"),
            ["Use v1.2 here.", "It works.", "- then this"]
        );
    }
}
