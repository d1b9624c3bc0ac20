//! What a person sees while a command runs: warnings, a bar, what an agent does, an answer that grows.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nacre_api::wire::{Event, Warning};
use nacre_ops::text::{Shown, ShownLine};

use super::paint::{Role, paint};

/// Shows the events of an operation.
pub(super) struct Screen {
    live: Live,
    bar: Mutex<ProgressBar>,
    /// Whether a person watches the answer grow.
    is_watched: bool,
    /// Whether the answer has begun.
    has_answer: AtomicBool,
}

impl Screen {
    pub(super) fn new(live: Live, bar: ProgressBar, is_watched: bool) -> Self {
        Self { live, bar: Mutex::new(bar), is_watched, has_answer: AtomicBool::new(false) }
    }

    pub(super) fn show(&self, event: &Event) {
        if let Event::Progress { done, total, bytes } = event {
            return self.bar().show(*done, *total, *bytes);
        }
        self.bar().clear();
        match event {
            Event::Warning(warning) => self.live.warning(warning),
            Event::Step { text } => self.live.step(text),
            Event::Note { text } => self.live.note(text),
            Event::Words { text } => self.live.words(text),
            Event::Sentence { text, .. } => self.sentence(text),
            Event::Progress { .. } => {}
        }
    }

    fn sentence(&self, text: &str) {
        if self.is_watched {
            self.has_answer.store(true, Ordering::Relaxed);
            // A reader that went away is told so by the next write.
            let _ = write!(io::stdout(), "{}", Shown(text)).and_then(|()| io::stdout().flush());
        }
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, ProgressBar> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.bar().clear();
        self.live.end_line();
        if self.has_answer.load(Ordering::Relaxed) {
            let _ = writeln!(io::stdout());
        }
    }
}

/// How far a long command has come.
#[derive(Debug)]
pub(super) struct ProgressBar {
    is_on: bool,
    /// The permille that was drawn last: a bar that does not move is not drawn again.
    drawn: u64,
    started: Option<std::time::Instant>,
}

impl ProgressBar {
    const WIDTH: usize = 24;

    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, drawn: 0, started: None }
    }

    /// Draws how much of the work is done, and how fast it goes.
    #[expect(clippy::disallowed_methods, reason = "the rate on the screen is the terminal's own")]
    pub(super) fn show(&mut self, done: u64, total: u64, bytes: u64) {
        let permille = done * 1000 / total.max(1) + 1;
        if !self.is_on || permille == self.drawn {
            return;
        }
        self.drawn = permille;
        let started = *self.started.get_or_insert_with(std::time::Instant::now);
        let seconds = started.elapsed().as_secs_f64().max(0.001);
        let filled = usize::try_from(permille).unwrap_or(0) * Self::WIDTH / 1001;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(Self::WIDTH - filled));
        let rate = f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) / 1024.0 / seconds;
        let _ = write!(io::stderr(), "\r{bar} {done}/{total}  {rate:.0} MB/s\x1b[K");
    }

    /// Takes the bar away.
    pub(super) fn clear(&mut self) {
        if self.is_on && self.drawn > 0 {
            self.drawn = 0;
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// What an agent does while it works, on standard error and on a terminal only.
#[derive(Debug)]
pub(super) struct Live {
    is_on: bool,
    color: bool,
    is_inside_line: AtomicBool,
}

impl Live {
    pub(super) fn new(is_on: bool, color: bool) -> Self {
        Self { is_on, color, is_inside_line: AtomicBool::new(false) }
    }

    /// Shows words as they come.
    pub(super) fn words(&self, text: &str) {
        if !self.is_on || text.is_empty() {
            return;
        }
        self.is_inside_line.store(!text.ends_with('\n'), Ordering::Relaxed);
        let _ = write!(io::stderr(), "{}", paint(self.color, Role::Faint, Shown(text)));
    }

    /// Shows a line of its own.
    pub(super) fn note(&self, line: &str) {
        if self.is_on {
            self.end_line();
            talk(&paint(self.color, Role::Faint, ShownLine(line)));
        }
    }

    fn warning(&self, warning: &Warning) {
        self.end_line();
        print_warning(self.color, &warning.message, warning.hint.as_deref());
    }

    fn step(&self, text: &str) {
        if self.is_on {
            self.end_line();
            talk(&format!("{} …", ShownLine(text)));
        }
    }

    pub(super) fn end_line(&self) {
        if self.is_on && self.is_inside_line.swap(false, Ordering::Relaxed) {
            talk("");
        }
    }
}

/// Prints something that a person should know.
pub(super) fn print_warning(color: bool, message: &str, hint: Option<&str>) {
    talk(&format!("{} {}", paint(color, Role::Warning, "Warning:"), ShownLine(message)));
    if let Some(hint) = hint {
        print_hint(color, hint);
    }
}

/// Prints what to type.
pub(super) fn print_hint(color: bool, hint: &str) {
    talk(&format!("{} {}", paint(color, Role::Good, "Hint:"), ShownLine(hint)));
}

/// Prints a line on standard error.
pub(super) fn talk(line: &str) {
    // Without a reader there is nobody to tell.
    let _ = writeln!(io::stderr(), "{line}");
}
