//! Shows long output in a pager on a terminal. If the pager fails, the output is printed directly.
//!
//! Only environment variables and a flag choose the pager, never a settings file, because a
//! repository could choose a malicious program.

use std::io::Write as _;
use std::process::{Command, Stdio};

use nacre_ops::host::Environment;
use nacre_ops::terminal::{NACRE_PAGER, PAGER};
use unicode_width::UnicodeWidthStr as _;

use super::env::TerminalSize;
use super::interrupt::ignore_ctrl_c;

/// `less` options: exit if the text fits on the screen, show colors, and do not clear the screen.
const DEFAULT: &str = "less -FRX";

/// Options for `less`, unless the user has set this variable.
const LESS: (&str, &str) = ("LESS", "FRX");

#[derive(Clone, Debug)]
pub(super) struct Pager {
    words: Vec<String>,
    /// The `PATH` to find the pager in.
    path: String,
    is_less_set: bool,
}

impl Pager {
    pub(super) fn from_environment(environment: &Environment) -> Option<Self> {
        let is_set = |name: &&str| environment.vars.iter().any(|(key, _)| key == name);
        let variable = [NACRE_PAGER, PAGER].into_iter().find(is_set);
        let command = variable.map_or(DEFAULT, |name| environment.var(name).unwrap_or_default());
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let is_none = words.is_empty() || words == ["cat"];
        let path = environment.var("PATH").unwrap_or_default().to_owned();
        (!is_none).then(|| Self { words, path, is_less_set: environment.var(LESS.0).is_some() })
    }

    pub(super) fn show(&self, text: &[u8]) -> bool {
        ignore_ctrl_c();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).env("PATH", &self.path).stdin(Stdio::piped());
        if !self.is_less_set {
            command.env(LESS.0, LESS.1);
        }
        let Ok(mut child) = command.spawn() else { return false };
        if let Some(mut stdin) = child.stdin.take() {
            // Writing fails if the user quits the pager early.
            let _ = stdin.write_all(text);
        }
        child.wait().is_ok_and(|status| status.success())
    }
}

pub(super) fn is_long(text: &[u8], size: TerminalSize) -> bool {
    let text = String::from_utf8_lossy(text);
    let n_rows = |line: &str| line.width().div_ceil(size.columns.max(1)).max(1);
    text.lines().map(n_rows).sum::<usize>() >= size.rows
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
