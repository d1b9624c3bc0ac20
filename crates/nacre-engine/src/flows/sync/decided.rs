//! A candidate, the memories nearest to it, and what becomes of it.

use nacre_core::base::ContentHash;
use nacre_core::memory::{Band, Decision, Located, Neighbour, Proposal};

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
    /// Whether the numbers did not decide, and nobody else did.
    pub(super) fn is_open(&self) -> bool {
        self.decision.band == Band::Grey && self.ruling.is_none()
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
