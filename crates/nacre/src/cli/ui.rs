//! Everything that is printed: results on standard output, talk on standard error.
//!
//! Text from outside passes `Shown` here, so that no memory can steer a terminal. Color never
//! carries meaning alone.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use nacre_core::base::{Shown, ShownLine};
use nacre_core::config::{ColorChoice, NO_COLOR};
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::env::Environment;
use super::error::{CommandError, Exit};
use super::{Globals, When};

/// Where and how to print.
#[derive(Debug)]
pub(crate) struct Ui {
    out: io::BufWriter<io::Stdout>,
    is_json: bool,
    is_quiet: bool,
    color: Color,
}

/// Whether to color, by stream.
#[derive(Clone, Copy, Debug)]
struct Color {
    out: bool,
    err: bool,
    /// What the streams allow when the choice is automatic.
    auto: (bool, bool),
    is_flagged: bool,
    out_is_terminal: bool,
    err_is_terminal: bool,
}

/// How far a long command has come.
#[derive(Debug)]
pub(crate) struct ProgressBar {
    is_on: bool,
    /// The permille that was drawn last: a bar that does not move is not drawn again.
    drawn: u64,
    started: Option<std::time::Instant>,
}

impl ProgressBar {
    const WIDTH: usize = 24;

    /// Draws how much of the work is done, and how fast it goes.
    #[expect(clippy::disallowed_methods, reason = "the rate on the screen is the terminal's own")]
    pub(crate) fn show(&mut self, done: u64, total: u64, bytes: u64) {
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
    pub(crate) fn clear(&self) {
        if self.is_on && self.drawn > 0 {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// What an agent does while it works, on standard error and on a terminal only.
#[derive(Debug)]
pub(crate) struct Live {
    is_on: bool,
    color: bool,
    is_inside_line: AtomicBool,
}

impl Live {
    /// Shows words as they come.
    pub(crate) fn words(&self, text: &str) {
        if !self.is_on || text.is_empty() {
            return;
        }
        self.is_inside_line.store(!text.ends_with('\n'), Ordering::Relaxed);
        let _ = write!(io::stderr(), "{}", paint(self.color, Role::Faint, Shown(text)));
    }

    /// Shows a line of its own.
    pub(crate) fn note(&self, line: &str) {
        if self.is_on {
            self.end_line();
            talk(&paint(self.color, Role::Faint, ShownLine(line)));
        }
    }

    pub(crate) fn end_line(&self) {
        if self.is_on && self.is_inside_line.swap(false, Ordering::Relaxed) {
            talk("");
        }
    }
}

/// What a piece of text is; its color follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Id,
    Title,
    Faint,
    Good,
    Warning,
    Bad,
}

impl Role {
    fn code(self) -> &'static str {
        match self {
            Self::Id => "36",
            Self::Title => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
        }
    }
}

impl Ui {
    pub(crate) fn new(environment: &Environment, globals: &Globals) -> Self {
        let allowed = environment.var(NO_COLOR).is_none();
        let auto =
            (allowed && environment.stdout_is_terminal, allowed && environment.stderr_is_terminal);
        let (out, err) = match globals.color {
            Some(When::Always) => (true, true),
            Some(When::Never) => (false, false),
            Some(When::Auto) | None => auto,
        };
        let color = Color {
            out,
            err,
            auto,
            is_flagged: globals.color.is_some(),
            out_is_terminal: environment.stdout_is_terminal,
            err_is_terminal: environment.stderr_is_terminal,
        };
        Self {
            out: io::BufWriter::new(io::stdout()),
            is_json: globals.json,
            is_quiet: globals.quiet,
            color,
        }
    }

    /// Takes over the configured choice, unless a flag made it.
    pub(crate) fn configure(&mut self, choice: ColorChoice) {
        if self.color.is_flagged {
            return;
        }
        (self.color.out, self.color.err) = match choice {
            ColorChoice::Always => (true, true),
            ColorChoice::Never => (false, false),
            ColorChoice::Auto => self.color.auto,
        };
    }

    /// Whether one JSON object is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints JSON from here on, as if `--json` had been given.
    pub(crate) fn choose_json(&mut self) {
        self.is_json = true;
    }

    /// Prints a line of the result.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), CommandError> {
        writeln!(self.out, "{line}")?;
        Ok(())
    }

    /// Prints text from a file as it is, but for what a terminal would act on.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), CommandError> {
        write!(self.out, "{}", Shown(text))?;
        if !text.ends_with('\n') {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Prints a piece of a text at once, for somebody who watches it grow.
    pub(crate) fn words(&mut self, text: &str) -> Result<(), CommandError> {
        write!(self.out, "{}", Shown(text))?;
        self.out.flush()?;
        Ok(())
    }

    /// Prints the result as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        writeln!(self.out, "{}", ascii_json(&text))?;
        Ok(())
    }

    /// Prints one of many objects, on a line of its own.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string(value).map_err(io::Error::other)?;
        writeln!(self.out, "{}", ascii_json(&text))?;
        Ok(())
    }

    /// Tells what was done; not with `--quiet` or `--json`.
    pub(crate) fn status(&mut self, line: impl Display) -> Result<(), CommandError> {
        if !self.is_quiet && !self.is_json {
            self.line(line)?;
        }
        Ok(())
    }

    /// Tells of something that a person should know, on standard error.
    pub(crate) fn warning(&mut self, message: impl Display, hint: Option<&str>) {
        self.flush();
        let label = paint(self.color.err, Role::Warning, "Warning:");
        talk(&format!("{label} {}", ShownLine(&message.to_string())));
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Says what to type, on standard error.
    pub(crate) fn hint(&mut self, hint: &str) {
        let label = paint(self.color.err, Role::Good, "Hint:");
        talk(&format!("{label} {}", ShownLine(hint)));
    }

    /// Text in the color of its role.
    pub(crate) fn paint(&self, role: Role, text: impl Display) -> String {
        paint(self.color.out, role, text)
    }

    /// Prints rows with their columns aligned; the last column is as long as it is.
    pub(crate) fn table(&mut self, rows: &[Vec<(Role, String)>]) -> Result<(), CommandError> {
        let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..n_columns)
            .map(|column| {
                rows.iter().filter_map(|row| row.get(column)).map(|(_, cell)| cell.width()).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        for row in rows {
            let mut line = String::new();
            for (idx, (role, cell)) in row.iter().enumerate() {
                line.push_str(&self.paint(*role, cell));
                if idx + 1 < row.len() {
                    line.push_str(&" ".repeat(widths[idx] - cell.width() + 2));
                }
            }
            self.line(line)?;
        }
        Ok(())
    }

    /// Whether a person watches the result as it is printed.
    pub(crate) fn is_watched(&self) -> bool {
        self.color.out_is_terminal && !self.is_json
    }

    /// Whether a person watches standard error and wants to be told how far things are.
    pub(crate) fn is_talking(&self) -> bool {
        self.color.err_is_terminal && !self.is_quiet && !self.is_json
    }

    /// Says what takes so long, on a terminal only.
    pub(crate) fn progress_note(&mut self, note: &str) {
        if self.is_talking() {
            self.flush();
            talk(&format!("{note} …"));
        }
    }

    /// A bar on standard error, drawn on a terminal only.
    pub(crate) fn progress(&self) -> ProgressBar {
        ProgressBar { is_on: self.is_talking(), drawn: 0, started: None }
    }

    /// What an agent does, drawn on a terminal only.
    pub(crate) fn live(&self) -> Live {
        let (is_on, color) = (self.is_talking(), self.color.err);
        Live { is_on, color, is_inside_line: AtomicBool::new(false) }
    }

    /// Shows what was printed so far.
    pub(crate) fn flush(&mut self) {
        // A reader that went away is told so by the next write.
        let _ = self.out.flush();
    }

    /// Ends the command: prints its error, and turns the outcome into an exit code.
    pub(crate) fn finish(mut self, result: Result<Exit, CommandError>) -> ExitCode {
        let exit = match result {
            Ok(exit) => match self.out.flush() {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
                Err(error) => {
                    talk(&format!("Error: Cannot write the output\nCaused by: {error}"));
                    Exit::Failed
                }
                Ok(()) => exit,
            },
            Err(error) if is_broken_pipe(&error) => Exit::Done,
            Err(error) => self.print_error(&error),
        };
        ExitCode::from(exit as u8)
    }

    fn print_error(&mut self, error: &CommandError) -> Exit {
        if self.is_json {
            let _ = self.json(&error_json(error));
            self.flush();
            return error.exit;
        }
        self.flush();
        let label = paint(self.color.err, Role::Bad, "Error:");
        talk(&format!("{label} {}", ShownLine(&error.message)));
        for cause in &error.causes {
            talk(&format!("Caused by: {}", ShownLine(cause)));
        }
        for hint in &error.hints {
            self.hint(hint);
        }
        error.exit
    }
}

/// An error as a value.
pub(crate) fn error_json(error: &CommandError) -> Value {
    json!({ "error": {
        "kind": error.exit.as_str(),
        "message": error.message,
        "causes": error.causes,
        "hints": error.hints,
    }})
}

/// A path in a message.
pub(crate) fn shown(path: &Path) -> String {
    ShownLine(&path.display().to_string()).to_string()
}

/// JSON whose every character is visible ASCII: terminals and logs see no control character.
pub(crate) fn ascii_json(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        let mut units = [0_u16; 2];
        for unit in c.encode_utf16(&mut units) {
            ascii.push_str(&format!("\\u{unit:04x}"));
        }
    }
    ascii
}

fn paint(is_on: bool, role: Role, text: impl Display) -> String {
    if is_on { format!("\x1b[{}m{text}\x1b[0m", role.code()) } else { text.to_string() }
}

fn is_broken_pipe(error: &CommandError) -> bool {
    error.message == io::Error::from(io::ErrorKind::BrokenPipe).to_string()
        || error.message.starts_with("Broken pipe")
}

fn talk(line: &str) {
    // Without a reader there is nobody to tell.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints the version and nothing else.
pub(crate) fn print_version() -> ExitCode {
    match writeln!(io::stdout(), "nacre {}", env!("CARGO_PKG_VERSION")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(Exit::Failed as u8),
    }
}

/// What was wrong with arguments, in one line.
pub(crate) fn usage_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

/// Prints help, or what was wrong with the arguments.
pub(crate) fn print_usage(error: &clap::Error, is_json: bool) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    if is_json && error.use_stderr() {
        let error = CommandError::usage(usage_message(error)).hint("nacre --help");
        let body = error_json(&error);
        let _ = writeln!(io::stdout(), "{}", ascii_json(&format!("{body:#}")));
    } else {
        let _ = error.print();
    }
    ExitCode::from(exit as u8)
}
