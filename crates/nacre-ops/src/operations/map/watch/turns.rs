//! Whose turn it is: something changed, or somebody asks.
//!
//! Both come through one bounded channel. Questions that come faster than they are answered wait; a change that finds the channel
//! full is not lost, because every turn begins by bringing the map up to date.

use std::io::{BufRead, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use nacre_map::watch::{Live, Mode};

/// How many turns may wait.
const MAX_WAITING: usize = 16;

/// A longer line is not read.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// Changes come in bursts: a burst ends when nothing comes for this long, or after a few times that.
const QUIET: Duration = Duration::from_millis(20);
const MAX_QUIETS: usize = 4;

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Something changed, or it is time to check whether something did.
    Changed,
    /// A line that somebody wrote.
    Asked(Vec<u8>),
    /// A line that was not read to its end.
    TooLong,
    /// No more questions come.
    End,
}

/// Where turns come from.
#[derive(Debug)]
pub(super) struct Turns {
    sender: SyncSender<Turn>,
    turns: Receiver<Turn>,
    interval: Duration,
}

impl Turns {
    /// Where the system reports no changes, a turn comes every interval.
    pub(super) fn new(interval: Duration) -> Self {
        let (sender, turns) = sync_channel(MAX_WAITING);
        Self { sender, turns, interval }
    }

    /// What to call when something changed.
    pub(super) fn bell(&self) -> impl Fn() + Send + 'static {
        let sender = self.sender.clone();
        move || {
            let _ = sender.try_send(Turn::Changed);
        }
    }

    /// Reads questions to their end, on a thread of its own.
    pub(super) fn listen(&self, mut questions: Box<dyn BufRead + Send>) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            loop {
                // Input that cannot be read has ended.
                let turn = next_line(&mut questions).unwrap_or(Turn::End);
                let is_end = turn == Turn::End;
                if sender.send(turn).is_err() || is_end {
                    return;
                }
            }
        });
    }

    /// Waits for the next turn.
    pub(super) fn next(&self, live: &Live) -> Turn {
        // Where not every folder is watched yet, not every change is told.
        let mode = if live.is_settled() { live.mode() } else { Mode::Polling };
        match mode {
            Mode::Events => match self.turns.recv() {
                Ok(Turn::Changed) => self.rest_of_burst(live),
                Ok(turn) => turn,
                Err(_) => Turn::End,
            },
            Mode::Polling => match self.turns.recv_timeout(self.interval) {
                Ok(turn) => turn,
                Err(RecvTimeoutError::Timeout) => Turn::Changed,
                Err(RecvTimeoutError::Disconnected) => Turn::End,
            },
        }
    }

    /// Waits for the end of a burst of changes, unless somebody asks.
    fn rest_of_burst(&self, live: &Live) -> Turn {
        for _ in 0..MAX_QUIETS {
            let n_told = live.watch().n_told();
            match self.turns.recv_timeout(QUIET) {
                Ok(Turn::Changed) => {}
                Ok(turn @ (Turn::Asked(_) | Turn::TooLong | Turn::End)) => return turn,
                Err(_) if live.watch().n_told() == n_told => break,
                Err(_) => {}
            }
        }
        Turn::Changed
    }
}

/// Reads a line; the rest of one that is too long is skipped.
fn next_line(input: &mut impl BufRead) -> std::io::Result<Turn> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    input.by_ref().take(limit + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(Turn::End);
    }
    if line.last() == Some(&b'\n') || line.len() <= MAX_LINE_BYTES {
        return Ok(Turn::Asked(line));
    }
    input.skip_until(b'\n')?;
    Ok(Turn::TooLong)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use nacre_map::watch::Watch;

    use super::*;

    #[test]
    fn a_watch_that_is_not_settled_looks_again_without_an_event() {
        let folder = tempfile::tempdir().unwrap();
        let turns = Turns::new(Duration::from_millis(1));
        let live = Live::new(Watch::new(folder.path(), turns.bell()));
        assert_eq!((live.is_settled(), turns.next(&live)), (false, Turn::Changed));
    }

    #[test]
    fn lines_are_cut_at_a_limit_and_read_to_the_end() {
        let long = "x".repeat(MAX_LINE_BYTES);
        let text = format!("one\n\n{long}\n{long}y\n{long}{long}{long}\ntwo\nthree");
        let mut input = BufReader::with_capacity(100, text.as_bytes());
        let mut lines = Vec::new();
        loop {
            match next_line(&mut input).unwrap() {
                Turn::Asked(line) => lines.push(line.len().to_string()),
                Turn::TooLong => lines.push("too long".to_owned()),
                Turn::Changed => unreachable!("a line is not a change"),
                Turn::End => break,
            }
        }
        assert_eq!(lines, ["4", "1", "1048577", "too long", "too long", "4", "5"]);
    }
}
