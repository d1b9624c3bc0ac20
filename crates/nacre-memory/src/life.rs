//! Computes a memory's effective confidence and lifecycle stage.
//!
//! The inputs are the stored values, the last confirmation, the uses and the current time. A use is
//! a citation in an answer, a verdict, or a new session that repeats the memory. A memory counts as
//! unused only from its first offer onwards, because agents cannot use a memory that they have
//! never received.

use jiff::SignedDuration;

use super::sidecar::{Life, SAID_WRONG, Stage, Verdict, stage_of};
use crate::prelude::*;

/// Half-life of an unused memory's confidence. Memories that have been used have a longer
/// half-life.
const HALF_LIFE_DAYS: f64 = 240.0;

const MAX_USES: u64 = 1000;

const ESTABLISHED_USES: u64 = 3;

/// Below this confidence, a memory becomes stale. Below `ARCHIVED_BELOW`, it is archived.
const STALE_BELOW: f64 = 0.4;
const ARCHIVED_BELOW: f64 = 0.2;

const USUAL_CONFIDENCE: f64 = 0.5;

const DAY_SECONDS: f64 = 86_400.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Vitals {
    pub confidence: f64,
    /// The status set by users and sessions, before age is taken into account.
    pub status: Status,
    /// When the memory was last repeated, cited or judged useful.
    pub last_confirmed: Timestamp,
    pub offered: Option<Timestamp>,
    pub n_uses: u64,
    pub last_verdict: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub stage: Stage,
    pub reason: String,
}

impl Vitals {
    pub fn of(memory: &Memory, evidence: Option<&Evidence>, state: Option<&LocalState>) -> Self {
        let time = |text: &str| text.parse::<Timestamp>().ok();
        let quotes = evidence.iter().flat_map(|evidence| &evidence.quotes);
        let said = quotes.filter_map(|quote| time(&quote.at));
        let feedback = state.map(|state| state.feedback.as_slice()).unwrap_or_default();
        let useful = || feedback.iter().filter(|feedback| feedback.verdict == Verdict::Useful);
        let counted = state.iter().flat_map(|state| {
            [state.last_confirmed.as_deref(), state.last_cited.as_deref()].into_iter().flatten()
        });
        let confirmed = counted.chain(useful().map(|feedback| feedback.at.as_str()));
        let last = said.chain(confirmed.filter_map(time)).chain([born(memory)]).max();
        let status = own_status(memory, state);
        let is_candidate = status == Status::Candidate;
        let counts = state.map_or(0, |state| {
            // Offering a candidate does not confirm it.
            let citations = if is_candidate { 0 } else { state.citations };
            state.confirmations.saturating_add(citations)
        });
        // A verdict does not replace a review, because agents can rate their own claims.
        let judged = if is_candidate { 0 } else { useful().count() as u64 };
        let offered = state.and_then(|state| state.offered.as_ref().or(state.last_cited.as_ref()));
        Self {
            confidence: memory.confidence.unwrap_or(USUAL_CONFIDENCE),
            status,
            last_confirmed: last.unwrap_or_default(),
            offered: offered.and_then(|at| time(at)),
            n_uses: counts.saturating_add(judged),
            last_verdict: feedback.last().map(|feedback| feedback.verdict),
        }
    }

    /// Returns the confidence from 0 to 1, adjusted for age and use.
    pub fn effective(&self, now: Timestamp) -> f64 {
        let Some(unused) = self.disuse_start() else { return self.confidence };
        let age = now.duration_since(unused).as_secs_f64().max(0.0);
        self.confidence * (-age / self.half_life()).exp2()
    }

    /// Returns the later of the first offer and the last confirmation, or `None` if the memory was
    /// never offered.
    fn disuse_start(&self) -> Option<Timestamp> {
        self.offered.map(|offered| offered.max(self.last_confirmed))
    }

    pub fn standing(&self, now: Timestamp) -> Standing {
        let standing = |stage, reason: &str| Standing { stage, reason: reason.to_owned() };
        if self.last_verdict == Some(Verdict::Wrong) {
            return standing(Stage::Archived, SAID_WRONG);
        }
        if let Some(unused) = self.disuse_start() {
            let (since, effective) = (unused.strftime("%Y-%m-%d"), self.effective(now));
            if effective < ARCHIVED_BELOW {
                let reason = format!("not used or confirmed since {since}, so it is archived");
                return standing(Stage::Archived, &reason);
            }
            if effective < STALE_BELOW {
                return standing(Stage::Stale, &format!("not used or confirmed since {since}"));
            }
        }
        match self.status {
            Status::Stale => standing(Stage::Stale, "it was marked as stale"),
            _ if self.n_uses >= ESTABLISHED_USES => {
                standing(Stage::Established, "it was used or confirmed at least three times")
            }
            Status::Candidate if self.n_uses == 0 => {
                standing(Stage::Candidate, "it has not been confirmed yet")
            }
            Status::Candidate => standing(Stage::Validated, "it has been used or confirmed since"),
            Status::Active | Status::Superseded | Status::Archived => {
                standing(Stage::Validated, "it is proved")
            }
        }
    }

    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let unused = self.disuse_start()?;
        let crossing = |threshold: f64| {
            let seconds = self.half_life() * (self.confidence / threshold).log2();
            let is_ahead = self.confidence >= threshold;
            // Add one second so that the value is below the threshold rather than equal to it.
            let seconds = is_ahead.then(|| seconds.ceil() as i64 + 1)?;
            unused.checked_add(SignedDuration::from_secs(seconds)).ok()
        };
        [STALE_BELOW, ARCHIVED_BELOW].into_iter().filter_map(crossing).filter(|at| *at > now).min()
    }

    /// In seconds.
    fn half_life(&self) -> f64 {
        let uses = self.n_uses.min(MAX_USES) as f64;
        HALF_LIFE_DAYS * DAY_SECONDS * (1.0 + uses.ln_1p())
    }
}

/// Returns when the memory was created. If the creation time is missing, returns the date in the
/// ID.
fn born(memory: &Memory) -> Timestamp {
    let date = memory.at.id.date();
    let day = || {
        let (year, rest) = (date.get(..4)?, date.get(4..)?);
        format!("{year}-{}-{}T00:00:00Z", rest.get(..2)?, rest.get(2..)?).parse().ok()
    };
    memory.created.or_else(day).unwrap_or_default()
}

/// Returns the memory's status before age is taken into account.
pub(super) fn own_status(memory: &Memory, state: Option<&LocalState>) -> Status {
    let life = state.and_then(|state| state.life.as_ref());
    let is_ours = |life: &&Life| stage_of(memory.status) == life.stage;
    let before = life.filter(is_ours).and_then(|life| life.status_before.as_deref());
    before.and_then(Status::from_name).unwrap_or(memory.status)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: &str = "2026-01-01T00:00:00Z";

    fn vitals(confidence: f64, n_uses: u64) -> Vitals {
        Vitals {
            confidence,
            status: Status::Active,
            last_confirmed: START.parse().unwrap(),
            offered: Some(START.parse().unwrap()),
            n_uses,
            last_verdict: None,
        }
    }

    fn after(days: i64) -> Timestamp {
        START.parse::<Timestamp>().unwrap() + SignedDuration::from_hours(24 * days)
    }

    #[test]
    fn a_memory_that_nobody_uses_grows_stale_and_is_put_away() {
        let told = |vitals: &Vitals, days| vitals.standing(after(days)).stage.as_str();
        let unused = vitals(0.8, 0);
        let table = [(0, "validated"), (230, "validated"), (250, "stale"), (500, "archived")];
        for (days, stage) in table {
            assert_eq!(told(&unused, days), stage, "after {days} days");
        }
        assert_eq!(told(&vitals(0.8, 3), 500), "established");
        let candidate = Vitals { status: Status::Candidate, ..vitals(0.8, 0) };
        assert_eq!(told(&candidate, 1), "candidate");
        assert_eq!(told(&Vitals { n_uses: 1, ..candidate }, 1), "validated");
    }

    #[test]
    fn disuse_begins_with_the_first_offer() {
        let never = Vitals { offered: None, ..vitals(0.3, 0) };
        assert_eq!(never.standing(after(4000)).stage, Stage::Validated);
        assert_eq!((never.effective(after(4000)), never.next_change(after(0))), (0.3, None));
        let late = Vitals { offered: Some(after(1000)), ..vitals(0.8, 0) };
        assert_eq!(late.standing(after(1230)).stage, Stage::Validated);
        assert_eq!(late.standing(after(1250)).stage, Stage::Stale);
        let used = Vitals { last_confirmed: after(1200), ..late };
        assert_eq!(used.standing(after(1250)).stage, Stage::Validated);
    }

    #[test]
    fn a_persons_word_comes_before_any_number() {
        for (verdict, status, stage) in [
            (Verdict::Wrong, Status::Active, Stage::Archived),
            (Verdict::Outdated, Status::Stale, Stage::Stale),
            (Verdict::Useful, Status::Active, Stage::Established),
        ] {
            let judged = Vitals { status, last_verdict: Some(verdict), ..vitals(0.9, 5) };
            assert_eq!(judged.standing(after(0)).stage, stage, "{}", verdict.as_str());
        }
    }

    proptest! {
        #[test]
        fn confidence_only_falls_with_time_and_use_only_slows_it(
            confidence in 0.0..=1.0_f64, n_uses in 0..2000_u64, days in 0..4000_i64, more in 0..4000_i64,
        ) {
            let worth = vitals(confidence, n_uses);
            let (soon, late) = (worth.effective(after(days)), worth.effective(after(days + more)));
            prop_assert!((0.0..=confidence).contains(&soon) && late <= soon);
            prop_assert!(vitals(confidence, n_uses + 1).effective(after(days)) >= soon);
        }

        #[test]
        fn until_the_next_change_nothing_changes(
            confidence in 0.0..=1.0_f64, n_uses in 0..20_u64, days in 0..3000_i64, share in 0.0..1.0_f64,
        ) {
            let worth = vitals(confidence, n_uses);
            let now = after(days);
            let stage = worth.standing(now).stage;
            let until = worth.next_change(now).unwrap_or_else(|| after(9000));
            let between = until.duration_since(now).as_secs_f64() * share;
            let then = now + SignedDuration::from_secs(between as i64);
            if then + SignedDuration::from_secs(2) < until {
                prop_assert_eq!(worth.standing(then).stage, stage);
            }
            if worth.next_change(now).is_some() {
                prop_assert_ne!(worth.standing(until).stage, stage);
            }
        }
    }
}
