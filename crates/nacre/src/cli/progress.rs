//! How far a long command has come: one line on standard error that renews itself, and nothing for what is quickly done.

use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nacre_ops::text::ShownLine;

use super::layout::cut;

/// What is done within this time needs no line.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often the line is drawn again.
const PERIOD: Duration = Duration::from_millis(100);

/// A rate over less time says nothing.
const MIN_RATED: Duration = Duration::from_secs(1);

/// The line, and a thread that draws it again while nothing happens.
#[derive(Debug)]
pub(super) struct ProgressLine {
    line: Arc<Mutex<Line>>,
    /// The thread ends when this is dropped.
    _ticks: Option<Sender<()>>,
}

impl ProgressLine {
    /// `width` is that of the terminal; `None` where nobody watches.
    pub(super) fn new(width: Option<usize>) -> Self {
        let line = Arc::new(Mutex::new(Line { width, ..Line::default() }));
        let ticks = width.and_then(|_| tick(Arc::clone(&line)));
        Self { line, _ticks: ticks }
    }

    /// Says what is being done now.
    pub(super) fn step(&self, text: &str) {
        self.change(|work| work.step = ShownLine(text).to_string());
    }

    /// Says how much of it is done.
    pub(super) fn progress(&self, done: u64, total: u64, bytes: u64) {
        self.change(|work| (work.done, work.total, work.bytes) = (done, total, bytes));
    }

    #[expect(clippy::disallowed_methods, reason = "the rate on the screen is the terminal's own")]
    fn change(&self, change: impl FnOnce(&mut Work)) {
        let mut line = self.lock();
        let now = Instant::now();
        let total_before = line.work.total;
        change(&mut line.work);
        line.begun.get_or_insert(now);
        if line.rated.is_none() || line.work.total != total_before {
            line.rated = Some(now);
        }
        line.is_paused = false;
        line.draw(now);
    }

    /// Takes the line away, until there is something new to say.
    pub(super) fn clear(&self) {
        let mut line = self.lock();
        line.clear();
        line.is_paused = true;
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws the line again and again, until the sender is dropped.
#[expect(clippy::disallowed_methods, reason = "the rate on the screen is the terminal's own")]
fn tick(line: Arc<Mutex<Line>>) -> Option<Sender<()>> {
    let (ticks, ended) = channel::<()>();
    let draw = move || {
        while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
            line.lock().unwrap_or_else(PoisonError::into_inner).draw(Instant::now());
        }
    };
    // Without a thread the line is drawn only when something happens.
    thread::Builder::new().name("progress".to_owned()).spawn(draw).ok().map(|_| ticks)
}

#[derive(Debug, Default)]
struct Line {
    width: Option<usize>,
    /// When there was first something to say.
    begun: Option<Instant>,
    /// When the work began that is counted now.
    rated: Option<Instant>,
    work: Work,
    is_drawn: bool,
    is_paused: bool,
}

impl Line {
    fn draw(&mut self, now: Instant) {
        let (Some(width), Some(begun), Some(rated)) = (self.width, self.begun, self.rated) else {
            return;
        };
        if self.is_paused || now.duration_since(begun) < PATIENCE {
            return;
        }
        self.is_drawn = true;
        // The last column stays free: some terminals would go on to the next line.
        let text = cut(&self.work.text(now.duration_since(rated)), width.saturating_sub(1));
        let _ = write!(io::stderr(), "\r{text}\x1b[K");
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// What is done, and how much of it.
#[derive(Debug, Default)]
struct Work {
    step: String,
    done: u64,
    total: u64,
    bytes: u64,
}

impl Work {
    /// `3 of 10  65c59f9e4bf6 claude: extract  about 6 s left`.
    fn text(&self, took: Duration) -> String {
        let mut parts = Vec::new();
        if self.total > 0 {
            parts.push(format!("{} of {}", self.done, self.total));
        }
        if !self.step.is_empty() {
            parts.push(self.step.clone());
        }
        if took >= MIN_RATED {
            parts.extend(self.rate(took));
            parts.push(self.remaining(took).unwrap_or_else(|| seconds(took.as_secs())));
        }
        parts.join("  ")
    }

    fn rate(&self, took: Duration) -> Option<String> {
        let seconds = took.as_secs_f64();
        let count = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        match (self.done, self.bytes >> 10) {
            (0, 0) => None,
            (done, 0) => Some(format!("{:.1}/s", count(done) / seconds)),
            (_, kilobytes) => Some(format!("{:.1} MB/s", count(kilobytes) / 1024.0 / seconds)),
        }
    }

    fn remaining(&self, took: Duration) -> Option<String> {
        let n_left = self.total.checked_sub(self.done).filter(|n_left| *n_left > 0)?;
        let millis = u64::try_from(took.as_millis()).ok()?;
        let left = millis.checked_mul(n_left)?.checked_div(self.done)?;
        Some(format!("about {} left", seconds(left.div_ceil(1000))))
    }
}

fn seconds(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_much_how_fast_and_how_long() {
        let work =
            |step: &str, done, total, bytes| Work { step: step.to_owned(), done, total, bytes };
        for (work, took, text) in [
            (work("", 22, 44, 30 << 20), 10, "22 of 44  3.0 MB/s  about 10 s left"),
            (
                work("ab claude: extract", 3, 10, 0),
                6,
                "3 of 10  ab claude: extract  0.5/s  about 14 s left",
            ),
            (work("ab claude: extract", 0, 10, 0), 0, "0 of 10  ab claude: extract"),
            (work("Reading the code", 0, 0, 0), 4, "Reading the code  4 s"),
            (work("", 44, 44, 0), 300, "44 of 44  0.1/s  5 min"),
        ] {
            assert_eq!(work.text(Duration::from_secs(took)), text);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn what_is_quickly_done_has_no_line() {
        let begun = Instant::now();
        let mut line =
            Line { width: Some(80), begun: Some(begun), rated: Some(begun), ..Line::default() };
        line.draw(begun + PATIENCE / 2);
        assert!(!line.is_drawn);
        line.is_paused = true;
        line.draw(begun + PATIENCE * 2);
        assert!(!line.is_drawn);
        line.is_paused = false;
        line.draw(begun + PATIENCE * 2);
        assert!(line.is_drawn);
        line.clear();
        assert!(!line.is_drawn);
    }
}
