//! When a loop is due: a state machine over the age of the process. It has no clock and no chance of its own.

use std::time::Duration;

/// Two runs of a loop begin at least so far apart, however often it is woken.
const MIN_GAP: Duration = Duration::from_secs(10);
/// When to try again where another process was at it.
const AFTER_BUSY: Duration = Duration::from_secs(60);
/// The longest wait after failures, unless the loop waits longer anyway.
const MAX_BACK_OFF: Duration = Duration::from_secs(60 * 60);
/// The share of a wait that chance adds or takes, so that loops and machines do not move in step.
const JITTER: f64 = 0.1;

/// How often something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rhythm {
    pub(super) every: Duration,
    /// After the start of the server.
    pub(super) first: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopOutcome {
    Done,
    /// Another process was at it.
    Busy,
    Failed,
}

/// What happens to a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The run begins; nothing where it is not due.
    Begin,
    /// The run ended.
    End(LoopOutcome),
    /// Somebody wants it soon.
    Wake,
}

/// When a loop is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    rhythm: Rhythm,
    phase: Phase,
    begun: Option<Duration>,
    /// How many runs failed since one did not.
    n_failed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting {
        due: Duration,
    },
    Running {
        /// It was woken meanwhile: what it has read may be too old.
        is_woken: bool,
    },
}

impl Schedule {
    /// A loop that was never run. `draw` is a number from 0 to 1 that nobody can foresee.
    pub(super) fn new(rhythm: Rhythm, now: Duration, draw: f64) -> Self {
        let due = now + jittered(rhythm.first, draw);
        Self { rhythm, phase: Phase::Waiting { due }, begun: None, n_failed: 0 }
    }

    /// What becomes of it by `step`.
    pub(super) fn next(self, now: Duration, step: Step, draw: f64) -> Self {
        match (step, self.phase) {
            (Step::Begin, Phase::Waiting { due }) if due <= now => {
                Self { phase: Phase::Running { is_woken: false }, begun: Some(now), ..self }
            }
            (Step::End(outcome), Phase::Running { is_woken }) => {
                self.end(now, outcome, draw).woken_if(is_woken, now)
            }
            (Step::Wake, Phase::Running { .. }) => {
                Self { phase: Phase::Running { is_woken: true }, ..self }
            }
            (Step::Wake, Phase::Waiting { .. }) => self.woken_if(true, now),
            (Step::Begin, _) | (Step::End(_), Phase::Waiting { .. }) => self,
        }
    }

    /// When it is to be begun; `None` while it runs.
    pub(super) fn due(&self) -> Option<Duration> {
        match self.phase {
            Phase::Waiting { due } => Some(due),
            Phase::Running { .. } => None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running { .. })
    }

    /// Whether it failed the last time.
    pub(super) fn is_failing(&self) -> bool {
        self.n_failed > 0
    }

    pub(super) fn every(&self) -> Duration {
        self.rhythm.every
    }

    fn end(self, now: Duration, outcome: LoopOutcome, draw: f64) -> Self {
        let every = self.rhythm.every;
        let (wait, n_failed) = match outcome {
            LoopOutcome::Done => (every, 0),
            LoopOutcome::Busy => (AFTER_BUSY.min(every), self.n_failed),
            LoopOutcome::Failed => {
                let n_failed = self.n_failed.saturating_add(1);
                let doubled = every.saturating_mul(1 << n_failed.min(16));
                (doubled.min(MAX_BACK_OFF.max(every)), n_failed)
            }
        };
        let due = now + jittered(wait, draw);
        Self { phase: Phase::Waiting { due }, n_failed, ..self }
    }

    /// Due as soon as it may be. A loop that fails is not tried sooner because it is wanted more.
    fn woken_if(self, is_woken: bool, now: Duration) -> Self {
        let Phase::Waiting { due } = self.phase else { return self };
        if !is_woken || self.n_failed > 0 {
            return self;
        }
        let earliest = self.begun.map_or(now, |begun| now.max(begun + MIN_GAP));
        Self { phase: Phase::Waiting { due: due.min(earliest) }, ..self }
    }
}

fn jittered(wait: Duration, draw: f64) -> Duration {
    wait.mul_f64(1.0 - JITTER + 2.0 * JITTER * draw.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const RHYTHM: Rhythm =
        Rhythm { every: Duration::from_secs(600), first: Duration::from_secs(30) };
    /// The draw that changes nothing.
    const MIDDLE: f64 = 0.5;

    fn run(schedule: Schedule, now: Duration, outcome: LoopOutcome) -> Schedule {
        let begun = schedule.next(now, Step::Begin, MIDDLE);
        assert!(begun.is_running(), "it is due: {schedule:?}");
        begun.next(now, Step::End(outcome), MIDDLE)
    }

    fn due(schedule: &Schedule) -> Duration {
        schedule.due().unwrap()
    }

    #[test]
    fn failures_double_the_wait_up_to_an_hour_and_a_success_ends_that() {
        let mut schedule = Schedule::new(RHYTHM, Duration::ZERO, MIDDLE);
        let mut waits = Vec::new();
        for _ in 0..5 {
            let now = due(&schedule);
            schedule = run(schedule, now, LoopOutcome::Failed);
            waits.push((due(&schedule) - now).as_secs_f64().round() as u64 / 60);
        }
        assert_eq!(waits, [20, 40, 60, 60, 60]);
        let now = due(&schedule);
        assert_eq!(due(&schedule.next(now - MINUTE, Step::Wake, MIDDLE)), now, "woken in vain");
        schedule = run(schedule, now, LoopOutcome::Done);
        assert!(!schedule.is_failing());
    }

    #[test]
    fn who_wakes_it_while_it_runs_gets_another_run() {
        let schedule = Schedule::new(RHYTHM, Duration::ZERO, MIDDLE);
        let woken = schedule.next(Duration::from_secs(1), Step::Wake, MIDDLE);
        assert_eq!(due(&woken), Duration::from_secs(1));
        let running = woken.next(Duration::from_secs(1), Step::Begin, MIDDLE);
        let woken = running.next(Duration::from_secs(2), Step::Wake, MIDDLE);
        let ended = woken.next(Duration::from_secs(3), Step::End(LoopOutcome::Done), MIDDLE);
        assert_eq!(due(&ended), Duration::from_secs(11));
        let ended = running.next(Duration::from_secs(3), Step::End(LoopOutcome::Done), MIDDLE);
        assert!(due(&ended) > 5 * MINUTE);
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Begin),
            Just(Step::Wake),
            Just(Step::End(LoopOutcome::Done)),
            Just(Step::End(LoopOutcome::Busy)),
            Just(Step::End(LoopOutcome::Failed)),
        ]
    }

    proptest! {
        #[test]
        fn it_never_overlaps_hurries_or_stops(
            every in 30_u64..10_000,
            steps in prop::collection::vec((0_u64..5_000, step(), 0.0_f64..1.0), 1..100),
        ) {
            let rhythm = Rhythm { every: Duration::from_secs(every), first: MINUTE };
            let mut schedule = Schedule::new(rhythm, Duration::ZERO, MIDDLE);
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
                // Whatever happened, it is due within the longest wait.
                if let Some(due) = schedule.due() {
                    let longest = MAX_BACK_OFF.max(rhythm.every).mul_f64(1.0 + JITTER);
                    prop_assert!(due <= now + longest);
                }
                // A loop that fails waits longer than one that does not.
                if step == Step::End(LoopOutcome::Failed) && before.is_running() {
                    let least = rhythm.every.mul_f64(1.0 - JITTER);
                    prop_assert!(now + least <= due(&schedule));
                }
            }
        }
    }
}
