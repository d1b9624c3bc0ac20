//! When traces went quiet: something was written, and then nothing for a while. Then a session is worth reading.

use std::time::Duration;

/// A trace that was written to within this time is still being written. Sessions are read a little later.
const QUIET: Duration = Duration::from_secs(125);

/// Watches by looking: what is seen is compared with what was seen before.
#[derive(Clone, Debug)]
pub(super) struct QuietWatch<T> {
    seen: Option<T>,
    /// When a change was last noticed that nobody was told of.
    changed: Option<Duration>,
}

impl<T: PartialEq> QuietWatch<T> {
    pub(super) fn new() -> Self {
        Self { seen: None, changed: None }
    }

    /// Takes in what is to be seen at `now`; `true` once after each time of change.
    pub(super) fn look(&mut self, seen: T, now: Duration) -> bool {
        // The first look finds what the first sync reads.
        let is_changed = self.seen.as_ref().is_some_and(|before| *before != seen);
        self.seen = Some(seen);
        if is_changed {
            self.changed = Some(now);
            return false;
        }
        let is_quiet = self.changed.is_some_and(|changed| changed + QUIET <= now);
        if is_quiet {
            self.changed = None;
        }
        is_quiet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_is_told_once_after_each_change() {
        let mut watch = QuietWatch::new();
        let looks = [
            (0, 'a', false),
            (500, 'a', false),
            (515, 'b', false),
            (600, 'c', false),
            (700, 'c', false),
            (725, 'c', true),
            (740, 'c', false),
            (9000, 'd', false),
            (9500, 'd', true),
        ];
        for (at, seen, is_quiet) in looks {
            assert_eq!(watch.look(seen, Duration::from_secs(at)), is_quiet, "at {at}");
        }
    }
}
