//! Everything that is printed: results on standard output, talk on standard error.
//!
//! Text from outside passes `Shown` here, so that no memory can steer a terminal. Color never
//! carries meaning alone.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use nacre_api::wire::{ErrorCode, ErrorReport, Report};
use nacre_ops::host::Environment;
use nacre_ops::terminal::{ColorChoice, NO_COLOR};
use nacre_ops::text::{Shown, ShownLine};
use nacre_ops::{Cancel, Events, OpError, ascii_json};
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::env::Terminals;
use super::exit::Exit;
use super::interrupt::cancel_on_ctrl_c;
pub(crate) use super::paint::Role;
use super::paint::paint;
use super::screen::{Live, ProgressBar, Screen, print_hint, print_warning, talk};
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
    in_is_terminal: bool,
}

impl Ui {
    pub(crate) fn new(environment: &Environment, terminals: Terminals, globals: &Globals) -> Self {
        let allowed = environment.var(NO_COLOR).is_none();
        let auto = (allowed && terminals.stdout, allowed && terminals.stderr);
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
            out_is_terminal: terminals.stdout,
            err_is_terminal: terminals.stderr,
            in_is_terminal: terminals.stdin,
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
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), OpError> {
        writeln!(self.out, "{line}")?;
        Ok(())
    }

    /// Prints text from a file as it is, but for what a terminal would act on.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OpError> {
        write!(self.out, "{}", Shown(text))?;
        if !text.ends_with('\n') {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Prints the result as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), OpError> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        writeln!(self.out, "{}", ascii_json(text))?;
        Ok(())
    }

    /// Prints one of many objects, on a line of its own.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<(), OpError> {
        let text = serde_json::to_string(value).map_err(io::Error::other)?;
        writeln!(self.out, "{}", ascii_json(text))?;
        Ok(())
    }

    /// Tells what was done; not with `--quiet` or `--json`.
    pub(crate) fn status(&mut self, line: impl Display) -> Result<(), OpError> {
        if !self.is_quiet && !self.is_json {
            self.line(line)?;
        }
        Ok(())
    }

    /// Tells of something that a person should know, on standard error.
    pub(crate) fn warning(&mut self, message: impl Display, hint: Option<&str>) {
        self.flush();
        print_warning(self.color.err, &message.to_string(), hint);
    }

    /// Says what to type, on standard error.
    pub(crate) fn hint(&mut self, hint: &str) {
        print_hint(self.color.err, hint);
    }

    /// Text in the color of its role.
    pub(crate) fn paint(&self, role: Role, text: impl Display) -> String {
        paint(self.color.out, role, text)
    }

    /// Prints rows with their columns aligned; the last column is as long as it is.
    pub(crate) fn table(&mut self, rows: &[Vec<(Role, String)>]) -> Result<(), OpError> {
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

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.color.in_is_terminal && self.color.err_is_terminal
    }

    /// Where an operation reports what it does: warnings and progress on standard error, an answer that grows on standard
    /// output.
    pub(crate) fn events(&mut self) -> Events {
        self.flush();
        let screen = Screen::new(self.live(), self.progress(), self.is_watched());
        Events::new(move |event| screen.show(&event))
    }

    /// The same for an operation that ends in order when it is cancelled: Ctrl-C cancels it.
    pub(crate) fn cancellable_events(&mut self) -> Events {
        let cancel = Cancel::new();
        cancel_on_ctrl_c(cancel.clone());
        self.events().with_cancel(cancel)
    }

    /// Prints a report: as it is with `--json`, else as `render` says.
    pub(crate) fn report<R: Report>(
        &mut self,
        report: &R,
        render: impl FnOnce(&mut Self, &R) -> Result<(), OpError>,
    ) -> Result<Exit, OpError> {
        if self.is_json {
            self.json(report)?;
        } else {
            render(self, report)?;
        }
        Ok(report.outcome().into())
    }

    /// A bar on standard error, drawn on a terminal only.
    pub(crate) fn progress(&self) -> ProgressBar {
        ProgressBar::new(self.is_talking())
    }

    /// What an agent does, drawn on a terminal only.
    pub(crate) fn live(&self) -> Live {
        Live::new(self.is_talking(), self.color.err)
    }

    /// Shows what was printed so far.
    pub(crate) fn flush(&mut self) {
        // A reader that went away is told so by the next write.
        let _ = self.out.flush();
    }

    /// Ends the command: prints its error, and turns the outcome into an exit code.
    pub(crate) fn finish(mut self, result: Result<Exit, OpError>) -> ExitCode {
        let exit = match result {
            Ok(exit) => match self.out.flush() {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
                Err(error) => {
                    talk(&format!("Error: Cannot write the output\nCaused by: {error}"));
                    Exit::Failed
                }
                Ok(()) => exit,
            },
            Err(error) if error.code == ErrorCode::OutputClosed => Exit::Done,
            Err(error) => self.print_error(&error),
        };
        ExitCode::from(exit as u8)
    }

    fn print_error(&mut self, error: &OpError) -> Exit {
        if self.is_json {
            let _ = self.json(&ErrorReport::from(error.clone()));
            self.flush();
            return error.code.into();
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
        error.code.into()
    }
}

/// Prints the version and nothing else.
pub(crate) fn print_version() -> ExitCode {
    match writeln!(io::stdout(), "nacre {}", env!("CARGO_PKG_VERSION")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(Exit::Failed as u8),
    }
}

/// What was wrong with arguments, in one line.
fn usage_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

/// Prints help, or what was wrong with the arguments.
pub(crate) fn print_usage(error: &clap::Error, is_json: bool) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    if is_json && error.use_stderr() {
        let error = OpError::usage(usage_message(error)).hint("nacre --help");
        let body = serde_json::to_string_pretty(&ErrorReport::from(error)).unwrap_or_default();
        let _ = writeln!(io::stdout(), "{}", ascii_json(body));
    } else {
        let _ = error.print();
    }
    ExitCode::from(exit as u8)
}
