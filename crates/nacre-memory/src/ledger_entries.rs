//! A ledger's entries. Each version of a memory has one line, and so does each version of its
//! evidence.

use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use crate::prelude::*;
use nacre_base::fs::FileStamp;

/// Number of versions to keep for each memory. Earlier versions are needed because an undo or a
/// checkout can restore them.
const MAX_VERSIONS: usize = 8;

/// Marks a line about evidence. This word appears in place of the trust level.
const EVIDENCE: &str = "evidence";

/// Level suffix for a version that the user wrote in an editor and has not reviewed yet.
const UNSEEN_EDIT: &str = "+edit";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) hash: ContentHash,
    pub(super) trust: Trust,
    /// Whether `nacre trust --diff` must show this version.
    pub(super) is_unseen_edit: bool,
}

impl Version {
    fn parse(hash: &str, level: &str) -> Option<Self> {
        let edited = level.strip_suffix(UNSEEN_EDIT);
        let trust = Trust::from_name(edited.unwrap_or(level))?;
        Some(Self { hash: hash.parse().ok()?, trust, is_unseen_edit: edited.is_some() })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_unseen_edit { UNSEEN_EDIT } else { "" };
        write!(f, "{} {}{mark}", self.hash, self.trust.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LedgerEntry {
    Memory(MemoryId, Version),
    Evidence(MemoryId, ContentHash),
    Gone(MemoryId),
}

/// Entries by memory ID, newest version first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) by_id: BTreeMap<String, Vec<Version>>,
    /// Evidence that was written on this machine or accepted by the user.
    evidence: BTreeMap<String, Vec<ContentHash>>,
}

impl Entries {
    pub(super) fn parse(body: &str) -> Self {
        let mut entries = Self::default();
        for line in body.lines() {
            let mut parts = line.split(' ');
            let (Some(id), Some(hash), Some(level)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if let Some(version) = Version::parse(hash, level) {
                entries.by_id.entry(id.to_owned()).or_default().push(version);
            } else if let (EVIDENCE, Ok(hash)) = (level, hash.parse()) {
                entries.evidence.entry(id.to_owned()).or_default().push(hash);
            }
        }
        entries
    }

    pub(super) fn render(&self) -> String {
        let mut body = String::new();
        for (id, versions) in &self.by_id {
            for version in versions {
                let _ = writeln!(body, "{id} {version}");
            }
        }
        for (id, versions) in &self.evidence {
            for hash in versions {
                let _ = writeln!(body, "{id} {hash} {EVIDENCE}");
            }
        }
        body
    }

    pub(super) fn append(&mut self, other: Self) {
        for (id, versions) in other.by_id {
            self.by_id.entry(id).or_default().extend(versions);
        }
        for (id, versions) in other.evidence {
            self.evidence.entry(id).or_default().extend(versions);
        }
    }

    pub(super) fn versions(&self, id: &str) -> &[Version] {
        self.by_id.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the lowest level recorded for these bytes.
    pub(super) fn trust(&self, id: &str, hash: ContentHash) -> Option<Trust> {
        let versions = self.versions(id).iter().filter(|version| version.hash == hash);
        versions.map(|version| version.trust).min()
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn knows_evidence(&self, id: &str, hash: ContentHash) -> bool {
        self.evidence.get(id).is_some_and(|versions| versions.contains(&hash))
    }

    pub(super) fn take(&mut self, changes: &[LedgerEntry]) {
        for change in changes {
            match change {
                LedgerEntry::Memory(id, new) => {
                    let versions = self.by_id.entry(id.as_str().to_owned()).or_default();
                    // If another process has already recorded this version, it is not a new edit.
                    let is_known = versions.iter().any(|version| version.hash == new.hash);
                    if is_known && new.is_unseen_edit {
                        continue;
                    }
                    versions.retain(|version| version.hash != new.hash);
                    versions.insert(0, *new);
                    versions.truncate(MAX_VERSIONS);
                }
                LedgerEntry::Evidence(id, hash) => {
                    let versions = self.evidence.entry(id.as_str().to_owned()).or_default();
                    versions.retain(|version| version != hash);
                    versions.insert(0, *hash);
                    versions.truncate(MAX_VERSIONS);
                }
                LedgerEntry::Gone(id) => {
                    self.by_id.remove(id.as_str());
                    self.evidence.remove(id.as_str());
                }
            }
        }
    }
}

const MAX_KEPT: usize = 16;

/// Maximum number of cached judgements. This many take about 1 MB.
const MAX_JUDGEMENTS: usize = 20_000;

/// A server's cache of all store ledgers, and of which foreign texts contain instructions.
#[derive(Debug, Default)]
pub struct KeptLedgers {
    ledgers: Mutex<HashMap<PathBuf, (FileStamp, Arc<Entries>)>>,
    judgements: Mutex<HashMap<ContentHash, bool>>,
}

impl KeptLedgers {
    pub(super) fn get(&self, path: &PathBuf, stamp: FileStamp) -> Option<Arc<Entries>> {
        let kept = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(path).filter(|(of, _)| *of == stamp).map(|(_, text)| Arc::clone(text))
    }

    pub(super) fn keep(&self, path: PathBuf, stamp: FileStamp, text: &Arc<Entries>) {
        let mut kept = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT && !kept.contains_key(&path) {
            kept.clear();
        }
        kept.insert(path, (stamp, Arc::clone(text)));
    }

    pub(super) fn judgement(&self, text: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        let kept = || self.judgements.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&text).copied() {
            return known;
        }
        let judged = judge();
        let mut kept = kept();
        if kept.len() >= MAX_JUDGEMENTS {
            kept.clear();
        }
        kept.insert(text, judged);
        judged
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash(text: &str) -> ContentHash {
        ContentHash::of(text.as_bytes())
    }

    #[test]
    fn a_text_is_judged_once_and_not_too_many_are_kept() {
        let kept = KeptLedgers::default();
        assert!(kept.judgement(hash("a"), || true));
        assert!(kept.judgement(hash("a"), || unreachable!("the judgement is cached")));
        assert!(!kept.judgement(hash("b"), || false));
        for number in 0..MAX_JUDGEMENTS {
            kept.judgement(hash(&number.to_string()), || false);
        }
        assert!(kept.judgements.lock().unwrap().len() <= MAX_JUDGEMENTS);
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        let entries = Entries::parse("");
        assert_eq!((entries.versions("a").len(), entries.by_id.len()), (0, 0));
        assert!(!entries.knows_evidence("a", hash("a")));
    }

    proptest! {
        #[test]
        fn every_line_is_found_by_its_id(
            ids in prop::collection::btree_map("[a-z0-9-]{1,12}", (1_usize..4, 0_usize..3), 0..40),
            other in "[a-z0-9-]{1,12}",
        ) {
            let mut body = String::new();
            for (id, (n_versions, _)) in &ids {
                for n in 0..*n_versions {
                    body.push_str(&format!("{id} {} user\n", hash(&format!("{id}{n}"))));
                }
            }
            for (id, (_, n_evidence)) in &ids {
                for n in 0..*n_evidence {
                    body.push_str(&format!("{id} {} {EVIDENCE}\n", hash(&format!("e{id}{n}"))));
                }
            }
            let entries = Entries::parse(&body);
            prop_assert_eq!(entries.by_id.len(), ids.len());
            prop_assert_eq!(entries.render(), body);
            for (id, (n_versions, n_evidence)) in &ids {
                let found: Vec<ContentHash> = entries.versions(id).iter().map(|version| version.hash).collect();
                let made: Vec<ContentHash> = (0..*n_versions).map(|n| hash(&format!("{id}{n}"))).collect();
                prop_assert_eq!(found, made);
                let made: Vec<ContentHash> = (0..*n_evidence).map(|n| hash(&format!("e{id}{n}"))).collect();
                prop_assert_eq!(entries.evidence.get(id).cloned().unwrap_or_default(), made);
            }
            if !ids.contains_key(&other) {
                prop_assert!(!entries.knows(&other));
                prop_assert_eq!(entries.evidence.get(&other), None);
            }
        }
    }
}
