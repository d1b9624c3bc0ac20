//! Decides what happens to a candidate, based on the memories that are most similar to it.
//!
//! The decision depends only on texts, cosine similarities and times, so a repeated run makes the
//! same decision. Unclear cases fall in the grey band. A lead model can settle them; without one, a
//! rule that never overwrites a memory decides.

mod kinship;
mod lexicon;
mod measure;
mod profile;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
pub use nacre_types::{Band, CandidateVerb as Action};

pub(crate) use self::kinship::are_distinct;
pub use self::kinship::{Kinship, NearWords, are_opposed, kinship};
pub use self::measure::{Judgement, Likeness, Measures, Relation, Scores, judge, measure};
pub use self::profile::{Profile, is_amendment};
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};

/// Below this confidence a memory is doubted, so any contradiction supersedes it.
const DOUBTED: f64 = 0.4;

/// Minimum likelihood that an amendment is about the memory.
const MIN_AMENDED: f32 = 0.35;

/// Minimum share of a claim's terms that a memory must contain for an unclear claim to be dropped.
const MIN_HELD: f32 = 0.8;

/// A claim that a session proposes as a memory.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub memory_type: MemoryType,
    pub profile: Profile,
    pub said: Option<Timestamp>,
    /// Whether a person said that the claim replaces an earlier rule; see [`is_amendment`].
    pub amends: bool,
}

/// A memory that is similar to a proposal.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub status: Status,
    pub confidence: f64,
    pub is_rejected: bool,
    pub said: Option<Timestamp>,
    pub profile: Profile,
    pub likeness: Likeness,
}

/// What to do with a candidate, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub action: Action,
    pub band: Band,
    /// The memory to act on. For an addition in the grey band, this is a related memory.
    pub target: Option<MemoryId>,
    /// The memory's status after the action.
    pub status: Status,
    pub judgement: Option<Judgement>,
    pub reason: &'static str,
}

pub fn decide(proposal: &Proposal, near: &[Neighbour]) -> Decision {
    if let Some(same) = near.iter().find(|neighbour| is_contained(proposal, neighbour)) {
        return confirm(same, Judgement::CERTAIN, "the memory has the same wording");
    }
    let judged = near
        .iter()
        .filter(|neighbour| neighbour.status != Status::Superseded)
        .map(|neighbour| {
            (neighbour, judge(&proposal.profile, &neighbour.profile, neighbour.likeness))
        })
        .max_by(|(_, a), (_, b)| a.scores.about.total_cmp(&b.scores.about));
    let Some((nearest, judgement)) = judged else {
        return fresh(None, "no similar memory");
    };
    let repeats =
        judgement.relation == Relation::Same && may_repeat(&proposal.profile, &nearest.profile);
    if proposal.amends && !repeats && judgement.scores.about >= MIN_AMENDED {
        return overturn(proposal, nearest, judgement);
    }
    match (judgement.relation, is_clear(&judgement, proposal, nearest)) {
        (Relation::Different, true) => {
            fresh(Some(judgement), "the most similar memory is about something else")
        }
        (Relation::Same, true) => confirm(nearest, judgement, "the memory makes the same claim"),
        (Relation::Refines, true) => refine(proposal, nearest, judgement),
        (Relation::Contradicts, true) => overturn(proposal, nearest, judgement),
        (relation, false) => settle(proposal, nearest, relation, judgement),
    }
}

/// Returns whether a memory contains all words of the candidate in the same order. A superseded
/// memory does not count if the candidate was stated later.
fn is_contained(proposal: &Proposal, neighbour: &Neighbour) -> bool {
    let is_later = proposal.said.zip(neighbour.said).is_some_and(|(said, known)| said > known);
    neighbour.profile.holds(&proposal.profile)
        && !are_distinct(&proposal.profile, &neighbour.profile)
        && !(is_later && neighbour.status == Status::Superseded)
}

/// Returns whether a judgement is clear enough to act on. Any contradiction of a doubted memory is
/// clear. Two similar texts are not clearly the same if the proposal names something that the
/// memory does not, or if they differ in ways that similarity does not capture.
fn is_clear(judgement: &Judgement, proposal: &Proposal, nearest: &Neighbour) -> bool {
    let is_doubted = nearest.is_rejected || nearest.confidence < DOUBTED;
    match judgement.relation {
        Relation::Contradicts if is_doubted => true,
        Relation::Same => judgement.is_clear() && may_repeat(&proposal.profile, &nearest.profile),
        Relation::Contradicts | Relation::Refines | Relation::Different => judgement.is_clear(),
    }
}

/// Returns whether a claim might only repeat what a known claim already says.
pub fn may_repeat(claim: &Profile, known: &Profile) -> bool {
    !claim.names_beyond(known) && !are_distinct(claim, known)
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
        status: if action == Action::NoOp { nearest.status } else { Status::Active },
        judgement: Some(judgement),
        reason,
    }
}

/// Decides what happens to a candidate that repeats a memory. A candidate or stale memory becomes
/// active again unless the user rejected it.
fn confirm(nearest: &Neighbour, judgement: Judgement, reason: &'static str) -> Decision {
    let no_op = |reason| about(nearest, Action::NoOp, judgement, reason);
    match nearest.status {
        _ if nearest.is_rejected => no_op("the user marked it as wrong"),
        Status::Candidate | Status::Stale => {
            about(nearest, Action::Update, judgement, "confirmed by repetition")
        }
        Status::Superseded => no_op("already superseded"),
        Status::Archived => no_op("archived by the user"),
        Status::Active => no_op(reason),
    }
}

/// Leaves unchanged a memory that was recorded from the same message as the candidate.
pub fn leave_recorded(known: &Neighbour) -> Decision {
    about(known, Action::NoOp, Judgement::CERTAIN, "already recorded from the same message")
}

fn refine(proposal: &Proposal, nearest: &Neighbour, judgement: Judgement) -> Decision {
    let no_op = |reason| about(nearest, Action::NoOp, judgement, reason);
    match nearest.status {
        _ if nearest.is_rejected => no_op("the user marked it as wrong"),
        Status::Archived => no_op("archived by the user"),
        _ if nearest.memory_type != proposal.memory_type => {
            about(nearest, Action::Add, judgement, "adds to a memory of another type")
        }
        Status::Active | Status::Candidate | Status::Stale | Status::Superseded => {
            about(nearest, Action::Update, judgement, "adds details to the memory")
        }
    }
}

fn overturn(proposal: &Proposal, nearest: &Neighbour, judgement: Judgement) -> Decision {
    if proposal.said.zip(nearest.said).is_some_and(|(said, known)| said < known) {
        let decision = about(nearest, Action::NoOp, judgement, "contradicted by a later session");
        // Without a target, the claim does not count as a confirmation.
        return Decision { target: None, ..decision };
    }
    match nearest.status {
        Status::Archived => fresh(Some(judgement), "the contradicted memory is archived"),
        Status::Active | Status::Candidate | Status::Stale | Status::Superseded => {
            about(nearest, Action::Supersede, judgement, "contradicts the memory and is newer")
        }
    }
}

/// Decides an unclear case without a lead model. If the memory has nearly all words of the claim,
/// the claim is dropped; if the claim may say something new, it becomes a candidate.
fn settle(
    proposal: &Proposal,
    nearest: &Neighbour,
    relation: Relation,
    judgement: Judgement,
) -> Decision {
    let is_distinct = are_distinct(&proposal.profile, &nearest.profile);
    let is_held = proposal.profile.share_held_by(&nearest.profile) >= MIN_HELD;
    let reason = match relation {
        Relation::Same | Relation::Refines if !is_distinct && is_held => {
            let decision =
                about(nearest, Action::NoOp, judgement, "unclear: may repeat the memory");
            return Decision { band: Band::Grey, ..decision };
        }
        Relation::Same | Relation::Refines if !is_distinct => "unclear: may add to the memory",
        Relation::Same | Relation::Refines | Relation::Contradicts => {
            "unclear: may contradict the memory"
        }
        Relation::Different => "unclear: may be about something else",
    };
    let decision = about(nearest, Action::Add, judgement, reason);
    Decision { band: Band::Grey, status: Status::Candidate, ..decision }
}

/// Settles a grey-band decision using a lead model's ruling on how the candidate is related to
/// `target`. The user's decisions and later statements still take precedence.
pub fn settle_with_ruling(
    grey: &Decision,
    proposal: &Proposal,
    target: &Neighbour,
    relation: Relation,
) -> Decision {
    // The decision reports the probabilities that led to consulting the lead.
    let judgement = grey.judgement.unwrap_or(Judgement::CERTAIN);
    let decision = match relation {
        Relation::Same => confirm(target, judgement, "the memory makes the same claim"),
        Relation::Refines => refine(proposal, target, judgement),
        Relation::Contradicts => overturn(proposal, target, judgement),
        Relation::Different => Decision {
            target: grey.target.clone(),
            ..fresh(Some(judgement), "the most similar memory is about something else")
        },
    };
    Decision { band: Band::Grey, ..decision }
}
