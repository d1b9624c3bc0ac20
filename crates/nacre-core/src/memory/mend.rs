//! What can be mended without a person's judgement: links that lead nowhere, and evidence of no memory.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::batch::{Batch, ids};
use super::id::MemoryId;
use super::record::Memory;
use super::sidecar::MAX_SIDECAR_BYTES;
use super::store::MemoryError;
use crate::safefs::{EntryKind, RelPath};

/// A file that is mended, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    pub path: String,
    pub what: String,
}

impl Batch<'_> {
    /// Stages everything that is safe to mend. A file that is broken names nothing that could be read, and stays.
    pub fn mend(&mut self, now: Timestamp) -> Result<Vec<Mended>, MemoryError> {
        let known: BTreeSet<MemoryId> = self.store.located()?.into_iter().map(|at| at.id).collect();
        let mut mended = Vec::new();
        for outline in self.store.outlines(|_| true)?.memories {
            let links = outline.related.iter().chain(&outline.supersedes);
            let links = links.chain(&outline.superseded_by);
            if links.into_iter().any(|link| !known.contains(link)) {
                let memory = self.store.load(&outline.at).map_err(MemoryError::Unreadable)?;
                mended.push(self.mend_links(&memory, &known, now)?);
            }
        }
        self.remove_orphans(&known, &mut mended)?;
        Ok(mended)
    }

    fn mend_links(
        &mut self,
        memory: &Memory,
        known: &BTreeSet<MemoryId>,
        now: Timestamp,
    ) -> Result<Mended, MemoryError> {
        let mut document = memory.document.clone();
        let mut gone = Vec::new();
        for (key, links) in [("related", &memory.related), ("supersedes", &memory.supersedes)] {
            let (kept, lost): (Vec<MemoryId>, Vec<MemoryId>) =
                links.iter().cloned().partition(|link| known.contains(link));
            if !lost.is_empty() {
                document.set_list(key, &ids(&kept));
                gone.extend(lost);
            }
        }
        if let Some(newer) = memory.superseded_by.as_ref().filter(|newer| !known.contains(*newer)) {
            document.remove("superseded_by");
            gone.push(newer.clone());
        }
        self.stage_replacement(memory, document, now)?;
        let gone: Vec<&str> = gone.iter().map(MemoryId::as_str).collect();
        Ok(Mended {
            path: memory.at.path.to_string(),
            what: format!("no longer names {}, which does not exist", gone.join(", ")),
        })
    }

    fn remove_orphans(
        &mut self,
        known: &BTreeSet<MemoryId>,
        mended: &mut Vec<Mended>,
    ) -> Result<(), MemoryError> {
        let folder = RelPath::new("meta/evidence")?;
        for entry in self.store.scope().list(&folder)? {
            let id = entry.name.strip_suffix(".json").and_then(|stem| stem.parse().ok());
            let is_orphan = id.is_some_and(|id: MemoryId| !known.contains(&id));
            if entry.kind != EntryKind::File || !is_orphan {
                continue;
            }
            let path = folder.join(&entry.name)?;
            let bytes = self.store.scope().read(&path, MAX_SIDECAR_BYTES)?;
            mended.push(Mended {
                path: path.as_str().to_owned(),
                what: "removed: its memory does not exist".to_owned(),
            });
            self.set.remove(path, &bytes);
        }
        Ok(())
    }
}
