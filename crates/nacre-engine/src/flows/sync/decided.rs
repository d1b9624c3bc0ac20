//! A candidate, the memories nearest to it, and what becomes of it.

use nacre_core::base::ContentHash;
use nacre_core::memory::{Action, Band, Decision, Located, Neighbour, Proposal, Relation};

use crate::agents::LeadRuling;
use crate::flows::candidate::Candidate;

/// How a paragraph begins that tells when something was said, and not what.
const CONTEXT: &str = "The person said this ";

/// What a body claims, without when it was said.
pub(in crate::flows) fn claimed(body: &str) -> String {
    let paragraphs = body.trim().split("\n\n");
    paragraphs.filter(|part| !part.starts_with(CONTEXT)).collect::<Vec<_>>().join("\n\n")
}

/// A candidate and what becomes of it.
pub(super) struct Decided {
    pub(super) candidate: Candidate,
    pub(super) decision: Decision,
    /// The lead's word, where it settled this.
    pub(super) ruling: Option<LeadRuling>,
    /// What it was compared with.
    pub(super) near: Vec<Beside>,
    pub(super) proposal: Proposal,
}

impl Decided {
    /// Whether a lead is asked, where there is one: the numbers did not decide, or they alone would change a memory.
    pub(super) fn is_open(&self) -> bool {
        self.ruling.is_none() && (self.decision.band == Band::Grey || self.changes_by_numbers())
    }

    /// Whether nothing but numbers says that a memory is changed or overturned. Where two texts share most of their words, they
    /// take an exception or a repetition for another value now and then.
    fn changes_by_numbers(&self) -> bool {
        let relation = self.decision.judgement.map(|judgement| judgement.relation);
        matches!(self.decision.action, Action::Update | Action::Supersede)
            && matches!(relation, Some(Relation::Refines | Relation::Contradicts))
    }
}

/// A memory near to a candidate.
pub(super) struct Beside {
    pub(super) neighbour: Neighbour,
    pub(super) at: Located,
    pub(super) title: String,
    /// What it claims.
    pub(super) body: String,
    /// Its file as it was compared.
    pub(super) seen: ContentHash,
}
