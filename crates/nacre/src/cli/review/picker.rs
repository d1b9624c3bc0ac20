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
use super::output::print_candidate;

const QUESTION: &str = "[a]ccept, [e]dit, [r]eject, [s]upersede a memory, [n]ext, [q]uit? ";

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Accept,
    Edit,
    Reject,
    Supersede,
    Next,
    Quit,
}

impl Choice {
    fn parse(answer: &str) -> Option<Self> {
        match answer.trim().to_ascii_lowercase().as_str() {
            "a" | "accept" | "y" | "yes" => Some(Self::Accept),
            "e" | "edit" => Some(Self::Edit),
            "r" | "reject" => Some(Self::Reject),
            "s" | "supersede" => Some(Self::Supersede),
            "n" | "next" | "" => Some(Self::Next),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        }
    }
}

/// Asks about each candidate until the last, or until the person quits.
pub(super) fn pick(
    ui: &mut Ui,
    host: &Host,
    report: &ReviewListReport,
    scope: ScopeArg,
) -> Result<Exit, OpError> {
    let n_shown = report.candidates.len();
    for (number, candidate) in report.candidates.iter().enumerate() {
        ui.line(format!("\nCandidate {} of {n_shown}", number + 1))?;
        let picking = Picking { host, scope, id: &candidate.memory.id };
        if !picking.decide(ui, candidate.clone())? {
            break;
        }
    }
    if report.total > n_shown {
        ui.status(format!("{} more wait for review", report.total - n_shown))?;
    }
    Ok(Exit::Done)
}

/// One candidate that a person is asked about.
struct Picking<'a> {
    host: &'a Host,
    scope: ScopeArg,
    id: &'a str,
}

impl Picking<'_> {
    /// Asks until something is decided; `false` where the person quits.
    fn decide(&self, ui: &mut Ui, mut candidate: ReviewCandidate) -> Result<bool, OpError> {
        print_candidate(ui, &candidate)?;
        loop {
            // The end of input quits.
            let Some(answer) = ask(ui, QUESTION)? else { return Ok(false) };
            let done = match Choice::parse(&answer) {
                Some(Choice::Next) => return Ok(true),
                Some(Choice::Quit) => return Ok(false),
                Some(Choice::Accept) => self.accept(ui, None),
                Some(Choice::Reject) => self.reject(ui),
                Some(Choice::Supersede) => {
                    let older = ask(ui, "The id of the memory that it supersedes: ")?;
                    self.accept(ui, older.map(|older| older.trim().to_owned()))
                }
                Some(Choice::Edit) => self.edit(ui, &mut candidate).map(|()| false),
                None => Ok(false),
            };
            match done {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // A wrong id or a failed editor is no reason to lose the rest.
                Err(error) => ui.warning(&error.message, error.hints.first().map(String::as_str)),
            }
        }
    }

    fn accept(&self, ui: &mut Ui, supersedes: Option<String>) -> Result<bool, OpError> {
        let ids = vec![self.id.to_owned()];
        let request = ReviewAcceptRequest { ids, supersedes, scope: self.scope.mode() };
        let report = ops::accept(self.host, &request, &ui.events())?;
        report_changes(ui, &report).map(|_| true)
    }

    fn reject(&self, ui: &mut Ui) -> Result<bool, OpError> {
        let request = MemoryIdsRequest { ids: vec![self.id.to_owned()], scope: self.scope.mode() };
        let report = ops::reject(self.host, &request, &ui.events())?;
        report_changes(ui, &report).map(|_| true)
    }

    /// Edits the candidate and shows what it says now.
    fn edit(&self, ui: &mut Ui, candidate: &mut ReviewCandidate) -> Result<(), OpError> {
        let (id, scope) = (self.id.to_owned(), self.scope.mode());
        let editor = self.host.editor()?;
        let request = MemoryEditRequest { id: id.clone(), discard: false, scope };
        memories::edit(self.host, &request, &|draft| run_editor(editor, draft), &ui.events())?;
        let request = MemoryShowRequest { id, evidence: false, history: false, scope };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_decided_by_a_slip() {
        for (answer, expected) in
            [(" R \n", Some(Choice::Reject)), ("\n", Some(Choice::Next)), ("ar\n", None)]
        {
            assert_eq!(Choice::parse(answer), expected, "{answer:?}");
        }
    }
}
