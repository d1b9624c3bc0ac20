//! Asks a person about one candidate after the other.

use std::io::Write as _;

use nacre_api::wire::{
    MemoryEditRequest, MemoryIdsRequest, MemoryShowRequest, ReviewAcceptRequest, ReviewCandidate,
    ReviewListReport,
};
use nacre_ops::{Host, OpError, memory as memories, review as ops};

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, report_changes, run_editor};
use super::super::ui::Ui;
use super::choice::{Choice, HELP, QUESTION};
use super::output::print_candidate;

/// What was decided so far.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    accepted: usize,
    rejected: usize,
}

/// Where a person goes from a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Next,
    Back,
    AcceptRest,
    Quit,
}

/// Asks about each candidate until the last, or until the person quits.
pub(super) fn pick(
    ui: &mut Ui,
    host: &Host,
    report: &ReviewListReport,
    scope: ScopeArg,
) -> Result<Exit, OpError> {
    let (n_shown, mut at, mut decided) = (report.candidates.len(), 0, Decided::default());
    while let Some(candidate) = report.candidates.get(at) {
        ui.line(format!("\nCandidate {} of {n_shown}", at + 1))?;
        let mut picking = Picking { host, scope, id: &candidate.memory.id, decided: &mut decided };
        match picking.decide(ui, candidate.clone())? {
            Turn::Next => at += 1,
            Turn::Back => at = at.saturating_sub(1),
            Turn::AcceptRest => {
                for candidate in &report.candidates[at..] {
                    Picking { host, scope, id: &candidate.memory.id, decided: &mut decided }
                        .accept(ui, None)?;
                }
                break;
            }
            Turn::Quit => break,
        }
    }
    let Decided { accepted, rejected } = decided;
    let left = report.total.saturating_sub(accepted + rejected);
    ui.status(format!("{accepted} accepted, {rejected} rejected, {left} left"))?;
    Ok(Exit::Done)
}

/// One candidate that a person is asked about.
struct Picking<'a> {
    host: &'a Host,
    scope: ScopeArg,
    id: &'a str,
    decided: &'a mut Decided,
}

impl Picking<'_> {
    /// Asks until something is decided.
    fn decide(&mut self, ui: &mut Ui, mut candidate: ReviewCandidate) -> Result<Turn, OpError> {
        print_candidate(ui, &candidate)?;
        loop {
            // The end of input quits.
            let Some(answer) = ask(ui, QUESTION)? else { return Ok(Turn::Quit) };
            let done = match Choice::parse(&answer) {
                Some(Choice::Next) => return Ok(Turn::Next),
                Some(Choice::Back) => return Ok(Turn::Back),
                Some(Choice::Quit) => return Ok(Turn::Quit),
                Some(Choice::AcceptAll) => return Ok(Turn::AcceptRest),
                Some(Choice::Accept) => self.accept(ui, None),
                Some(Choice::Reject) => self.reject(ui),
                Some(Choice::Supersede) => {
                    let older = ask(ui, "The id of the memory that it supersedes: ")?;
                    self.accept(ui, older.map(|older| older.trim().to_owned()))
                }
                Some(Choice::Edit) => self.edit(ui, &mut candidate).map(|()| false),
                None => ui.line(HELP).map(|()| false),
            };
            match done {
                Ok(true) => return Ok(Turn::Next),
                Ok(false) => {}
                // A wrong id or a failed editor is no reason to lose the rest.
                Err(error) => ui.warning(&error.message, error.hints.first().map(String::as_str)),
            }
        }
    }

    fn accept(&mut self, ui: &mut Ui, supersedes: Option<String>) -> Result<bool, OpError> {
        let ids = vec![self.id.to_owned()];
        let request = ReviewAcceptRequest { ids, supersedes, scope: self.scope.mode() };
        let report = ops::accept(self.host, &request, &ui.events())?;
        self.decided.accepted += report.ids.len();
        report_changes(ui, &report).map(|_| true)
    }

    fn reject(&mut self, ui: &mut Ui) -> Result<bool, OpError> {
        let request = MemoryIdsRequest { ids: vec![self.id.to_owned()], scope: self.scope.mode() };
        let report = ops::reject(self.host, &request, &ui.events())?;
        self.decided.rejected += report.ids.len();
        report_changes(ui, &report).map(|_| true)
    }

    /// Edits the candidate and shows what it says now.
    fn edit(&self, ui: &mut Ui, candidate: &mut ReviewCandidate) -> Result<(), OpError> {
        let (id, scope) = (self.id.to_owned(), self.scope.mode());
        let editor = self.host.editor()?;
        let request = MemoryEditRequest { id: id.clone(), discard: false, scope };
        let run = |draft: &std::path::Path| run_editor(self.host, editor, draft);
        memories::edit(self.host, &request, &run, &ui.events())?;
        let request = MemoryShowRequest { id, scope, ..MemoryShowRequest::default() };
        let shown = memories::show(self.host, &request, &ui.events())?;
        (candidate.memory, candidate.body) = (shown.memory, shown.body);
        print_candidate(ui, candidate)
    }
}

/// Asks for a line; `None` at the end of input.
fn ask(ui: &mut Ui, question: &str) -> Result<Option<String>, OpError> {
    ui.flush();
    let mut terminal = std::io::stderr();
    write!(terminal, "{question}")?;
    terminal.flush()?;
    let mut answer = String::new();
    let n_read = std::io::stdin().read_line(&mut answer)?;
    Ok((n_read > 0).then_some(answer))
}
