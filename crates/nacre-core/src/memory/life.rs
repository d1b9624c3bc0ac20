//! How much a memory is still worth, and where it is in its life.
//!
//! Pure: what was stored, when it was last confirmed, how often it was really used, and the time now come in as
//! values. Nothing is worn away by looking: asked once or fifty times over a year, the answer at its end is the same.
//! Reads of our own are no use; a citation in an answer, a person's verdict and a new session that says it again are.
//! Disuse begins when a memory is first offered: how old the session is that it comes from says nothing, and what nobody was
//! offered nobody can have ignored.

use jiff::{SignedDuration, Timestamp};

use super::kinds::Status;
use super::record::Memory;
use super::sidecar::{Evidence, State, Verdict};
use super::stage::{Life, SAID_WRONG, Stage};

/// The days after which half of the confidence in an unused memory is left; uses make it longer.
const HALF_LIFE_DAYS: f64 = 240.0;

/// More uses than this add nothing.
const MAX_USES: u64 = 1000;

/// As often used, a memory is relied on.
const ESTABLISHED_USES: u64 = 3;

/// Below these a memory is doubted, and put away.
const STALE_BELOW: f64 = 0.4;
const ARCHIVED_BELOW: f64 = 0.2;

/// What a memory without a confidence is taken for.
const USUAL_CONFIDENCE: f64 = 0.5;

const DAY_SECONDS: f64 = 86_400.0;

/// What decides how much a memory is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Vitals {
    pub confidence: f64,
    /// The status that people and sessions gave it, whatever age made of it.
    pub status: Status,
    /// When it was last said, cited or found useful.
    pub last_confirmed: Timestamp,
    /// When it was first offered to somebody.
    pub offered: Option<Timestamp>,
    pub n_uses: u64,
    pub last_verdict: Option<Verdict>,
}

/// A stage and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub stage: Stage,
    pub reason: String,
}

impl Vitals {
    /// What is known of a memory.
    pub fn of(memory: &Memory, evidence: Option<&Evidence>, state: Option<&State>) -> Self {
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
        let counts = state.map_or(0, |state| match status {
            // To be shown as a candidate confirms nothing.
            Status::Candidate => state.confirmations,
            Status::Active | Status::Superseded | Status::Stale | Status::Archived => {
                state.confirmations.saturating_add(state.citations)
            }
        });
        let offered = state.and_then(|state| state.offered.as_ref().or(state.last_cited.as_ref()));
        Self {
            confidence: memory.confidence.unwrap_or(USUAL_CONFIDENCE),
            status,
            last_confirmed: last.unwrap_or_default(),
            offered: offered.and_then(|at| time(at)),
            n_uses: counts.saturating_add(useful().count() as u64),
            last_verdict: feedback.last().map(|feedback| feedback.verdict),
        }
    }

    /// The confidence that age and use leave, from 0 to 1.
    pub fn effective(&self, now: Timestamp) -> f64 {
        let Some(unused) = self.unused_since() else { return self.confidence };
        let age = now.duration_since(unused).as_secs_f64().max(0.0);
        self.confidence * (-age / self.half_life()).exp2()
    }

    /// Since when it could have been used and was not; `None` where nobody was ever offered it.
    fn unused_since(&self) -> Option<Timestamp> {
        self.offered.map(|offered| offered.max(self.last_confirmed))
    }

    /// Where it is in its life now.
    pub fn standing(&self, now: Timestamp) -> Standing {
        let standing = |stage, reason: &str| Standing { stage, reason: reason.to_owned() };
        if self.last_verdict == Some(Verdict::Wrong) {
            return standing(Stage::Archived, SAID_WRONG);
        }
        if let Some(unused) = self.unused_since() {
            let (since, effective) = (unused.strftime("%Y-%m-%d"), self.effective(now));
            if effective < ARCHIVED_BELOW {
                let reason = format!("not confirmed or used since {since}, for too long to keep");
                return standing(Stage::Archived, &reason);
            }
            if effective < STALE_BELOW {
                return standing(Stage::Stale, &format!("not confirmed or used since {since}"));
            }
        }
        match self.status {
            Status::Stale => standing(Stage::Stale, "it was marked as stale"),
            _ if self.n_uses >= ESTABLISHED_USES => {
                standing(Stage::Established, "it was used or confirmed three times or more")
            }
            Status::Candidate if self.n_uses == 0 => {
                standing(Stage::Candidate, "nothing has confirmed it yet")
            }
            Status::Candidate => standing(Stage::Validated, "it was used or confirmed since"),
            Status::Active | Status::Superseded | Status::Archived => {
                standing(Stage::Validated, "it is proved")
            }
        }
    }

    /// When time alone will change its stage next.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let unused = self.unused_since()?;
        let crossing = |threshold: f64| {
            let seconds = self.half_life() * (self.confidence / threshold).log2();
            let is_ahead = self.confidence >= threshold;
            // A second more, so that then it is below and not at the threshold.
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

/// When a memory was made; its id tells the day where nothing else does.
fn born(memory: &Memory) -> Timestamp {
    let date = memory.at.id.date();
    let day = || {
        let (year, rest) = (date.get(..4)?, date.get(4..)?);
        format!("{year}-{}-{}T00:00:00Z", rest.get(..2)?, rest.get(2..)?).parse().ok()
    };
    memory.created.or_else(day).unwrap_or_default()
}

/// The status of a memory without what age made of it.
pub(super) fn own_status(memory: &Memory, state: Option<&State>) -> Status {
    let life = state.and_then(|state| state.life.as_ref());
    let is_ours = |life: &&Life| Stage::of_status(memory.status) == life.stage;
    let before = life.filter(is_ours).and_then(|life| life.status_before.as_deref());
    before.and_then(|status| status.parse().ok()).unwrap_or(memory.status)
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
