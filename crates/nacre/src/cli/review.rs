//! `nacre review`: accepts or rejects candidates.

use std::path::Path;

use nacre_ops::{memory as memories, review as ops};
use nacre_types::{
    MemoryEditRequest, MemoryIdsRequest, MemoryShowRequest, ReviewCandidate, ReviewListReport,
    ReviewListRequest, Scope,
};

use super::memory::run_editor;
use super::prelude::*;
use super::render::{print_memory_row, print_more, quote_place, report_changes, warn_broken};

const MAX_QUOTES: usize = 2;

const MAX_QUOTE_CHARS: usize = 300;

const QUESTION: &str =
    "[a]ccept, [e]dit, [r]eject, [s]upersede a memory, [n]ext, [b]ack, [q]uit, [?] help? ";

const HELP: &str = "\
a    accept
all  accept this and all following candidates
e    edit first
r    reject: delete it permanently
s    accept, and supersede an older memory
n    decide later
b    back to the previous candidate
q    quit; decisions are kept";

/// Accept or reject candidates
///
/// A candidate is a memory that needs your confirmation, found by a sync or by `nacre import`.
/// Until you accept it, it is not used in briefs and ranks below active memories in answers. In a
/// terminal, asks about one candidate at a time; elsewhere lists them, newest first.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    /// List the candidates without asking
    #[arg(long)]
    list: bool,
    /// Show the statements imported from this file one by one
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// Make candidates active
    Accept {
        /// The candidates' ids; import:FILE for all statements from a file
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// Accept all candidates that are not quarantined
        #[arg(long, conflicts_with_all = ["ids", "supersedes"])]
        all: bool,
        /// The id of the memory that the candidate supersedes
        #[arg(long, value_name = "ID")]
        supersedes: Option<String>,
        #[command(flatten)]
        scope: ScopeArg,
    },
    /// Delete candidates permanently
    ///
    /// Only a hash of the text is kept, so later sessions do not bring the same claim back.
    Reject {
        /// The full ids of the candidates; import:FILE for all statements from a file
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        scope: ScopeArg,
    },
}

pub(crate) fn cmd_review(ui: &mut Ui, host: &Host, args: ReviewArgs) -> CommandResult {
    let ReviewArgs { command, list, file, limit, scope } = args;
    let scope = match command {
        Some(ReviewCommand::Accept { mut ids, all, supersedes, scope }) => {
            let scope = scope.mode();
            if all {
                // Quarantined candidates must be read, and accepted one at a time by id.
                let all =
                    ops::waiting(host, &ReviewListRequest { limit: Some(0), file: None, scope })?;
                let trusted = all.candidates.into_iter().filter(|one| one.reason.is_none());
                ids = trusted.map(|candidate| candidate.memory.id).collect();
            }
            if ids.is_empty() {
                ui.status("No candidates to review.");
                return Ok(Exit::DONE);
            }
            let request = MemoryIdsRequest { ids, scope };
            let report = ops::accept(host, &request, supersedes.as_deref(), &ui.events())?;
            return report_changes(ui, &report);
        }
        Some(ReviewCommand::Reject { ids, scope }) => {
            let request = MemoryIdsRequest { ids, scope: scope.mode() };
            let report = ops::reject(host, &request, &ui.events())?;
            return report_changes(ui, &report);
        }
        None => scope.mode(),
    };
    let report = ops::list(host, &ReviewListRequest { limit, file, scope })?;
    ui.shorten_ids(host, scope);
    if list || ui.is_json() || !ui.can_ask() || report.candidates.is_empty() {
        return ui.report(&report, print_list);
    }
    Picker { host, scope, n_accepted: 0, n_rejected: 0 }.pick(ui, report)
}

fn print_list(ui: &mut Ui, report: &ReviewListReport) {
    for (number, candidate) in report.candidates.iter().enumerate() {
        if number > 0 {
            ui.line("");
        }
        print_candidate(ui, candidate);
    }
    match report.total {
        0 => ui.status("No candidates to review."),
        _ => ui.status("\nDecide: nacre review accept ID, nacre review reject ID"),
    }
    print_more(ui, report.total - report.candidates.len());
    warn_broken(ui, &report.broken);
}

fn print_candidate(ui: &mut Ui, candidate: &ReviewCandidate) {
    let ReviewCandidate { memory, body, quotes, reason } = candidate;
    print_memory_row(ui, memory);
    if let Some(reason) = reason {
        ui.note(4, Role::Warning, format!("quarantined: {reason}"));
    }
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        ui.line(format!("    {}", Shown(line).one_line()));
    }
    for quote in quotes.iter().take(MAX_QUOTES) {
        let words = quote.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = words.chars().take(MAX_QUOTE_CHARS).collect();
        let more = if cut.len() < words.len() { "…" } else { "" };
        ui.line(format!("    > {}{more}", Shown(&cut).one_line()));
        ui.note(6, Role::Faint, quote_place(ui, &quote.place, &quote.at));
    }
    if quotes.is_empty() {
        ui.note(4, Role::Warning, "no quote as evidence");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Accept,
    AcceptAll,
    Edit,
    Reject,
    Supersede,
    Next,
    Back,
    Quit,
}

impl Choice {
    fn parse(answer: &str) -> Option<Self> {
        match answer.trim().to_ascii_lowercase().as_str() {
            "a" | "accept" | "y" | "yes" => Some(Self::Accept),
            "all" => Some(Self::AcceptAll),
            "e" | "edit" => Some(Self::Edit),
            "r" | "reject" => Some(Self::Reject),
            "s" | "supersede" => Some(Self::Supersede),
            "n" | "next" | "" => Some(Self::Next),
            "b" | "back" => Some(Self::Back),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        }
    }
}

struct Picker<'a> {
    host: &'a Host,
    scope: Option<Scope>,
    n_accepted: usize,
    n_rejected: usize,
}

impl Picker<'_> {
    fn pick(mut self, ui: &mut Ui, report: ReviewListReport) -> CommandResult {
        let ReviewListReport { mut candidates, total, .. } = report;
        let (n_shown, mut at) = (candidates.len(), 0);
        while let Some(candidate) = candidates.get_mut(at) {
            ui.line(format!("\nCandidate {} of {n_shown}", at + 1));
            match self.decide(ui, candidate)? {
                Choice::Back => at = at.saturating_sub(1),
                Choice::Quit => break,
                Choice::AcceptAll => {
                    for candidate in &candidates[at..] {
                        self.accept(ui, &candidate.memory.id, None)?;
                    }
                    break;
                }
                Choice::Accept
                | Choice::Edit
                | Choice::Reject
                | Choice::Supersede
                | Choice::Next => at += 1,
            }
        }
        let Self { n_accepted, n_rejected, .. } = self;
        let n_left = total.saturating_sub(n_accepted + n_rejected);
        ui.status(format!("{n_accepted} accepted, {n_rejected} rejected, {n_left} left"));
        Ok(Exit::DONE)
    }

    fn decide(&mut self, ui: &mut Ui, candidate: &mut ReviewCandidate) -> Result<Choice> {
        print_candidate(ui, candidate);
        loop {
            // The end of the input counts as quitting.
            let Some(answer) = ui.ask(QUESTION)? else { return Ok(Choice::Quit) };
            let id = candidate.memory.id.clone();
            let choice = Choice::parse(&answer);
            let done = match choice {
                Some(Choice::Accept) => self.accept(ui, &id, None),
                Some(Choice::Reject) => self.reject(ui, id),
                Some(Choice::Supersede) => {
                    let older = ui.ask("The id of the memory it supersedes: ")?;
                    self.accept(ui, &id, older.as_deref().map(str::trim))
                }
                Some(Choice::Edit) => self.edit(ui, candidate),
                Some(choice) => return Ok(choice),
                None => {
                    ui.line(HELP);
                    Ok(())
                }
            };
            match (done, choice) {
                (Ok(()), None | Some(Choice::Edit)) => {}
                (Ok(()), Some(choice)) => return Ok(choice),
                // An invalid id or an editor failure does not end the review.
                (Err(error), _) => {
                    ui.warning(&error.message, error.hints.first().map(String::as_str));
                }
            }
        }
    }

    fn accept(&mut self, ui: &mut Ui, id: &str, supersedes: Option<&str>) -> Result<()> {
        let request = MemoryIdsRequest { ids: vec![id.to_owned()], scope: self.scope };
        let report = ops::accept(self.host, &request, supersedes, &ui.events())?;
        self.n_accepted += usize::from(!report.ids.is_empty());
        report_changes(ui, &report).map(|_| ())
    }

    fn reject(&mut self, ui: &mut Ui, id: String) -> Result<()> {
        let request = MemoryIdsRequest { ids: vec![id], scope: self.scope };
        let report = ops::reject(self.host, &request, &ui.events())?;
        self.n_rejected += usize::from(!report.ids.is_empty());
        report_changes(ui, &report).map(|_| ())
    }

    fn edit(&self, ui: &mut Ui, candidate: &mut ReviewCandidate) -> Result<()> {
        let (id, scope) = (candidate.memory.id.clone(), self.scope);
        let editor = self.host.editor()?;
        let request = MemoryEditRequest { id: id.clone(), discard: false, scope };
        let run = |draft: &Path| run_editor(self.host, editor, draft);
        memories::edit(self.host, &request, &run, &ui.events())?;
        let request = MemoryShowRequest { id, scope, ..MemoryShowRequest::default() };
        let shown = memories::show(self.host, &request, &ui.events())?;
        (candidate.memory, candidate.body) = (shown.memory, shown.body);
        print_candidate(ui, candidate);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_decided_by_a_slip() {
        for (answer, expected) in [
            (" R \n", Some(Choice::Reject)),
            ("\n", Some(Choice::Next)),
            ("all\n", Some(Choice::AcceptAll)),
            ("ar\n", None),
            ("?\n", None),
        ] {
            assert_eq!(Choice::parse(answer), expected, "{answer:?}");
        }
    }
}
