//! Checks an entire store and makes any repairs that are safe.

use std::sync::atomic::{AtomicUsize, Ordering};

use nacre_base::fs::Folder;
use nacre_base::on_all_cores;
use nacre_types::{Finding, MendedFile, Severity};

use super::batch::ids;
use super::listing::{FILES_PER_THREAD, MAX_HELD_BYTES, Stray, StrayKind};
use super::record::RecordFault;
use super::store::memory_of;
use crate::prelude::*;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub n_memories: usize,
    pub n_evidence: usize,
    /// Number of foreign memories. Foreign memories are shown only on request until the user trusts
    /// them.
    pub n_foreign: usize,
    /// Number of foreign memories that contain an instruction for the agent.
    pub n_quarantined: usize,
    pub findings: Vec<Finding>,
}

impl Store {
    pub fn check(&self) -> Result<CheckReport> {
        let files = self.files()?;
        let mut report = CheckReport { n_memories: files.located.len(), ..CheckReport::default() };
        let mut known = BTreeMap::<MemoryId, Vec<Located>>::new();
        for at in &files.located {
            known.entry(at.id.clone()).or_default().push(at.clone());
        }
        let (n_foreign, n_quarantined) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let read = |at: &Located, bytes| {
            let memory = memory_of(at, bytes)?;
            // The trust level depends on the body, which the outline lacks.
            let trust = self.trust_of(&memory);
            n_foreign.fetch_add(usize::from(trust == Trust::Foreign), Ordering::Relaxed);
            n_quarantined.fetch_add(usize::from(trust == Trust::Quarantined), Ordering::Relaxed);
            match memory.document.check() {
                Ok(()) => Ok(memory.into_outline()),
                Err(broken) => {
                    let fault = RecordFault::from(broken).into();
                    Err(Unreadable { path: at.path.clone(), fault })
                }
            }
        };
        let listing = self.read_within(&files.located, read, MAX_HELD_BYTES);
        (report.n_foreign, report.n_quarantined) =
            (n_foreign.into_inner(), n_quarantined.into_inner());
        report.findings.extend(listing.broken.iter().map(|unreadable| {
            error(unreadable.path.as_str(), unreadable.line(), unreadable.reason())
        }));
        let memories = listing.memories;
        for memory in &memories {
            let keys = [
                ("related", memory.related.as_slice()),
                ("supersedes", memory.supersedes.as_slice()),
                ("superseded_by", memory.superseded_by.as_slice()),
            ];
            for (key, links) in keys {
                for link in links.iter().filter(|link| !known.contains_key(*link)) {
                    report.findings.push(warning(
                        memory.at.path.as_str(),
                        memory.document.line_of(key),
                        format!("`{key}` links to `{link}`, which does not exist"),
                        Some(format!("nacre memory edit {}", memory.at.id)),
                    ));
                }
            }
        }
        check_claims(&memories, &mut report.findings);
        let sound = memories.into_iter().map(|memory| (memory.at.id.clone(), memory.at)).collect();
        check_duplicates(&known, &mut report.findings);
        report.findings.extend(files.strays.iter().map(stray));
        self.check_evidence(&known, &sound, &mut report)?;
        self.check_journal(&mut report.findings)?;
        report.findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        Ok(report)
    }

    fn check_evidence(
        &self,
        known: &BTreeMap<MemoryId, Vec<Located>>,
        sound: &BTreeMap<MemoryId, Located>,
        report: &mut CheckReport,
    ) -> Result<(), FsError> {
        let folder = RelPath::new("meta/evidence")?;
        let mut proven = BTreeSet::new();
        for entry in self.scope().list(&folder)? {
            let path = format!("{folder}/{}", entry.name);
            let id =
                entry.name.strip_suffix(".json").and_then(|stem| stem.parse::<MemoryId>().ok());
            match id {
                Some(id) if entry.kind == EntryKind::File => {
                    report.n_evidence += 1;
                    if !known.contains_key(&id) {
                        report.findings.push(orphan(&path, &id));
                    }
                    proven.insert(id);
                }
                _ => report.findings.push(stray(&Stray::new(path, &entry))),
            }
        }
        let unproven_ones = sound
            .iter()
            .filter(|(id, at)| at.memory_type != MemoryType::Summary && !proven.contains(*id));
        let waits = |at| self.load(at).is_ok_and(|memory| self.trust_of(&memory).waits());
        report.findings.extend(unproven_ones.map(|(_, at)| report_unproven(at, waits(at))));
        let Some(open) = self.scope().folder(&folder)? else { return Ok(()) };
        let ids: Vec<&MemoryId> = proven.iter().collect();
        let faults = on_all_cores(&ids, FILES_PER_THREAD, |chunk| {
            chunk.iter().map(|id| evidence_fault(&open, id)).collect()
        });
        for (id, fault) in ids.into_iter().zip(faults) {
            let finding = |(line, message)| error(&format!("{folder}/{id}.json"), line, message);
            report.findings.extend(fault.map(finding));
        }
        Ok(())
    }

    fn check_journal(&self, findings: &mut Vec<Finding>) -> Result<(), FsError> {
        for entry in self.scope().list(&RelPath::new("journal")?)? {
            if entry.name.starts_with("bad-") {
                findings.push(warning(
                    &format!("journal/{}", entry.name),
                    None,
                    "A change was set aside because it is damaged or was not started on this \
                     computer",
                    Some("Check its files, then remove the directory".to_owned()),
                ));
            }
        }
        if self.scope().has_linked_lock()? {
            let hint =
                "Remove it while no Nacre command is running; the next command creates a new lock";
            findings.push(warning(
                "journal/lock",
                None,
                "The lock file is a hard link to another file, so Nacre does not write to it",
                Some(hint.to_owned()),
            ));
        }
        Ok(())
    }
}

fn error(path: &str, line: Option<usize>, message: String) -> Finding {
    Finding { severity: Severity::Error, path: path.to_owned(), line, message, hint: None }
}

fn warning(
    path: &str,
    line: Option<usize>,
    message: impl Into<String>,
    hint: Option<String>,
) -> Finding {
    let message = message.into();
    Finding { severity: Severity::Warning, path: path.to_owned(), line, message, hint }
}

fn evidence_fault(folder: &Folder, id: &MemoryId) -> Option<(Option<usize>, String)> {
    match folder.read(&format!("{id}.json"), MAX_SIDECAR_BYTES) {
        Err(error) => Some((None, error.to_string())),
        Ok(bytes) => match serde_json::from_slice::<Evidence>(&bytes) {
            Err(error) => Some((Some(error.line()), format!("Not an evidence file: {error}"))),
            Ok(evidence) if evidence.id != *id => {
                Some((None, format!("This file contains the evidence of `{}`", evidence.id)))
            }
            Ok(_) => None,
        },
    }
}

/// Reports `supersedes` links to memories without a matching `superseded_by`.
fn check_claims(memories: &[Memory], findings: &mut Vec<Finding>) {
    let holding = memories.iter().filter(|memory| memory.is_only_claimed());
    let holding: BTreeSet<&MemoryId> = holding.map(|memory| &memory.at.id).collect();
    for memory in memories {
        let claimed = memory.supersedes.iter().filter(|older| memory.claims(older));
        for older in claimed.filter(|older| holding.contains(older)) {
            findings.push(warning(
                memory.at.path.as_str(),
                memory.document.line_of("supersedes"),
                format!(
                    "`supersedes` lists `{older}`, but that memory has no matching `superseded_by`"
                ),
                Some(format!(
                    "If this is correct, add `superseded_by: {}` to it: nacre memory edit {older}",
                    memory.at.id
                )),
            ));
        }
    }
}

fn check_duplicates(known: &BTreeMap<MemoryId, Vec<Located>>, findings: &mut Vec<Finding>) {
    for (id, places) in known.iter().filter(|(_, places)| places.len() > 1) {
        let first = places.iter().find(|at| at.area == StoreArea::Active).unwrap_or(&places[0]);
        for other in places.iter().filter(|at| at.path != first.path) {
            let message = format!("Two files have the ID `{id}`; Nacre uses `{}`", first.path);
            let hint = Some("Rename one of the files and change its `id`, or remove it".to_owned());
            findings.push(Finding { hint, ..error(other.path.as_str(), None, message) });
        }
    }
}

fn stray(stray: &Stray) -> Finding {
    let (message, hint) = match stray.kind {
        StrayKind::Copy => (
            "Conflict copy: the file was edited while Nacre was replacing it",
            "Copy what you need into the memory, then remove this file",
        ),
        StrayKind::Name => (
            "The file name is not a memory ID",
            "Rename it to something like `20261115-use-sqlite.md`, or move it elsewhere",
        ),
        StrayKind::NotAFile => (
            "Not a plain file or one of Nacre's directories; skipped",
            "Replace it with the file itself",
        ),
    };
    warning(&stray.path, None, message, Some(hint.to_owned()))
}

fn orphan(path: &str, id: &MemoryId) -> Finding {
    let hint = "Remove the file, or restore the memory from git".to_owned();
    warning(path, None, format!("Evidence for `{id}`, which does not exist"), Some(hint))
}

fn report_unproven(at: &Located, waits: bool) -> Finding {
    let hint = format!("It is left out of briefs until you trust it: nacre trust {}", at.id);
    warning(at.path.as_str(), None, "The memory has no evidence", waits.then_some(hint))
}

impl Batch<'_> {
    /// Stages all safe repairs. Files that cannot be parsed are left alone.
    pub fn mend(&mut self, now: Timestamp) -> Result<Vec<MendedFile>> {
        let known: BTreeSet<MemoryId> =
            self.store.locate_all()?.into_iter().map(|at| at.id).collect();
        let mut mended = Vec::new();
        for outline in self.store.outlines(|_| true)?.memories {
            let links = outline.related.iter().chain(&outline.supersedes);
            let links = links.chain(&outline.superseded_by);
            if links.into_iter().any(|link| !known.contains(link)) {
                let memory = self.store.load(&outline.at).map_err(MemoryError::Unreadable)?;
                mended.push(self.mend_links(&memory, &known, now)?);
            }
        }
        let folder = RelPath::new("meta/evidence")?;
        for entry in self.store.scope().list(&folder)? {
            let id = entry.name.strip_suffix(".json").and_then(|stem| stem.parse().ok());
            let is_orphan = id.is_some_and(|id: MemoryId| !known.contains(&id));
            if entry.kind != EntryKind::File || !is_orphan {
                continue;
            }
            let path = folder.join(&entry.name)?;
            let bytes = self.store.scope().read(&path, MAX_SIDECAR_BYTES)?;
            mended.push(MendedFile {
                path: path.as_str().to_owned(),
                what: "removed, because its memory does not exist".to_owned(),
            });
            self.set.remove(path, &bytes);
        }
        Ok(mended)
    }

    fn mend_links(
        &mut self,
        memory: &Memory,
        known: &BTreeSet<MemoryId>,
        now: Timestamp,
    ) -> Result<MendedFile> {
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
        Ok(MendedFile {
            path: memory.at.path.to_string(),
            what: format!("removed links to {}, which does not exist", gone.join(", ")),
        })
    }
}
