//! The text of a stored ledger: lines sorted by ID, which can be searched without parsing all of
//! them.
//!
//! A hook needs the levels of only a few out of thousands of memories, so a line is parsed only
//! when it is looked up. The order can be relied on, because a ledger without a valid seal is not
//! read.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::trust::Trust;
use nacre_base::ContentHash;
use nacre_base::fs::FileStamp;

/// Marks a line about evidence. It is written in the position of the trust level.
pub(super) const EVIDENCE: &str = "evidence";

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
    pub(super) fn parse(hash: &str, level: &str) -> Option<Self> {
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

#[derive(Debug)]
pub(super) struct LedgerText {
    text: String,
    body: usize,
    evidence: usize,
    n_memories: OnceLock<usize>,
}

impl LedgerText {
    /// `text` must be a sealed file. Its body starts at offset `body` and contains memories sorted
    /// by ID, followed by evidence sorted by ID.
    pub(super) fn new(text: String, body: usize) -> Self {
        let is_evidence = |line: &str| line.ends_with(EVIDENCE);
        let evidence = body + first_line(&text[body..], |line| !is_evidence(line));
        Self { text, body, evidence, n_memories: OnceLock::new() }
    }

    pub(super) fn versions<'t>(&'t self, id: &'t str) -> impl Iterator<Item = Version> {
        lines_of(&self.text[self.body..self.evidence], id)
            .filter_map(|(hash, level)| Version::parse(hash, level))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        lines_of(&self.text[self.body..self.evidence], id).next().is_some()
    }

    pub(super) fn evidence<'t>(&'t self, id: &'t str) -> impl Iterator<Item = ContentHash> {
        lines_of(&self.text[self.evidence..], id).filter_map(|(hash, _)| hash.parse().ok())
    }

    pub(super) fn n_memories(&self) -> usize {
        *self.n_memories.get_or_init(|| {
            let lines = self.text[self.body..self.evidence].lines();
            let ids = lines.filter_map(|line| line.split(' ').next());
            let (n_ids, _) = ids.fold((0, ""), |(n_ids, last), id| match id == last {
                true => (n_ids, last),
                false => (n_ids + 1, id),
            });
            n_ids
        })
    }

    pub(super) fn body(&self) -> &str {
        &self.text[self.body..]
    }
}

fn lines_of<'t>(text: &'t str, id: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let first = first_line(text, |line| line.split_once(' ').is_some_and(|(found, _)| found < id));
    let here = text[first..].lines().map_while(move |line| {
        line.split_once(' ').filter(|(found, _)| *found == id).map(|(_, rest)| rest)
    });
    here.filter_map(|rest| rest.split_once(' '))
}

/// Returns the offset of the first line for which `comes_before` is false. Uses binary search.
fn first_line(text: &str, comes_before: impl Fn(&str) -> bool) -> usize {
    let bytes = text.as_bytes();
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = bytes[low..middle].iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(low, |at| low + at + 1);
        let end = bytes[start..].iter().position(|byte| *byte == b'\n');
        let end = end.map_or(text.len(), |at| start + at);
        // Both ends are adjacent to a line break, which is one byte long, so they are character
        // boundaries.
        if comes_before(text.get(start..end).unwrap_or_default()) {
            low = (end + 1).min(text.len());
        } else {
            high = start;
        }
    }
    low
}

const MAX_KEPT: usize = 16;

/// This many judgements take about 1 MB.
const MAX_JUDGEMENTS: usize = 20_000;

/// A cache for servers. It contains the ledgers of all stores, and whether foreign texts contain
/// instructions.
#[derive(Debug, Default)]
pub struct KeptLedgers {
    ledgers: Mutex<HashMap<PathBuf, (FileStamp, Arc<LedgerText>)>>,
    judgements: Mutex<HashMap<ContentHash, bool>>,
}

impl KeptLedgers {
    pub(super) fn get(&self, path: &PathBuf, stamp: FileStamp) -> Option<Arc<LedgerText>> {
        let kept = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(path).filter(|(of, _)| *of == stamp).map(|(_, text)| Arc::clone(text))
    }

    pub(super) fn keep(&self, path: PathBuf, stamp: FileStamp, text: &Arc<LedgerText>) {
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
        assert!(kept.judgement(hash("a"), || unreachable!("it was judged before")));
        assert!(!kept.judgement(hash("b"), || false));
        for number in 0..MAX_JUDGEMENTS {
            kept.judgement(hash(&number.to_string()), || false);
        }
        assert!(kept.judgements.lock().unwrap().len() <= MAX_JUDGEMENTS);
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        let text = LedgerText::new(String::new(), 0);
        assert_eq!((text.versions("a").count(), text.n_memories()), (0, 0));
        assert_eq!(text.evidence("a").count(), 0);
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
            let text = LedgerText::new(body, 0);
            prop_assert_eq!(text.n_memories(), ids.len());
            for (id, (n_versions, n_evidence)) in &ids {
                let found: Vec<ContentHash> = text.versions(id).map(|version| version.hash).collect();
                let made: Vec<ContentHash> = (0..*n_versions).map(|n| hash(&format!("{id}{n}"))).collect();
                prop_assert_eq!(found, made);
                let made: Vec<ContentHash> = (0..*n_evidence).map(|n| hash(&format!("e{id}{n}"))).collect();
                prop_assert_eq!(text.evidence(id).collect::<Vec<_>>(), made);
            }
            if !ids.contains_key(&other) {
                prop_assert_eq!(text.versions(&other).count(), 0);
                prop_assert_eq!(text.evidence(&other).count(), 0);
            }
        }
    }
}
