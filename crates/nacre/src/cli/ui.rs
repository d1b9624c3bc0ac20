//! Everything that is printed: results on standard output, talk on standard error.
//!
//! Text from outside passes `Shown` here, so that no memory can steer a terminal. Color never
//! carries meaning alone.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use jiff::Timestamp;
use nacre_api::wire::{ErrorCode, ErrorReport, Report, Scope};
use nacre_ops::host::Environment;
use nacre_ops::memory::{self, ShortIds};
use nacre_ops::terminal::{ColorChoice, NO_COLOR};
use nacre_ops::text::{Shown, ShownLine};
use nacre_ops::{Cancel, Events, Host, OpError, ascii_json};
use serde::Serialize;

use super::env::{TerminalSize, Terminals};
use super::exit::Exit;
use super::interrupt::cancel_on_ctrl_c;
pub(crate) use super::layout::Row;
use super::layout::{Columns, ago, cut, to_second};
use super::pager::{Output, Pager, is_long};
pub(crate) use super::paint::Role;
use super::paint::paint;
use super::progress::ProgressLine;
use super::screen::{Live, Screen, hint_text, talk, warning_text};
use super::{Globals, When};

/// The width of a terminal that does not tell it.
const DEFAULT_WIDTH: usize = 80;

/// Where and how to print.
#[derive(Debug)]
pub(crate) struct Ui {
    out: Output,
    is_json: bool,
    is_quiet: bool,
    is_local: bool,
    color: Color,
    /// The time that ages are counted from.
    now: Timestamp,
    short_ids: ShortIds,
    pager: Option<Pager>,
    /// What is told on standard error once the page was shown.
    told_later: Vec<String>,
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
    size: Option<TerminalSize>,
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
            size: terminals.size,
        };
        Self {
            out: Output::new(),
            is_json: globals.json,
            is_quiet: globals.quiet,
            is_local: globals.local,
            color,
            now: environment.now(),
            short_ids: ShortIds::default(),
            pager: None,
            told_later: Vec::new(),
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

    /// Whether standard output is colored.
    pub(crate) fn is_colored(&self) -> bool {
        self.color.out
    }

    /// Whether the server is left out.
    pub(crate) fn is_local(&self) -> bool {
        self.is_local
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
        let text = warning_text(self.color.err, &message.to_string(), hint);
        self.tell(text);
    }

    /// Says what to type, on standard error.
    pub(crate) fn hint(&mut self, hint: &str) {
        let text = hint_text(self.color.err, hint);
        self.tell(text);
    }

    /// Tells on standard error, after what was printed before it.
    fn tell(&mut self, text: String) {
        if self.out.is_paging() {
            self.told_later.push(text);
        } else {
            self.flush();
            talk(&text);
        }
    }

    /// Lets long output of this command go through a pager.
    pub(crate) fn allow_pager(&mut self, environment: &Environment) {
        self.pager = Pager::chosen(environment).filter(|_| self.is_watched());
    }

    /// Prints, through the pager where it is more than the terminal shows.
    pub(crate) fn paged(
        &mut self,
        print: impl FnOnce(&mut Self) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        let (Some(pager), Some(size)) = (self.pager.clone(), self.color.size) else {
            return print(self);
        };
        self.flush();
        self.out.begin_page();
        let printed = print(self);
        let page = self.out.end_page();
        let is_shown = is_long(&page, size) && pager.show(&page);
        if !is_shown {
            self.out.write_all(&page)?;
        }
        let told = std::mem::take(&mut self.told_later);
        told.into_iter().for_each(|text| self.tell(text));
        printed
    }

    /// Text in the color of its role.
    pub(crate) fn paint(&self, role: Role, text: impl Display) -> String {
        paint(self.color.out, role, text)
    }

    /// Prints rows with their columns aligned. On a terminal the last column is cut to its width.
    pub(crate) fn table(&mut self, rows: &[Row]) -> Result<(), OpError> {
        let last = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
        self.table_around(rows, last)
    }

    /// Prints rows with their columns aligned. On a terminal the given column is cut first, so that a row is a line.
    pub(crate) fn table_around(&mut self, rows: &[Row], flexible: usize) -> Result<(), OpError> {
        let columns = Columns { width: self.width(), flexible, color: self.color.out };
        columns.lines(rows).into_iter().try_for_each(|line| self.line(line))
    }

    /// Text that stays on one line of a terminal.
    pub(crate) fn fitted(&self, indent: usize, text: &str) -> String {
        let room = self.width().map(|width| width.saturating_sub(indent));
        room.map_or_else(|| text.to_owned(), |room| cut(text, room))
    }

    /// The width that a person has; `None` where nothing is to be cut.
    fn width(&self) -> Option<usize> {
        self.color.size.filter(|_| self.is_watched()).map(|size| size.columns)
    }

    /// A time of the wire: how long ago on a terminal, the time to the second elsewhere.
    pub(crate) fn when(&self, time: &str) -> String {
        if self.is_watched() { ago(time, self.now) } else { to_second(time) }
    }

    /// Lets ids of memories be short where a person reads them. Without a list of all ids they stay whole.
    pub(crate) fn shorten_ids(&mut self, host: &Host, scope: Option<Scope>) {
        if self.is_watched() {
            self.short_ids = memory::short_ids(host, scope).unwrap_or_default();
        }
    }

    /// The id of a memory as it is shown.
    pub(crate) fn short_id<'i>(&self, id: &'i str) -> &'i str {
        self.short_ids.of(id)
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
            self.paged(|ui| render(ui, report))?;
        }
        Ok(report.outcome().into())
    }

    /// How far a command has come, drawn on a terminal only.
    fn progress(&self) -> ProgressLine {
        let width = self.color.size.map_or(DEFAULT_WIDTH, |size| size.columns);
        ProgressLine::new(self.is_talking().then_some(width))
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
    match writeln!(io::stdout(), "nacre {}", env!("NACRE_VERSION")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(Exit::Failed as u8),
    }
}
