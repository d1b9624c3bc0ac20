//! Output during an operation: warnings, progress and agent notes.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nacre_ops::text::{Shown, ShownLine};
use nacre_types::Event;

use super::env::TerminalSize;
use super::layout::{Role, cut, paint};

/// Shorter operations show no progress line.
const LINE_DELAY: Duration = Duration::from_millis(300);

const REDRAW_PERIOD: Duration = Duration::from_millis(100);

/// Over a shorter period, the rate would be too inaccurate to show.
const MIN_RATE_PERIOD: Duration = Duration::from_secs(1);

const DEFAULT_WIDTH: usize = 80;

pub(super) struct EventScreen {
    /// Whether progress and agent notes are shown on standard error.
    shows_progress: bool,
    color: bool,
    line: Arc<Mutex<ProgressLine>>,
    /// Dropping this sender stops the thread that draws the progress line.
    _ticks: Option<Sender<()>>,
    is_inside_line: AtomicBool,
}

impl EventScreen {
    /// `size` is the size of the terminal that shows progress.
    pub(super) fn new(shows_progress: bool, size: Option<TerminalSize>, color: bool) -> Self {
        let width = size.map_or(DEFAULT_WIDTH, |size| size.columns);
        let width = shows_progress.then_some(width);
        let line = Arc::new(Mutex::new(ProgressLine { width, ..ProgressLine::default() }));
        Self {
            shows_progress,
            color,
            _ticks: width.and_then(|_| tick(Arc::clone(&line))),
            line,
            is_inside_line: AtomicBool::new(false),
        }
    }

    pub(super) fn show(&self, event: &Event) {
        match event {
            // The report contains the sentences of an answer, too.
            Event::Started { .. } | Event::Sentence { .. } => {}
            Event::Progress { done, total, bytes } => {
                self.change(|work| (work.done, work.total, work.bytes) = (*done, *total, *bytes));
            }
            Event::Step { text } => self.change(|work| work.step = ShownLine(text).to_string()),
            Event::Warning(warning) => {
                self.lock().pause();
                self.end_line();
                let hint = warning.hint.as_deref();
                print_message(&warning_text(self.color, &warning.message, hint));
            }
            Event::Note { text } => {
                self.lock().pause();
                if self.shows_progress {
                    self.end_line();
                    print_message(&paint(self.color, Role::Faint, ShownLine(text)));
                }
            }
            Event::Words { text } => {
                self.lock().pause();
                if self.shows_progress && !text.is_empty() {
                    self.is_inside_line.store(!text.ends_with('\n'), Ordering::Relaxed);
                    let words = paint(self.color, Role::Faint, Shown(text));
                    let _ = write!(io::stderr(), "{words}");
                }
            }
        }
    }

    fn end_line(&self) {
        if self.is_inside_line.swap(false, Ordering::Relaxed) {
            print_message("");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the rate is shown only on the terminal")]
    fn change(&self, change: impl FnOnce(&mut Work)) {
        self.end_line();
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

    fn lock(&self) -> MutexGuard<'_, ProgressLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EventScreen {
    fn drop(&mut self) {
        self.lock().pause();
        self.end_line();
    }
}

pub(super) fn warning_text(color: bool, message: &str, hint: Option<&str>) -> String {
    let text = format!("{} {}", paint(color, Role::Warning, "Warning:"), ShownLine(message));
    match hint {
        Some(hint) => format!("{text}\n{}", hint_text(color, hint)),
        None => text,
    }
}

pub(super) fn hint_text(color: bool, hint: &str) -> String {
    format!("{} {}", paint(color, Role::Good, "Hint:"), ShownLine(hint))
}

/// Prints a line on standard error. Write errors are ignored.
pub(super) fn print_message(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Redraws the line periodically until the sender is dropped. If the thread cannot be started, only
/// events redraw the line.
#[expect(clippy::disallowed_methods, reason = "the rate is shown only on the terminal")]
fn tick(line: Arc<Mutex<ProgressLine>>) -> Option<Sender<()>> {
    let (ticks, ended) = channel::<()>();
    let draw = move || {
        while ended.recv_timeout(REDRAW_PERIOD) == Err(RecvTimeoutError::Timeout) {
            line.lock().unwrap_or_else(PoisonError::into_inner).draw(Instant::now());
        }
    };
    thread::Builder::new().name("progress".to_owned()).spawn(draw).ok().map(|_| ticks)
}

#[derive(Debug, Default)]
struct ProgressLine {
    width: Option<usize>,
    /// When the first event that can be shown arrived.
    begun: Option<Instant>,
    /// When the current step started, for its rate.
    rated: Option<Instant>,
    work: Work,
    is_drawn: bool,
    is_paused: bool,
}

impl ProgressLine {
    fn draw(&mut self, now: Instant) {
        let (Some(width), Some(begun), Some(rated)) = (self.width, self.begun, self.rated) else {
            return;
        };
        if self.is_paused || now.duration_since(begun) < LINE_DELAY {
            return;
        }
        self.is_drawn = true;
        // The last column stays empty, because some terminals wrap a line that fills it.
        let text = cut(&self.work.text(now.duration_since(rated)), width.saturating_sub(1));
        let _ = write!(io::stderr(), "\r{text}\x1b[K");
    }

    fn pause(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        self.is_paused = true;
    }
}

#[derive(Debug, Default)]
struct Work {
    step: String,
    done: u64,
    total: u64,
    bytes: u64,
}

impl Work {
    /// Formats the line, such as `3 of 10  65c59f9e4bf6 claude: extract  about 6 s left`.
    fn text(&self, took: Duration) -> String {
        let mut parts = Vec::new();
        if self.total > 0 {
            parts.push(format!("{} of {}", self.done, self.total));
        }
        if !self.step.is_empty() {
            parts.push(self.step.clone());
        }
        if took >= MIN_RATE_PERIOD {
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
    #[expect(clippy::disallowed_methods, reason = "the test does not depend on the current time")]
    fn what_is_quickly_done_has_no_line() {
        let begun = Instant::now();
        let mut line = ProgressLine {
            width: Some(80),
            begun: Some(begun),
            rated: Some(begun),
            ..ProgressLine::default()
        };
        line.draw(begun + LINE_DELAY / 2);
        assert!(!line.is_drawn);
        line.is_paused = true;
        line.draw(begun + LINE_DELAY * 2);
        assert!(!line.is_drawn);
        line.is_paused = false;
        line.draw(begun + LINE_DELAY * 2);
        assert!(line.is_drawn);
        line.pause();
        assert!(!line.is_drawn);
    }
}
