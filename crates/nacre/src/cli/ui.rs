//! All output: results go to standard output, messages to standard error.
//!
//! Untrusted text is printed through `Shown`, so memories cannot send control sequences to the
//! terminal. Color never carries information on its own.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use jiff::Timestamp;
use nacre_ops::host::Environment;
use nacre_ops::memory::{self, ShortIds};
use nacre_ops::terminal::{ColorChoice, NO_COLOR};
use nacre_ops::text::{Shown, ShownLine};
use nacre_ops::{Cancel, Events, Host, OpError, Result, ascii_json};
use nacre_types::{ErrorCode, ErrorReport, Outcome, Report, Scope};
use serde::Serialize;

use super::Globals;
use super::env::Terminals;
use super::interrupt::{CANCEL_TIMEOUT, cancel_on_ctrl_c};
use super::layout::{Role, Row, ago, cut, minute, paint, table_lines, to_second, wrap};
use super::pager::{Pager, is_long};
use super::progress::{EventScreen, hint_text, print_message, warning_text};

/// Prints a part of a line. A closed standard error is ignored.
fn eprint_now(text: &str) {
    let mut terminal = io::stderr();
    let _ = write!(terminal, "{text}").and_then(|()| terminal.flush());
}

pub(crate) type CommandResult = Result<Exit>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    pub(crate) const DONE: Self = Self(0);
    pub(crate) const FAILED: Self = Self(1);
    pub(crate) const USAGE: Self = Self(2);
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        Self(outcome.exit_code())
    }
}

impl From<ErrorCode> for Exit {
    fn from(code: ErrorCode) -> Self {
        Self(code.exit_code())
    }
}

#[derive(Debug)]
pub(crate) struct Ui {
    stdout: io::BufWriter<io::Stdout>,
    /// Output that is being collected for a pager.
    page: Option<Vec<u8>>,
    /// The first write error. Later output is dropped, and `finish` reports the error.
    failure: Option<io::Error>,
    globals: Globals,
    terminals: Terminals,
    is_color_allowed: bool,
    colors_out: bool,
    colors_err: bool,
    /// The current time, for relative times.
    now: Timestamp,
    short_ids: ShortIds,
    pager: Option<Pager>,
    /// Messages to print after the page.
    deferred: Vec<String>,
}

impl Ui {
    pub(crate) fn new(environment: &Environment, terminals: Terminals, globals: &Globals) -> Self {
        let mut ui = Self {
            stdout: io::BufWriter::new(io::stdout()),
            page: None,
            failure: None,
            globals: globals.clone(),
            terminals,
            is_color_allowed: environment.var(NO_COLOR).is_none(),
            colors_out: false,
            colors_err: false,
            now: environment.now(),
            short_ids: ShortIds::default(),
            pager: None,
            deferred: Vec::new(),
        };
        ui.configure(ColorChoice::Auto);
        ui
    }

    /// Sets when to use colors, unless a flag overrides it.
    pub(crate) fn configure(&mut self, choice: ColorChoice) {
        let choice = self.globals.color.unwrap_or(choice);
        let colors = |is_terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && self.is_color_allowed,
        };
        (self.colors_out, self.colors_err) =
            (colors(self.terminals.stdout), colors(self.terminals.stderr));
    }

    pub(crate) fn is_json(&self) -> bool {
        self.globals.json
    }

    pub(crate) fn is_colored(&self) -> bool {
        self.colors_out
    }

    /// Returns whether the user asked not to use the running server.
    pub(crate) fn is_local(&self) -> bool {
        self.globals.local
    }

    pub(crate) fn choose_json(&mut self) {
        self.globals.json = true;
    }

    fn write(&mut self, text: impl Display) {
        if self.failure.is_none() {
            let written = match &mut self.page {
                Some(page) => write!(page, "{text}"),
                None => write!(self.stdout, "{text}"),
            };
            self.failure = written.err();
        }
    }

    pub(crate) fn line(&mut self, line: impl Display) {
        self.write(format_args!("{line}\n"));
    }

    /// Prints indented text on one line, in its role's color.
    pub(crate) fn note(&mut self, indent: usize, role: Role, text: impl Display) {
        let text = self.paint(role, Shown(&text.to_string()).one_line());
        self.line(format_args!("{:indent$}{text}", ""));
    }

    /// Prints a paragraph after `first`. On a terminal, wraps it, and indents the later lines as
    /// far as the first.
    pub(crate) fn paragraph(&mut self, first: &str, role: Role, text: &str) {
        let text = Shown(text).one_line();
        let room = self.width().map(|width| width.saturating_sub(first.len()));
        let lines = room.map_or_else(|| vec![text.clone()], |room| wrap(&text, room));
        for (number, line) in lines.into_iter().enumerate() {
            let start = if number == 0 { first.to_owned() } else { " ".repeat(first.len()) };
            self.line(format_args!("{start}{}", self.paint(role, line)));
        }
    }

    /// Prints multi-line text, with terminal control characters made visible.
    pub(crate) fn text(&mut self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(format_args!("{}{end}", Shown(text)));
    }

    pub(crate) fn json(&mut self, value: &impl Serialize) {
        self.print_serialized(serde_json::to_string_pretty(value));
    }

    /// Prints a JSON object on one line, for streams of objects.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) {
        self.print_serialized(serde_json::to_string(value));
    }

    fn print_serialized(&mut self, text: serde_json::Result<String>) {
        match text {
            Ok(text) => self.line(ascii_json(text)),
            Err(error) => self.failure = self.failure.take().or(Some(error.into())),
        }
    }

    /// Prints a status message, unless `--quiet` or `--json` was given.
    pub(crate) fn status(&mut self, line: impl Display) {
        if !self.globals.quiet && !self.globals.json {
            self.line(line);
        }
    }

    pub(crate) fn warning(&mut self, message: impl Display, hint: Option<&str>) {
        self.message(warning_text(self.colors_err, &message.to_string(), hint));
    }

    pub(crate) fn hint(&mut self, hint: &str) {
        self.message(hint_text(self.colors_err, hint));
    }

    /// Prints a message on standard error, after all earlier output.
    fn message(&mut self, text: String) {
        if self.page.is_some() {
            self.deferred.push(text);
        } else {
            let _ = self.flush();
            print_message(&text);
        }
    }

    /// Asks for confirmation on a terminal. Only `y` and `yes` confirm.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N] "))?.unwrap_or_default();
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Prompts for a line. Returns `None` at the end of input.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Option<String>> {
        let _ = self.flush();
        eprint_now(question);
        let mut answer = String::new();
        let n_read = io::stdin().read_line(&mut answer)?;
        Ok((n_read > 0).then_some(answer))
    }

    /// Prompts for a single key, without Enter. Returns what a user without such a terminal would
    /// type in a line, or `None` for Esc, Ctrl-C and Ctrl-D.
    pub(crate) fn ask_key(&mut self, question: &str) -> Result<Option<String>> {
        // In raw mode, line feeds would not return to the first column.
        let _ = self.flush();
        if enable_raw_mode().is_err() {
            return self.ask(question);
        }
        eprint_now(question);
        let key = loop {
            match crossterm::event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => break Ok(key),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        disable_raw_mode()?;
        let key = key?;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let answer = if key.code == KeyCode::Enter {
            Some(String::new())
        } else if key.code == KeyCode::Esc
            || (is_control && "cd".contains(|c| key.code == KeyCode::Char(c)))
        {
            None
        } else {
            Some(key.code.as_char().map_or_else(|| "?".to_owned(), String::from))
        };
        eprint_now(&format!("{}\n", answer.as_deref().unwrap_or_default()));
        Ok(answer)
    }

    pub(crate) fn allow_pager(&mut self, environment: &Environment) {
        self.pager = Pager::from_environment(environment).filter(|_| self.is_watched());
    }

    /// Prints output, in a pager if it is longer than the terminal.
    pub(crate) fn page(&mut self, print: impl FnOnce(&mut Self)) {
        let (Some(pager), Some(size)) = (self.pager.clone(), self.terminals.size) else {
            return print(self);
        };
        let _ = self.flush();
        self.page = Some(Vec::new());
        print(self);
        let page = self.page.take().unwrap_or_default();
        if !(is_long(&page, size) && pager.show(&page)) && self.failure.is_none() {
            self.failure = self.stdout.write_all(&page).err();
        }
        for text in std::mem::take(&mut self.deferred) {
            self.message(text);
        }
    }

    pub(crate) fn paint(&self, role: Role, text: impl Display) -> String {
        paint(self.colors_out, role, text)
    }

    /// Prints rows with aligned columns, and returns how many there were. On a terminal, the last
    /// column is truncated to fit.
    pub(crate) fn table<R: Into<Row>>(&mut self, rows: impl IntoIterator<Item = R>) -> usize {
        let rows: Vec<Row> = rows.into_iter().map(Into::into).collect();
        let last = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
        self.align(&rows, last)
    }

    /// Prints rows whose first column is the title. On a terminal, the title is truncated first.
    pub(crate) fn print_titled_table(&mut self, rows: Vec<Row>) -> usize {
        if self.is_watched() { self.align(&rows, 0) } else { self.table(rows) }
    }

    fn align(&mut self, rows: &[Row], flexible: usize) -> usize {
        for line in table_lines(rows, self.width(), flexible, self.colors_out) {
            self.line(line);
        }
        rows.len()
    }

    pub(crate) fn fit(&self, indent: usize, text: &str) -> String {
        let room = self.width().map(|width| width.saturating_sub(indent));
        room.map_or_else(|| text.to_owned(), |room| cut(text, room))
    }

    /// Returns the terminal width, or `None` if output must not be truncated.
    fn width(&self) -> Option<usize> {
        self.terminals.size.filter(|_| self.is_watched()).map(|size| size.columns)
    }

    /// Formats a time: relative on a terminal, and with seconds elsewhere.
    pub(crate) fn when(&self, time: &str) -> String {
        if self.is_watched() { ago(time, self.now) } else { to_second(time) }
    }

    /// Formats a time: relative on a terminal, and with minutes elsewhere.
    pub(crate) fn when_to_minute(&self, time: &str) -> String {
        if self.is_watched() { ago(time, self.now) } else { minute(time) }
    }

    /// Enables short memory ids on a terminal. If the full list of ids is not available, ids stay
    /// complete.
    pub(crate) fn shorten_ids(&mut self, host: &Host, scope: Option<Scope>) {
        if self.is_watched() {
            self.short_ids = memory::short_ids(host, scope).unwrap_or_default();
        }
    }

    pub(crate) fn short_id<'i>(&self, id: &'i str) -> &'i str {
        self.short_ids.of(id)
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.terminals.stdout && !self.globals.json
    }

    pub(crate) fn can_ask(&self) -> bool {
        self.terminals.stdin && self.terminals.stderr
    }

    /// Returns a sink for an operation's events. Warnings and progress go to standard error, and
    /// streamed answers to standard output.
    pub(crate) fn events(&mut self) -> Events {
        let _ = self.flush();
        let shows_progress = self.terminals.stderr && !self.globals.quiet && !self.globals.json;
        let size = self.terminals.size.filter(|_| shows_progress);
        let screen = EventScreen::new(shows_progress, size, self.colors_err);
        Events::new(move |event| screen.show(&event))
    }

    /// Like `events`, but Ctrl-C cancels the operation.
    pub(crate) fn cancellable_events(&mut self) -> Events {
        let cancel = Cancel::new();
        cancel_on_ctrl_c(cancel.clone(), CANCEL_TIMEOUT);
        self.events().with_cancel(cancel)
    }

    /// Prints a report: as JSON with `--json`, and through `render` otherwise.
    pub(crate) fn report<R: Report>(
        &mut self,
        report: &R,
        render: impl FnOnce(&mut Self, &R),
    ) -> CommandResult {
        if self.globals.json {
            self.json(report);
        } else {
            self.page(|ui| render(ui, report));
        }
        Ok(report.outcome().into())
    }

    /// Flushes the output and returns the first write error, so that commands that keep printing
    /// stop when their reader closes the pipe.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.failure.is_none() {
            self.failure = self.stdout.flush().err();
        }
        match &self.failure {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string()).into()),
            None => Ok(()),
        }
    }

    /// Prints the error, if any, and returns the exit code.
    pub(crate) fn finish(mut self, result: CommandResult) -> ExitCode {
        let _ = self.flush();
        let exit = match (result, self.failure.take()) {
            (Err(error), _) if error.code != ErrorCode::OutputClosed => self.print_error(&error),
            (Err(_), _) => Exit::DONE,
            (Ok(exit), None) => exit,
            (Ok(_), Some(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::DONE,
            (Ok(_), Some(error)) => {
                print_message(&format!("Error: Could not write the output\nCaused by: {error}"));
                Exit::FAILED
            }
        };
        exit.into()
    }

    fn print_error(&mut self, error: &OpError) -> Exit {
        if self.globals.json {
            self.json(&ErrorReport::from(error.clone()));
            let _ = self.flush();
            return error.code.into();
        }
        let label = paint(self.colors_err, Role::Bad, "Error:");
        print_message(&format!("{label} {}", ShownLine(&error.message)));
        for cause in &error.causes {
            print_message(&format!("Caused by: {}", ShownLine(cause)));
        }
        for hint in &error.hints {
            self.hint(hint);
        }
        error.code.into()
    }
}
