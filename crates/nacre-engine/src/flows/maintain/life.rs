//! Where each memory is in its life, and what that makes of its status and its place.

use jiff::Timestamp;
use nacre_core::memory::{Life, Revision, Shelf, Stage, Standing, State, Status, Vitals};

use super::gather::Held;

/// A step in a memory's life.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aging {
    pub(super) from: Stage,
    pub(super) to: Standing,
    pub(super) effective: f64,
}

impl Aging {
    /// What was done, in a word.
    pub(super) fn verb(&self) -> &'static str {
        match (self.from, self.to.stage) {
            (_, Stage::Archived) => "archive",
            (_, Stage::Stale) => "stale",
            (Stage::Archived, _) => "restore",
            (Stage::Stale, _) => "freshen",
            (_, Stage::Established) => "establish",
            (_, Stage::Validated) => "validate",
            (_, Stage::Candidate) => "doubt",
        }
    }
}

/// Where a memory should be now, `None` where it is there.
pub(super) fn age(
    one: &Held,
    vitals: &Vitals,
    gone: Option<&String>,
    now: Timestamp,
) -> Option<Aging> {
    let mut to = vitals.standing(now);
    if let Some(reason) = gone.filter(|_| to.stage < Stage::Stale) {
        to = Standing { stage: Stage::Stale, reason: reason.clone() };
    }
    let from = current(one);
    let is_same = from == to.stage && (to.stage < Stage::Stale || reason(one) == Some(&to.reason));
    // What a person or a session marked as stale needs no word of ours.
    let is_theirs = to.stage == Stage::Stale && vitals.status == Status::Stale;
    (!is_same && !is_theirs).then(|| Aging { from, to, effective: vitals.effective(now) })
}

fn current(one: &Held) -> Stage {
    let life = one.state.as_ref().and_then(|state| state.life.as_ref());
    let of_status = Stage::of_status(one.memory.status);
    match life {
        Some(life) if life.stage == Stage::Established && of_status == Stage::Validated => {
            life.stage
        }
        Some(_) | None => of_status,
    }
}

fn reason(one: &Held) -> Option<&String> {
    one.state.as_ref().and_then(|state| state.life.as_ref()).map(|life| &life.reason)
}

/// Writes a step into a revision and its state.
pub(super) fn apply(aging: &Aging, own: Status, revision: &mut Revision, state: &mut State) {
    let Standing { stage, reason } = &aging.to;
    let status = match stage {
        Stage::Candidate => Status::Candidate,
        Stage::Validated | Stage::Established => Status::Active,
        Stage::Stale => Status::Stale,
        Stage::Archived => Status::Archived,
    };
    let is_put_away = *stage == Stage::Archived;
    revision.status = Some(status);
    revision.shelf = Some(if is_put_away { Shelf::Archived } else { Shelf::Active });
    let before = (*stage >= Stage::Stale).then(|| own.as_str().to_owned());
    state.status_before_archive = before.clone().filter(|_| is_put_away);
    let life = Life { stage: *stage, reason: reason.clone(), status_before: before };
    state.life = (*stage != Stage::of_status(status) || *stage >= Stage::Stale).then_some(life);
}
