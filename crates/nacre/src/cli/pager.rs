//! Long output goes through a pager, where a person reads it on a terminal.
//!
//! The person chooses the pager by variables and a flag; no file of a repository is asked. A pager that is missing or fails
//! means plain printing.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use nacre_ops::host::Environment;
use nacre_ops::terminal::{NACRE_PAGER, PAGER};
use unicode_width::UnicodeWidthStr as _;

use super::env::TerminalSize;
use super::interrupt::ignore_ctrl_c;

/// It ends by itself where the text fits the screen, shows colors, and leaves the text behind.
const DEFAULT: &str = "less -FRX";

/// How `less` behaves where the person did not say.
const LESS: (&str, &str) = ("LESS", "FRX");

/// A program that shows text page by page.
#[derive(Clone, Debug)]
pub(super) struct Pager {
    /// The program and its arguments.
    words: Vec<String>,
    /// Where it is looked for.
    path: String,
    is_less_set: bool,
}

impl Pager {
    /// The pager that the person wants; `None` for none.
    pub(super) fn chosen(environment: &Environment) -> Option<Self> {
        let is_set = |name: &&str| environment.vars.iter().any(|(key, _)| key == name);
        let variable = [NACRE_PAGER, PAGER].into_iter().find(is_set);
        let command = variable.map_or(DEFAULT, |name| environment.var(name).unwrap_or_default());
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let is_none = words.is_empty() || words == ["cat"];
        let path = environment.var("PATH").unwrap_or_default().to_owned();
        (!is_none).then(|| Self { words, path, is_less_set: environment.var(LESS.0).is_some() })
    }

    /// Shows a text; `false` where the pager cannot be started or fails.
    pub(super) fn show(&self, text: &[u8]) -> bool {
        ignore_ctrl_c();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).env("PATH", &self.path).stdin(Stdio::piped());
        if !self.is_less_set {
            command.env(LESS.0, LESS.1);
        }
        let Ok(mut child) = command.spawn() else { return false };
        if let Some(mut stdin) = child.stdin.take() {
            // A person who has seen enough closes it.
            let _ = stdin.write_all(text);
        }
        child.wait().is_ok_and(|status| status.success())
    }
}

/// Whether a text has more lines than a terminal shows.
pub(super) fn is_long(text: &[u8], size: TerminalSize) -> bool {
    let text = String::from_utf8_lossy(text);
    let n_rows = |line: &str| line.width().div_ceil(size.columns.max(1)).max(1);
    text.lines().map(n_rows).sum::<usize>() >= size.rows
}

/// Standard output, or a page that is being filled.
#[derive(Debug)]
pub(super) struct Output {
    stdout: io::BufWriter<io::Stdout>,
    page: Option<Vec<u8>>,
}

impl Output {
    pub(super) fn new() -> Self {
        Self { stdout: io::BufWriter::new(io::stdout()), page: None }
    }

    pub(super) fn is_paging(&self) -> bool {
        self.page.is_some()
    }

    /// Keeps what is written until the page is ended.
    pub(super) fn begin_page(&mut self) {
        self.page = Some(Vec::new());
    }

    /// What was written since the page was begun.
    pub(super) fn end_page(&mut self) -> Vec<u8> {
        self.page.take().unwrap_or_default()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.page {
            Some(page) => page.write(bytes),
            None => self.stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_is_what_the_terminal_cannot_show() {
        let size = TerminalSize { columns: 10, rows: 4 };
        assert!(!is_long(b"one\ntwo\nthree\n", size));
        assert!(is_long(b"one\ntwo\nthree\nfour\n", size));
        assert!(is_long(b"one\ntwo\na line of two\n", size));
    }
}
