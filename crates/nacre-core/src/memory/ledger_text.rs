//! A ledger as it is stored: lines in the order of ids, looked up where they stand.
//!
//! A hook asks for a handful of ten thousand memories and somebody waits for it, so nothing is taken apart that is not asked for. The order
//! is our own: a ledger is sealed, and one that is not is not read.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::trust::Trust;
use crate::base::ContentHash;
use crate::safefs::FileStamp;

/// What stands in the place of a level where the line is about the evidence of a memory.
pub(super) const EVIDENCE: &str = "evidence";

/// What follows the level of a version that the user wrote with an editor and has not been shown yet.
const UNSEEN_EDIT: &str = "+edit";

/// One known version of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) hash: ContentHash,
    pub(super) trust: Trust,
    /// Whether `nacre trust --diff` has to show it.
    pub(super) is_unseen_edit: bool,
}

impl Version {
    pub(super) fn parse(hash: &str, level: &str) -> Option<Self> {
        let seen = level.strip_suffix(UNSEEN_EDIT);
        let trust = Trust::from_name(seen.unwrap_or(level))?;
        Some(Self { hash: hash.parse().ok()?, trust, is_unseen_edit: seen.is_some() })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_unseen_edit { UNSEEN_EDIT } else { "" };
        write!(f, "{} {}{mark}", self.hash, self.trust.as_str())
    }
}

/// The body of a ledger.
#[derive(Debug)]
pub(super) struct LedgerText {
    /// The file, as it was read.
    text: String,
    /// Where its body begins.
    body: usize,
    /// Where the lines about evidence begin.
    evidence: usize,
    n_memories: OnceLock<usize>,
}

impl LedgerText {
    /// Takes a file whose body, which begins at `body`, we have rendered: the memories by id, then the evidence by id.
    pub(super) fn new(text: String, body: usize) -> Self {
        let is_evidence = |line: &str| line.ends_with(EVIDENCE);
        let evidence = body + first_line(&text[body..], |line| !is_evidence(line));
        Self { text, body, evidence, n_memories: OnceLock::new() }
    }

    /// The known versions of a memory, the newest first.
    pub(super) fn versions<'t>(&'t self, id: &'t str) -> impl Iterator<Item = Version> {
        lines_of(&self.text[self.body..self.evidence], id)
            .filter_map(|(hash, level)| Version::parse(hash, level))
    }

    /// Whether a version of a memory is known.
    pub(super) fn has(&self, id: &str) -> bool {
        lines_of(&self.text[self.body..self.evidence], id).next().is_some()
    }

    /// The known evidence of a memory, the newest first.
    pub(super) fn evidence<'t>(&'t self, id: &'t str) -> impl Iterator<Item = ContentHash> {
        lines_of(&self.text[self.evidence..], id).filter_map(|(hash, _)| hash.parse().ok())
    }

    /// How many memories are known.
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

/// What stands behind an id, line by line.
fn lines_of<'t>(text: &'t str, id: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let first = first_line(text, |line| line.split_once(' ').is_some_and(|(found, _)| found < id));
    let here = text[first..].lines().map_while(move |line| {
        line.split_once(' ').filter(|(found, _)| *found == id).map(|(_, rest)| rest)
    });
    here.filter_map(|rest| rest.split_once(' '))
}

/// Where the first line begins that does not come before; those that do stand first.
fn first_line(text: &str, comes_before: impl Fn(&str) -> bool) -> usize {
    let bytes = text.as_bytes();
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = bytes[low..middle].iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(low, |at| low + at + 1);
        let end = bytes[start..].iter().position(|byte| *byte == b'\n');
        let end = end.map_or(text.len(), |at| start + at);
        // Both ends stand beside a line's end, which is one byte: the text stays whole.
        if comes_before(text.get(start..end).unwrap_or_default()) {
            low = (end + 1).min(text.len());
        } else {
            high = start;
        }
    }
    low
}

/// What the levels of trust in a store follow from, beside its memories.
#[derive(Clone, Debug)]
pub(crate) struct TrustState {
    /// Nothing where there is no ledger.
    pub(super) ledger: Option<Arc<LedgerText>>,
    pub(super) is_personal: bool,
    pub(super) trusts_evidence: bool,
}

impl PartialEq for TrustState {
    /// A ledger that was read again may say something else.
    fn eq(&self, other: &Self) -> bool {
        let is_same_ledger = match (&self.ledger, &other.ledger) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        is_same_ledger
            && (self.is_personal, self.trusts_evidence)
                == (other.is_personal, other.trusts_evidence)
    }
}

impl Eq for TrustState {}

/// So many ledgers are kept at most.
const MAX_KEPT: usize = 16;

/// So many judgements on texts from elsewhere are kept at most: about one megabyte.
const MAX_JUDGEMENTS: usize = 20_000;

/// Ledgers that a process with many calls keeps between them, each as long as its file is the same; and which texts that no
/// ledger knows may give an order, for whatever store.
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

    /// What `judge` says of the text with this hash, asked once.
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
