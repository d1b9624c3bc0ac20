//! Scores maintenance by how many planted problems it found and whether it changed anything else.

use std::collections::BTreeMap;

use nacre_memory::MemoryId;
use nacre_types::{MaintainAction, MaintainVerb, StoreMaintenance};

use super::corpus::{Corpus, Purpose};

#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) found: BTreeMap<&'static str, (usize, usize)>,
    pub(crate) n_done: usize,
    pub(crate) wrong: Vec<MaintainAction>,
    pub(crate) missed: Vec<MemoryId>,
}

impl Score {
    pub(crate) fn of(corpus: &Corpus, report: &StoreMaintenance) -> Self {
        let mut score = Self::default();
        let mut found: BTreeMap<MemoryId, ()> = BTreeMap::new();
        for action in &report.actions {
            score.n_done += 1;
            match find_planted(corpus, action) {
                Some(id) => {
                    found.insert(id, ());
                }
                None => score.wrong.push(action.clone()),
            }
        }
        for (id, purpose) in
            corpus.purposes.iter().filter(|(_, purpose)| **purpose != Purpose::Stays)
        {
            let (n_found, n_planted) = score.found.entry(name(*purpose)).or_default();
            *n_planted += 1;
            *n_found += usize::from(found.contains_key(id));
            if !found.contains_key(id) {
                score.missed.push(id.clone());
            }
        }
        score
    }

    pub(crate) fn precision(&self) -> f64 {
        (self.n_done - self.wrong.len()) as f64 / self.n_done.max(1) as f64
    }

    pub(crate) fn recall(&self) -> f64 {
        let sum = |part: fn(&(usize, usize)) -> usize| self.found.values().map(part).sum::<usize>();
        sum(|(found, _)| *found) as f64 / sum(|(_, planted)| *planted).max(1) as f64
    }
}

/// Returns the planted memory that the action affects, or `None` if the action is unexpected.
fn find_planted(corpus: &Corpus, action: &MaintainAction) -> Option<MemoryId> {
    let target: MemoryId = action.target.parse().ok()?;
    let with: Option<MemoryId> = action.with.as_ref().and_then(|id| id.parse().ok());
    let with = with.as_ref();
    let are_partners =
        |planted: &MemoryId, other: &MemoryId| corpus.partners.get(planted) == Some(other);
    match action.action {
        MaintainVerb::Merge => [(Some(&target), with), (with, Some(&target))]
            .into_iter()
            .find_map(|(planted, other)| {
                Some(planted?.clone()).filter(|id| are_partners(id, other.unwrap_or(id)))
            })
            .filter(|id| corpus.purposes.get(id) != Some(&Purpose::Overturned)),
        MaintainVerb::Supersede => Some(target).filter(|id| {
            corpus.purposes.get(id) == Some(&Purpose::Overturned)
                && with.is_some_and(|with| are_partners(id, with))
        }),
        MaintainVerb::Stale => {
            Some(target).filter(|id| corpus.purposes.get(id) == Some(&Purpose::Stale))
        }
        MaintainVerb::Consolidate
        | MaintainVerb::Archive
        | MaintainVerb::Restore
        | MaintainVerb::Freshen
        | MaintainVerb::Establish
        | MaintainVerb::Validate
        | MaintainVerb::Doubt
        | MaintainVerb::Relink => None,
    }
}

fn name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Stays => "stays",
        Purpose::Copy => "copies",
        Purpose::Paraphrase => "paraphrases",
        Purpose::Overturned => "contradictions",
        Purpose::Stale => "stale paths",
    }
}
