//! Where each memory is in its life, and what that makes of its status and its place.

use jiff::Timestamp;
use nacre_core::memory::{Life, Revision, Stage, Standing, State, Status, StoreArea, Vitals};

use super::gather::Held;
use super::report::MaintainVerb;

/// Where a memory should be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aging {
    pub(super) from: Stage,
    pub(super) to: Standing,
    pub(super) effective: f64,
    /// The status that people and sessions gave it.
    own: Status,
}

impl Aging {
    /// What is done, in a word; `None` where the stage stays.
    pub(super) fn verb(&self) -> Option<MaintainVerb> {
        let verb = match (self.from, self.to.stage) {
            (from, to) if from == to => return None,
            (_, Stage::Archived) => MaintainVerb::Archive,
            (_, Stage::Stale) => MaintainVerb::Stale,
            (Stage::Archived, _) => MaintainVerb::Restore,
            (Stage::Stale, _) => MaintainVerb::Freshen,
            (_, Stage::Established) => MaintainVerb::Establish,
            (_, Stage::Validated) => MaintainVerb::Validate,
            (_, Stage::Candidate) => MaintainVerb::Doubt,
        };
        Some(verb)
    }

    fn status(&self) -> Status {
        match self.to.stage {
            Stage::Candidate => Status::Candidate,
            Stage::Validated | Stage::Established => Status::Active,
            Stage::Stale => Status::Stale,
            Stage::Archived => Status::Archived,
        }
    }

    /// What the status alone does not tell. What a person or a session marked as stale needs no word of ours.
    fn life(&self) -> Option<Life> {
        let Standing { stage, reason } = self.to.clone();
        let before = match stage {
            Stage::Candidate | Stage::Validated => return None,
            Stage::Stale if self.own == Status::Stale => return None,
            Stage::Established => None,
            Stage::Stale | Stage::Archived => Some(self.own.as_str().to_owned()),
        };
        Some(Life { stage, reason, status_before: before })
    }

    /// Writes it into a revision and the state; whether that changes anything is for the plan to see.
    pub(super) fn apply(&self, revision: &mut Revision, state: &mut State) {
        let is_put_away = self.to.stage == Stage::Archived;
        revision.status = Some(self.status());
        revision.area = Some(if is_put_away { StoreArea::Archived } else { StoreArea::Active });
        state.status_before_archive = is_put_away.then(|| self.own.as_str().to_owned());
        state.life = self.life();
    }
}

/// Where a memory is and where it should be now.
pub(super) fn age(one: &Held, vitals: &Vitals, gone: Option<&String>, now: Timestamp) -> Aging {
    let mut to = vitals.standing(now);
    if let Some(reason) = gone.filter(|_| to.stage < Stage::Stale) {
        to = Standing { stage: Stage::Stale, reason: reason.clone() };
    }
    Aging { from: current(one), to, effective: vitals.effective(now), own: vitals.status }
}

fn current(one: &Held) -> Stage {
    let life = one.state.as_ref().and_then(|state| state.life.as_ref());
    let of_status = Stage::of_status(one.memory.status);
    let is_established = life.is_some_and(|life| life.stage == Stage::Established);
    if is_established && of_status == Stage::Validated { Stage::Established } else { of_status }
}
