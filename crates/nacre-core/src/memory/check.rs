//! The health of a whole store: what is broken, where, and what to do about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::id::MemoryId;
use super::kinds::MemoryType;
use super::layout::{Located, StoreArea};
use super::listing::{FILES_PER_THREAD, MAX_HELD_BYTES};
use super::record::{Memory, RecordFault};
use super::sidecar::{self, Evidence, MAX_SIDECAR_BYTES};
use super::store::{MemoryError, Store, Unreadable, memory_of};
use super::trust::Trust;
use super::walk::{Stray, StrayKind};
use crate::base::on_all_cores;
use crate::safefs::{EntryKind, Folder, FsError, RelPath};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something cannot be used as it is.
    Error,
    /// Something looks wrong, and everything works.
    Warning,
}

/// One thing to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// Below the store's folder.
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

/// What a check found, and how much it looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub n_memories: usize,
    pub n_evidence: usize,
    /// From elsewhere, and not told to anyone until the person agrees.
    pub n_foreign: usize,
    /// From elsewhere, and giving an order.
    pub n_quarantined: usize,
    /// By path and line.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// Whether anything cannot be used.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Memories that wait for the person, counted by several threads.
#[derive(Debug, Default)]
struct WaitingCounts {
    n_foreign: AtomicUsize,
    n_quarantined: AtomicUsize,
}

impl WaitingCounts {
    fn count(&self, level: Trust) {
        let of_its_kind = match level {
            Trust::Foreign => &self.n_foreign,
            Trust::Quarantined => &self.n_quarantined,
            Trust::Derived | Trust::Assistant | Trust::User | Trust::Human => return,
        };
        of_its_kind.fetch_add(1, Ordering::Relaxed);
    }
}

impl Store {
    /// Reads everything and reports what is wrong; changes nothing.
    pub fn check(&self) -> Result<CheckReport, MemoryError> {
        let files = self.files()?;
        let mut report = CheckReport { n_memories: files.located.len(), ..CheckReport::default() };
        let mut known = BTreeMap::<MemoryId, Vec<Located>>::new();
        for at in &files.located {
            known.entry(at.id.clone()).or_default().push(at.clone());
        }
        let waiting = WaitingCounts::default();
        let read = |at: &Located, bytes| self.checked_memory(at, bytes, &waiting);
        let listing = self.read_within(&files.located, read, MAX_HELD_BYTES);
        (report.n_foreign, report.n_quarantined) =
            (waiting.n_foreign.into_inner(), waiting.n_quarantined.into_inner());
        report.findings.extend(listing.broken.iter().map(broken));
        let memories = listing.memories;
        for memory in &memories {
            check_links(memory, &known, &mut report.findings);
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

    /// Reads a memory and every key of it, also those that only its author knows. How far it is trusted follows from its body,
    /// which is not kept.
    fn checked_memory(
        &self,
        at: &Located,
        bytes: Result<Vec<u8>, FsError>,
        waiting: &WaitingCounts,
    ) -> Result<Memory, Unreadable> {
        let memory = memory_of(at, bytes)?;
        waiting.count(self.trust_of(&memory));
        match memory.document.check() {
            Ok(()) => Ok(memory.into_outline()),
            Err(broken) => {
                let fault = RecordFault::from(broken).into();
                Err(Unreadable { path: at.path.clone(), fault })
            }
        }
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
        report.findings.extend(unproven_ones.map(|(id, at)| unproven(at, self.is_own(id))));
        self.check_evidence_files(&proven, &folder, &mut report.findings)
    }

    fn check_evidence_files(
        &self,
        proven: &BTreeSet<MemoryId>,
        folder: &RelPath,
        findings: &mut Vec<Finding>,
    ) -> Result<(), FsError> {
        let Some(open) = self.scope().folder(folder)? else { return Ok(()) };
        let ids: Vec<&MemoryId> = proven.iter().collect();
        let faults = on_all_cores(&ids, FILES_PER_THREAD, |chunk| {
            chunk.iter().map(|id| evidence_fault(&open, id)).collect()
        });
        for (id, fault) in ids.into_iter().zip(faults) {
            findings.extend(fault.map(|(line, message)| Finding {
                severity: Severity::Error,
                path: format!("{folder}/{id}.json"),
                line,
                message,
                hint: None,
            }));
        }
        Ok(())
    }

    fn check_journal(&self, findings: &mut Vec<Finding>) -> Result<(), FsError> {
        for entry in self.scope().list(&RelPath::new("journal")?)? {
            if entry.name.starts_with("bad-") {
                findings.push(Finding {
                    severity: Severity::Warning,
                    path: format!("journal/{}", entry.name),
                    line: None,
                    message: "A change that is damaged or was not begun on this computer was set aside, not made"
                        .to_owned(),
                    hint: Some("Look at the files in it, then remove the folder".to_owned()),
                });
            }
        }
        if self.scope().has_linked_lock()? {
            findings.push(Finding {
                severity: Severity::Warning,
                path: "journal/lock".to_owned(),
                line: None,
                message: "The lock is a hard link to another file, which Nacre does not write to"
                    .to_owned(),
                hint: Some(
                    "Remove it while no command runs; the next one makes its own".to_owned(),
                ),
            });
        }
        Ok(())
    }
}

/// What is wrong with the evidence of `id`, and on which line.
fn evidence_fault(folder: &Folder, id: &MemoryId) -> Option<(Option<usize>, String)> {
    match folder.read(&format!("{id}.json"), MAX_SIDECAR_BYTES) {
        Err(error) => Some((None, error.to_string())),
        Ok(bytes) => match sidecar::parse::<Evidence>(&bytes) {
            Err(error) => Some((Some(error.line()), format!("Not an evidence file: {error}"))),
            Ok(evidence) if evidence.id != *id => {
                Some((None, format!("It is the evidence of `{}`", evidence.id)))
            }
            Ok(_) => None,
        },
    }
}

fn broken(unreadable: &Unreadable) -> Finding {
    Finding {
        severity: Severity::Error,
        path: unreadable.path.to_string(),
        line: unreadable.line(),
        message: unreadable.reason(),
        hint: None,
    }
}

fn check_links(
    memory: &Memory,
    known: &BTreeMap<MemoryId, Vec<Located>>,
    findings: &mut Vec<Finding>,
) {
    let keys = [
        ("related", memory.related.as_slice()),
        ("supersedes", memory.supersedes.as_slice()),
        ("superseded_by", memory.superseded_by.as_slice()),
    ];
    for (key, links) in keys {
        for link in links.iter().filter(|link| !known.contains_key(*link)) {
            findings.push(Finding {
                severity: Severity::Warning,
                path: memory.at.path.to_string(),
                line: memory.document.line_of(key),
                message: format!("`{key}` names `{link}`, which does not exist"),
                hint: Some(format!("nacre memory edit {}", memory.at.id)),
            });
        }
    }
}

/// What a memory claims to overturn must say so itself: otherwise nothing but the newer file does.
fn check_claims(memories: &[Memory], findings: &mut Vec<Finding>) {
    let holding = memories.iter().filter(|memory| memory.is_only_claimed());
    let holding: BTreeSet<&MemoryId> = holding.map(|memory| &memory.at.id).collect();
    for memory in memories {
        let claimed = memory.supersedes.iter().filter(|older| memory.claims(older));
        for older in claimed.filter(|older| holding.contains(older)) {
            findings.push(Finding {
                severity: Severity::Warning,
                path: memory.at.path.to_string(),
                line: memory.document.line_of("supersedes"),
                message: format!(
                    "`supersedes` names `{older}`, which does not say so: not verified"
                ),
                hint: Some(format!(
                    "If it is right, add `superseded_by: {}` there: nacre memory edit {older}",
                    memory.at.id
                )),
            });
        }
    }
}

fn check_duplicates(known: &BTreeMap<MemoryId, Vec<Located>>, findings: &mut Vec<Finding>) {
    for (id, places) in known.iter().filter(|(_, places)| places.len() > 1) {
        let first = places.iter().find(|at| at.area == StoreArea::Active).unwrap_or(&places[0]);
        for other in places.iter().filter(|at| at.path != first.path) {
            findings.push(Finding {
                severity: Severity::Error,
                path: other.path.to_string(),
                line: None,
                message: format!("The id `{id}` stands twice; `{}` is the one in use", first.path),
                hint: Some("Rename one file and its `id`, or remove it".to_owned()),
            });
        }
    }
}

fn stray(stray: &Stray) -> Finding {
    let (message, hint) = match stray.kind {
        StrayKind::Copy => (
            "A version that was kept when two changes met",
            "Take over what you need, then remove it",
        ),
        StrayKind::Name => {
            ("Its name is no id", "Name it like `20261115-use-sqlite.md`, or move it away")
        }
        StrayKind::NotAFile => (
            "Neither a plain file nor one of our folders: it is not read",
            "Put the file itself here",
        ),
    };
    Finding {
        severity: Severity::Warning,
        path: stray.path.clone(),
        line: None,
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    }
}

fn orphan(path: &str, id: &MemoryId) -> Finding {
    Finding {
        severity: Severity::Warning,
        path: path.to_owned(),
        line: None,
        message: format!("Evidence of `{id}`, which does not exist"),
        hint: Some("Remove the file, or bring the memory back from git".to_owned()),
    }
}

fn unproven(at: &Located, is_own: bool) -> Finding {
    let hint = format!(
        "In a repository it is in no brief until you take it over: nacre feedback {} useful",
        at.id
    );
    Finding {
        severity: Severity::Warning,
        path: at.path.to_string(),
        line: None,
        message: "No evidence stands behind it".to_owned(),
        hint: (!is_own).then_some(hint),
    }
}
