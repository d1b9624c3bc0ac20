//! Decides when a loop is due. This is a pure state machine: the uptime and random numbers are
//! passed as arguments.

use std::time::Duration;

use nacre_types::Outcome;

/// Minimum time between the starts of two runs.
const MIN_GAP: Duration = Duration::from_secs(10);
/// Delay before the next attempt if another process is already doing the work.
const AFTER_BUSY: Duration = Duration::from_secs(60);
/// Maximum delay after a failure, unless the loop's period is longer.
const MAX_BACK_OFF: Duration = Duration::from_secs(60 * 60);
/// Maximum random adjustment of a delay, as a fraction of the delay. Keeps loops and machines from
/// running in lockstep.
const JITTER: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin,
    End(Outcome),
    Wake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) every: Duration,
    /// `None` while the loop is running.
    pub(super) due: Option<Duration>,
    /// Whether the loop was woken while it was running. If so, it runs again, because the first run
    /// may have read outdated input.
    is_woken: bool,
    begun: Option<Duration>,
    n_failed: u32,
}

impl Schedule {
    /// `draw` is a random number from 0 to 1.
    pub(super) fn new(every: Duration, first: Duration, now: Duration, draw: f64) -> Self {
        let due = Some(now + add_jitter(first, draw));
        Self { every, due, is_woken: false, begun: None, n_failed: 0 }
    }

    pub(super) fn next(self, now: Duration, step: Step, draw: f64) -> Self {
        match (step, self.due) {
            (Step::Begin, Some(due)) if due <= now => {
                Self { due: None, is_woken: false, begun: Some(now), ..self }
            }
            (Step::End(outcome), None) => {
                let ended = self.end(now, outcome, draw);
                if self.is_woken { ended.wake(now) } else { ended }
            }
            (Step::Wake, None) => Self { is_woken: true, ..self },
            (Step::Wake, Some(_)) => self.wake(now),
            (Step::Begin | Step::End(_), _) => self,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.due.is_none()
    }

    pub(super) fn is_failing(&self) -> bool {
        self.n_failed > 0
    }

    fn end(self, now: Duration, outcome: Outcome, draw: f64) -> Self {
        let every = self.every;
        let (wait, n_failed) = match outcome {
            Outcome::Done | Outcome::Partial => (every, 0),
            Outcome::Busy => (AFTER_BUSY.min(every), self.n_failed),
            Outcome::Failed => {
                let n_failed = self.n_failed.saturating_add(1);
                let doubled = every.saturating_mul(1 << n_failed.min(16));
                (doubled.min(MAX_BACK_OFF.max(every)), n_failed)
            }
        };
        Self { due: Some(now + add_jitter(wait, draw)), n_failed, ..self }
    }

    /// Makes the loop due soon, but does not shorten the delay after a failure.
    fn wake(self, now: Duration) -> Self {
        if self.n_failed > 0 {
            return self;
        }
        let earliest = self.begun.map_or(now, |begun| now.max(begun + MIN_GAP));
        Self { due: self.due.map(|due| due.min(earliest)), ..self }
    }
}

fn add_jitter(wait: Duration, draw: f64) -> Duration {
    wait.mul_f64(1.0 - JITTER + 2.0 * JITTER * draw.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const EVERY: Duration = Duration::from_secs(600);
    const FIRST: Duration = Duration::from_secs(30);
    /// The random number that adds no jitter.
    const MIDDLE: f64 = 0.5;

    fn run(schedule: Schedule, now: Duration, outcome: Outcome) -> Schedule {
        let begun = schedule.next(now, Step::Begin, MIDDLE);
        assert!(begun.is_running(), "due but not running: {schedule:?}");
        begun.next(now, Step::End(outcome), MIDDLE)
    }

    fn due(schedule: &Schedule) -> Duration {
        schedule.due.unwrap()
    }

    #[test]
    fn failures_double_the_wait_up_to_an_hour_and_a_success_ends_that() {
        let mut schedule = Schedule::new(EVERY, FIRST, Duration::ZERO, MIDDLE);
        let mut waits = Vec::new();
        for _ in 0..5 {
            let now = due(&schedule);
            schedule = run(schedule, now, Outcome::Failed);
            waits.push((due(&schedule) - now).as_secs_f64().round() as u64 / 60);
        }
        assert_eq!(waits, [20, 40, 60, 60, 60]);
        let now = due(&schedule);
        assert_eq!(due(&schedule.next(now - MINUTE, Step::Wake, MIDDLE)), now, "woken in vain");
        schedule = run(schedule, now, Outcome::Done);
        assert!(!schedule.is_failing());
    }

    #[test]
    fn who_wakes_it_while_it_runs_gets_another_run() {
        let schedule = Schedule::new(EVERY, FIRST, Duration::ZERO, MIDDLE);
        let woken = schedule.next(Duration::from_secs(1), Step::Wake, MIDDLE);
        assert_eq!(due(&woken), Duration::from_secs(1));
        let running = woken.next(Duration::from_secs(1), Step::Begin, MIDDLE);
        let woken = running.next(Duration::from_secs(2), Step::Wake, MIDDLE);
        let ended = woken.next(Duration::from_secs(3), Step::End(Outcome::Done), MIDDLE);
        assert_eq!(due(&ended), Duration::from_secs(11));
        let ended = running.next(Duration::from_secs(3), Step::End(Outcome::Done), MIDDLE);
        assert!(due(&ended) > 5 * MINUTE);
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Begin),
            Just(Step::Wake),
            Just(Step::End(Outcome::Done)),
            Just(Step::End(Outcome::Busy)),
            Just(Step::End(Outcome::Failed)),
        ]
    }

    proptest! {
        #[test]
        fn it_never_overlaps_hurries_or_stops(
            every in 30_u64..10_000,
            steps in prop::collection::vec((0_u64..5_000, step(), 0.0_f64..1.0), 1..100),
        ) {
            let every = Duration::from_secs(every);
            let mut schedule = Schedule::new(every, MINUTE, Duration::ZERO, MIDDLE);
            let (mut now, mut begun, mut is_running) = (Duration::ZERO, None::<Duration>, false);
            for (pause, step, draw) in steps {
                now += Duration::from_secs(pause);
                let before = schedule;
                schedule = schedule.next(now, step, draw);
                if schedule.is_running() && !before.is_running() {
                    prop_assert_eq!(step, Step::Begin);
                    prop_assert!(!is_running);
                    prop_assert!(due(&before) <= now);
                    prop_assert!(begun.is_none_or(|begun| begun + MIN_GAP <= now || begun == now));
                    begun = Some(now);
                }
                is_running = schedule.is_running();
                // After every step, the next run is due within the maximum delay.
                if let Some(due) = schedule.due {
                    let longest = MAX_BACK_OFF.max(every).mul_f64(1.0 + JITTER);
                    prop_assert!(due <= now + longest);
                }
                // After a failure, the delay is at least one period, minus the jitter.
                if step == Step::End(Outcome::Failed) && before.is_running() {
                    let least = every.mul_f64(1.0 - JITTER);
                    prop_assert!(now + least <= due(&schedule));
                }
            }
        }
    }
}
