//! What keeps a store small: several changes of one memory at once, and what a run may leave beside them.
//!
//! A change set names each file once, so whoever merges, links and archives the same memory in one run says all of it
//! in one `Revision`. Its time is that of what was said, not of the run: upkeep never makes a memory look newer.

use std::borrow::Cow;

use jiff::Timestamp;

use super::applies::set_applies;
use super::batch::{Batch, ids, later, set_time};
use super::id::MemoryId;
use super::kinds::Status;
use super::layout::{self, StoreArea};
use super::record::Memory;
use super::sidecar::{Quote, State};
use super::store::MemoryError;
use super::trust::Trust;

/// New values for one memory, and its place; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct Revision {
    pub title: Option<String>,
    pub body: Option<String>,
    pub tags: Option<Vec<String>>,
    pub applies: Option<Vec<String>>,
    pub related: Option<Vec<MemoryId>>,
    pub supersedes: Option<Vec<MemoryId>>,
    pub superseded_by: Option<MemoryId>,
    pub confidence: Option<f64>,
    pub status: Option<Status>,
    pub area: Option<StoreArea>,
    /// Added to the evidence.
    pub quotes: Vec<Quote>,
    pub state: Option<State>,
    /// When what is new in it was said; without it `updated` stays.
    pub said: Option<Timestamp>,
    /// The level of the words that are new in it, and so the most that the memory has after it.
    pub trust: Option<Trust>,
}

impl Batch<'_> {
    /// Stages everything that a run does to one memory; it must still be what was read.
    pub fn revise(&mut self, memory: &Memory, revision: &Revision) -> Result<(), MemoryError> {
        let mut document = memory.document.clone();
        if let Some(title) = &revision.title {
            document.set_text("title", &self.clean_title(title)?);
        }
        if let Some(body) = &revision.body {
            document.set_body(&self.body_text(body));
        }
        if let Some(tags) = &revision.tags {
            document.set_list("tags", &self.redact_all(tags));
        }
        if let Some(applies) = &revision.applies {
            set_applies(&mut document, &self.redact_all(applies));
        }
        for (key, links) in [("related", &revision.related), ("supersedes", &revision.supersedes)] {
            if let Some(links) = links {
                document.set_list(key, &ids(links));
            }
        }
        if let Some(newer) = &revision.superseded_by {
            document.set_text("superseded_by", newer.as_str());
        }
        if let Some(confidence) = revision.confidence {
            document.set_number("confidence", confidence.clamp(0.0, 1.0));
        }
        if let Some(status) = revision.status {
            document.set_text("status", status.as_str());
        }
        if let Some(said) = revision.said.filter(|_| document.as_str() != memory.document.as_str())
        {
            set_time(&mut document, "updated", later(memory, said));
        }
        self.stage_quotes(&memory.at.id, &revision.quotes)?;
        if let Some(state) = &revision.state {
            self.stage_state(&memory.at.id, state)?;
        }
        let before = memory.document.as_str().as_bytes();
        let bytes = self.bytes_of(document)?;
        match revision.area.filter(|area| *area != memory.at.area) {
            Some(area) => {
                let to = layout::claim_path(memory.at.memory_type, area, &memory.at.id)?;
                self.set.relocate(memory.at.path.clone(), before, to, bytes);
            }
            None => self.set.replace(memory.at.path.clone(), before, bytes),
        }
        self.keep_level(memory);
        self.lower_revised(memory, revision);
        Ok(())
    }
}

/// Texts of a first list, then those of a second that it does not hold.
pub fn united(first: &[String], second: &[String]) -> Vec<String> {
    let mut all: Vec<Cow<'_, str>> = first.iter().map(Cow::from).collect();
    for text in second {
        if !all.iter().any(|known| known == text) {
            all.push(Cow::from(text));
        }
    }
    all.into_iter().map(Cow::into_owned).collect()
}
