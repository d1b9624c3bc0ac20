//! The decision: what becomes of a candidate beside the memories nearest to it.
//!
//! Computed, not prompted, and pure: texts, cosines and times come in as values, so the same run decides the same
//! wherever it is repeated. What is not clear is grey. A lead may settle that; without one it is settled by rule, so
//! that nothing is overwritten and nothing is said twice.

mod general;
mod kinship;
mod measure;
mod profile;
#[cfg(test)]
mod tests;
mod weights;
mod word_lists;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::kinship::{Kinship, NearWords, kinship};
pub use self::measure::{Likeness, Measures, measure};
pub use self::profile::Profile;
pub use self::weights::{Judgement, Relation, Scores, judge};
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};

/// Below this confidence a memory is no longer believed: what contradicts it needs no more proof.
const DOUBTED: f64 = 0.4;

/// What a session proposes.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub memory_type: MemoryType,
    pub profile: Profile,
    /// When it was said, where that is known.
    pub said: Option<Timestamp>,
}

/// A memory near to a proposal.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub status: Status,
    pub confidence: f64,
    /// A person said that it is wrong.
    pub is_rejected: bool,
    /// When it was last said, where that is known.
    pub said: Option<Timestamp>,
    pub profile: Profile,
    pub likeness: Likeness,
}

/// What is done with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Add,
    Update,
    NoOp,
    /// Added, and the memory that it contradicts is kept as overturned.
    Supersede,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::NoOp => "no-op",
            Self::Supersede => "supersede",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the numbers alone decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    Clear,
    Grey,
}

impl Band {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Grey => "grey",
        }
    }
}

/// What becomes of a candidate, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub action: Action,
    pub band: Band,
    /// The memory that was decided about; an addition in the grey band is related to it.
    pub target: Option<MemoryId>,
    /// The status that the memory has afterwards.
    pub status: Status,
    pub judgement: Option<Judgement>,
    pub reason: &'static str,
}

/// Decides about a candidate.
pub fn decide(proposal: &Proposal, near: &[Neighbour]) -> Decision {
    if let Some(same) = near.iter().find(|neighbour| is_contained(proposal, neighbour)) {
        return confirm(same, Judgement::CERTAIN, "the memory says it in the same words");
    }
    let judged = near
        .iter()
        .filter(|neighbour| neighbour.status != Status::Superseded)
        .map(|neighbour| {
            (neighbour, judge(&proposal.profile, &neighbour.profile, neighbour.likeness))
        })
        .max_by(|(_, a), (_, b)| a.scores.about.total_cmp(&b.scores.about));
    let Some((nearest, judgement)) = judged else {
        return fresh(None, "no memory is near");
    };
    match (judgement.relation, is_clear(&judgement, proposal, nearest)) {
        (Relation::Different, true) => {
            fresh(Some(judgement), "the nearest memory is about something else")
        }
        (Relation::Same, true) => confirm(nearest, judgement, "the memory says the same"),
        (Relation::Refines, true) => refine(proposal, nearest, judgement),
        (Relation::Contradicts, true) => overturn(proposal, nearest, judgement),
        (relation, false) => settle(nearest, relation, judgement),
    }
}

/// Whether a memory holds the candidate's words, all of them in their order.
fn is_contained(proposal: &Proposal, neighbour: &Neighbour) -> bool {
    let is_overturned_later =
        neighbour.status == Status::Superseded && is_later(proposal, neighbour);
    neighbour.profile.holds(&proposal.profile) && !is_overturned_later
}

fn is_later(proposal: &Proposal, neighbour: &Neighbour) -> bool {
    proposal.said.zip(neighbour.said).is_some_and(|(said, known)| said > known)
}

/// A memory that is doubted already is overturned by less. Two texts of the same words are not clearly the same where one names
/// something else.
fn is_clear(judgement: &Judgement, proposal: &Proposal, nearest: &Neighbour) -> bool {
    let is_doubted = nearest.is_rejected || nearest.confidence < DOUBTED;
    let names_more = || proposal.profile.names_beyond(&nearest.profile);
    match judgement.relation {
        Relation::Contradicts if is_doubted => true,
        Relation::Same => judgement.is_clear() && !names_more(),
        Relation::Contradicts | Relation::Refines | Relation::Different => judgement.is_clear(),
    }
}

fn fresh(judgement: Option<Judgement>, reason: &'static str) -> Decision {
    Decision {
        action: Action::Add,
        band: Band::Clear,
        target: None,
        status: Status::Active,
        judgement,
        reason,
    }
}

fn about(
    nearest: &Neighbour,
    action: Action,
    judgement: Judgement,
    reason: &'static str,
) -> Decision {
    Decision {
        action,
        band: Band::Clear,
        target: Some(nearest.id.clone()),
        status: nearest.status,
        judgement: Some(judgement),
        reason,
    }
}

/// What is said again holds again, unless a person decided otherwise.
fn confirm(nearest: &Neighbour, judgement: Judgement, reason: &'static str) -> Decision {
    let no_op = |reason| about(nearest, Action::NoOp, judgement, reason);
    match nearest.status {
        _ if nearest.is_rejected => no_op("a person said that this is wrong"),
        Status::Candidate | Status::Stale => Decision {
            status: Status::Active,
            ..about(nearest, Action::Update, judgement, "it was said again, so it holds")
        },
        Status::Superseded => no_op("it was overturned since"),
        Status::Archived => no_op("a person put this away"),
        Status::Active => no_op(reason),
    }
}

fn refine(proposal: &Proposal, nearest: &Neighbour, judgement: Judgement) -> Decision {
    let no_op = |reason| about(nearest, Action::NoOp, judgement, reason);
    match nearest.status {
        _ if nearest.is_rejected => no_op("a person said that this is wrong"),
        Status::Archived => no_op("a person put this away"),
        _ if nearest.memory_type != proposal.memory_type => Decision {
            status: Status::Active,
            ..about(nearest, Action::Add, judgement, "it adds to a memory of another type")
        },
        Status::Active | Status::Candidate | Status::Stale | Status::Superseded => Decision {
            status: Status::Active,
            ..about(nearest, Action::Update, judgement, "it says more than the memory")
        },
    }
}

fn overturn(proposal: &Proposal, nearest: &Neighbour, judgement: Judgement) -> Decision {
    if is_later_known(proposal, nearest) {
        return about(nearest, Action::NoOp, judgement, "a later session says otherwise");
    }
    match nearest.status {
        Status::Archived => {
            Decision { target: None, ..fresh(Some(judgement), "what it contradicts was put away") }
        }
        Status::Active | Status::Candidate | Status::Stale | Status::Superseded => Decision {
            status: Status::Active,
            ..about(nearest, Action::Supersede, judgement, "it says otherwise, and later")
        },
    }
}

fn is_later_known(proposal: &Proposal, nearest: &Neighbour) -> bool {
    proposal.said.zip(nearest.said).is_some_and(|(said, known)| said < known)
}

/// Without a lead: what may be a repetition is left out, what may be news waits as a candidate.
fn settle(nearest: &Neighbour, relation: Relation, judgement: Judgement) -> Decision {
    let (action, status, reason) = match relation {
        Relation::Same | Relation::Refines => {
            (Action::NoOp, nearest.status, "unclear: it may be what the memory says")
        }
        Relation::Contradicts => {
            (Action::Add, Status::Candidate, "unclear: it may contradict the memory")
        }
        Relation::Different => {
            (Action::Add, Status::Candidate, "unclear: it may be about something else")
        }
    };
    Decision {
        action,
        band: Band::Grey,
        target: Some(nearest.id.clone()),
        status,
        judgement: Some(judgement),
        reason,
    }
}

/// Settles a decision of the grey band as a lead found: how the candidate stands to `target`. What a person decided about
/// the memory and what was said later than the candidate still comes first.
pub fn ruled(
    grey: &Decision,
    proposal: &Proposal,
    target: &Neighbour,
    relation: Relation,
) -> Decision {
    // The numbers stay those that left it open.
    let judgement = grey.judgement.unwrap_or(Judgement::CERTAIN);
    let decision = match relation {
        Relation::Same => confirm(target, judgement, "the memory says the same"),
        Relation::Refines => refine(proposal, target, judgement),
        Relation::Contradicts => overturn(proposal, target, judgement),
        Relation::Different => Decision {
            target: grey.target.clone(),
            ..fresh(Some(judgement), "the nearest memory is about something else")
        },
    };
    Decision { band: Band::Grey, ..decision }
}
