//! How long the process has been running, the time that the machine slept included.

use std::time::Duration;

use jiff::Timestamp;

/// Clocks that differ by less agree.
const TOLERANCE: Duration = Duration::from_secs(60);

/// An age that goes on while the machine sleeps: the clock of the process stands still then, the one on the wall does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    uptime: Duration,
    wall: Timestamp,
    slept: Duration,
}

impl Age {
    pub(super) fn new(uptime: Duration, wall: Timestamp) -> Self {
        Self { uptime, wall, slept: Duration::ZERO }
    }

    /// The age now. A clock on the wall that was set back changes nothing.
    pub(super) fn look(&mut self, uptime: Duration, wall: Timestamp) -> Duration {
        let by_process = uptime.saturating_sub(self.uptime);
        let by_wall = Duration::try_from(wall.duration_since(self.wall)).unwrap_or_default();
        let slept = by_wall.saturating_sub(by_process);
        if TOLERANCE < slept {
            self.slept += slept;
        }
        (self.uptime, self.wall) = (uptime, wall);
        uptime + self.slept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_counts_and_small_differences_do_not() {
        let second = Duration::from_secs;
        let wall = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap();
        let mut age = Age::new(second(5), wall(0));
        assert_eq!(age.look(second(15), wall(10)), second(15));
        assert_eq!(age.look(second(25), wall(25)), second(25), "five seconds apart");
        assert_eq!(age.look(second(26), wall(3626)), second(26 + 3600));
        assert_eq!(age.look(second(27), wall(0)), second(27 + 3600), "the clock was set back");
        assert_eq!(age.look(second(28), wall(1)), second(28 + 3600));
    }
}
