//! What a person sees while a command runs: warnings, how far it is, what an agent does, an answer that grows.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use nacre_api::wire::{Event, Warning};
use nacre_ops::text::{Shown, ShownLine};

use super::paint::{Role, paint};
use super::progress::ProgressLine;

/// Shows the events of an operation.
pub(super) struct Screen {
    live: Live,
    progress: ProgressLine,
    /// Whether a person watches the answer grow.
    is_watched: bool,
    /// Whether the answer has begun.
    has_answer: AtomicBool,
}

impl Screen {
    pub(super) fn new(live: Live, progress: ProgressLine, is_watched: bool) -> Self {
        Self { live, progress, is_watched, has_answer: AtomicBool::new(false) }
    }

    pub(super) fn show(&self, event: &Event) {
        match event {
            Event::Started { .. } => return,
            Event::Progress { done, total, bytes } => {
                self.live.end_line();
                return self.progress.progress(*done, *total, *bytes);
            }
            Event::Step { text } => {
                self.live.end_line();
                return self.progress.step(text);
            }
            Event::Warning(_)
            | Event::Note { .. }
            | Event::Words { .. }
            | Event::Sentence { .. } => {}
        }
        self.progress.clear();
        match event {
            Event::Warning(warning) => self.live.warning(warning),
            Event::Note { text } => self.live.note(text),
            Event::Words { text } => self.live.words(text),
            Event::Sentence { text, .. } => self.sentence(text),
            Event::Started { .. } | Event::Progress { .. } | Event::Step { .. } => {}
        }
    }

    fn sentence(&self, text: &str) {
        if self.is_watched {
            self.has_answer.store(true, Ordering::Relaxed);
            // A reader that went away is told so by the next write.
            let _ = write!(io::stdout(), "{}", Shown(text)).and_then(|()| io::stdout().flush());
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.progress.clear();
        self.live.end_line();
        if self.has_answer.load(Ordering::Relaxed) {
            let _ = writeln!(io::stdout());
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
        talk(&warning_text(self.color, &warning.message, warning.hint.as_deref()));
    }

    pub(super) fn end_line(&self) {
        if self.is_on && self.is_inside_line.swap(false, Ordering::Relaxed) {
            talk("");
        }
    }
}

/// Something that a person should know.
pub(super) fn warning_text(color: bool, message: &str, hint: Option<&str>) -> String {
    let text = format!("{} {}", paint(color, Role::Warning, "Warning:"), ShownLine(message));
    match hint {
        Some(hint) => format!("{text}\n{}", hint_text(color, hint)),
        None => text,
    }
}

/// What to type.
pub(super) fn hint_text(color: bool, hint: &str) -> String {
    format!("{} {}", paint(color, Role::Good, "Hint:"), ShownLine(hint))
}

/// Prints a line on standard error.
pub(super) fn talk(line: &str) {
    // Without a reader there is nobody to tell.
    let _ = writeln!(io::stderr(), "{line}");
}
