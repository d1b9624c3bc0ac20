//! Detects when traces stop changing.

use std::time::Duration;

/// How long traces must be unchanged before they count as quiet.
const QUIET: Duration = Duration::from_secs(125);

#[derive(Clone, Debug)]
pub(crate) struct QuietWatch<T> {
    seen: Option<T>,
    changed: Option<Duration>,
}

impl<T: PartialEq> QuietWatch<T> {
    pub(crate) fn new() -> Self {
        Self { seen: None, changed: None }
    }

    /// Records a snapshot. Returns `true` once after each burst of changes, when the traces have
    /// been quiet for a while.
    pub(crate) fn look(&mut self, seen: T, now: Duration) -> bool {
        // The first snapshot does not count as a change, because the first sync covers it.
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
