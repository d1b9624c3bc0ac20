//! Imports memories during a push or a pull. Memories keep their IDs.
//!
//! Imported memories are foreign until the owner trusts them. Those that contain an instruction for
//! agents are quarantined instead. The same rules apply to new text for an ID that is already
//! trusted.

use super::document::Broken;
use super::draft::hazards_of;
use super::layout;
use super::trust::FileLevel;
use crate::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct ForeignMemory<'t> {
    pub id: &'t MemoryId,
    pub memory_type: MemoryType,
    pub text: &'t str,
    pub evidence: Option<&'t str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    New,
    /// The previously imported version had not been changed here, so it was replaced.
    Updated,
    Same,
    /// This store has a different file with this ID, which was left unchanged.
    Differs,
    /// The user removed this memory from this store, so it was not imported.
    Forgotten,
}

impl Batch<'_> {
    /// Stages a memory from another store. An existing file with the same ID is kept unless its
    /// bytes equal `replaces`.
    pub fn bring(
        &mut self,
        foreign: &ForeignMemory<'_>,
        replaces: Option<ContentHash>,
    ) -> Result<Brought> {
        let ForeignMemory { id, memory_type, evidence, .. } = *foreign;
        let document = self.foreign_document(foreign)?;
        let title = document.text("title").ok().flatten().unwrap_or_default().into_owned();
        if self.store.is_forgotten(&title, document.body())? {
            return Ok(Brought::Forgotten);
        }
        let is_order = !hazards_of(&title, document.body()).is_empty();
        let level = if is_order { Trust::Quarantined } else { Trust::Foreign };
        let bytes = self.bytes_of(document)?;
        let brought = match self.store.locate_exactly(id)? {
            None => {
                let path = layout::claim_path(memory_type, StoreArea::Active, id)?;
                self.levels.insert(path.clone(), FileLevel::of(level));
                self.set.create(path, bytes);
                Brought::New
            }
            Some(at) => {
                let before = self.store.read_file(&at.path)?;
                let is_in_place = (at.memory_type, at.area) == (memory_type, StoreArea::Active);
                match replaces == Some(ContentHash::of(&before)) && is_in_place {
                    _ if before == bytes => return Ok(Brought::Same),
                    false => return Ok(Brought::Differs),
                    true => {
                        self.grade(&at, level);
                        self.set.replace(at.path, &before, bytes);
                        Brought::Updated
                    }
                }
            }
        };
        if let Some(evidence) = self.foreign_evidence(id, evidence) {
            self.unproven.insert(id.clone());
            let path = layout::evidence_path(id)?;
            let before = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)?;
            self.set.put(path, before.as_deref(), evidence);
        }
        Ok(brought)
    }

    fn foreign_document(&mut self, foreign: &ForeignMemory<'_>) -> Result<Document> {
        let ForeignMemory { id, memory_type, text, .. } = *foreign;
        let invalid = |broken: Broken| MemoryError::InvalidText(broken.into());
        let mut document = Document::parse(text.to_owned()).map_err(invalid)?;
        if document.text("id").ok().flatten().as_deref() != Some(id.as_str()) {
            return Err(MemoryError::Unknown { id: id.to_string(), nearest: Vec::new() });
        }
        let path = layout::claim_path(memory_type, StoreArea::Active, id)?;
        let at = Located { id: id.clone(), memory_type, area: StoreArea::Active, path };
        Memory::read(at, document.clone()).map_err(MemoryError::InvalidText)?;
        if self.redact(text) != text {
            self.redact_document(&mut document);
        }
        Ok(document)
    }

    fn foreign_evidence(&mut self, id: &MemoryId, text: Option<&str>) -> Option<Vec<u8>> {
        let text = text.filter(|text| text.len() as u64 <= MAX_SIDECAR_BYTES)?;
        let evidence: Evidence = serde_json::from_str(text).ok()?;
        if evidence.id != *id {
            return None;
        }
        let quotes = evidence.quotes.iter().map(|quote| self.redact_quote(quote)).collect();
        Some(render(&Evidence { quotes, ..evidence }))
    }
}
